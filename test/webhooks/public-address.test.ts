import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/webhooks/public-address.ts';

describe('a public address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82a::200e',
  ])('%s is a public address', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

/** First and last address of each range, and what lies at well-known places within. */
const INSIDE: Record<string, string[]> = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['::'],
  'private 10/8': ['10.0.0.0', '10.255.255.255'],
  'private 172.16/12': ['172.16.0.0', '172.31.255.255'],
  'private 192.168/16': ['192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::1', 'febf:ffff::1', 'fe80::1%eth0'],
  'metadata services': ['169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254'],
  'protocol assignments': ['192.0.0.0', '192.0.0.255', '2001:1::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  '6to4 relays': ['192.88.99.1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.0', '255.255.255.254', '255.255.255.255'],
  'unique local': ['fc00::1', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'site local': ['fec0::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1'],
  'IPv4-translated': ['::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1', '64:ff9b:1:ffff::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ORCHID: ['2001:10::1', '2001:20::1'],
  'discard only': ['100::1'],
  'segment routing': ['5f00::1'],
  unallocated: ['4000::1', '8000::1', 'e000::1'],
  'no address at all': ['', 'localhost', '1.2.3', '1.2.3.4.5', '010.0.0.1', '0x7f.0.0.1', '2130706433', '[::1]'],
};

describe('an address that is not public', () => {
  it.each(Object.entries(INSIDE).flatMap(([range, addresses]) => addresses.map((address) => [range, address])))(
    '%s: %s is not public',
    (_range, address) => {
      expect(isPublicAddress(address ?? '')).toBe(false);
    },
  );

  it('no IPv6 address outside 2000::/3 is public', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        fc.pre((groups[0] ?? 0) >> 13 !== 1);
        expect(isPublicAddress(groups.map((value) => value.toString(16)).join(':'))).toBe(false);
      }),
    );
  });
});
