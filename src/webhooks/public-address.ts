import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All globally routed IPv6 addresses; the rest of IPv6 is reserved for special purposes. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** A public address range, but served by the cloud host on every virtual machine (Azure's WireServer). */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

/**
 * Whether an address is publicly routable. Returns false for loopback, private, link-local (which includes the metadata
 * services of most clouds), carrier-grade NAT, multicast, reserved, documentation and benchmarking addresses, and for
 * every IPv6 form that embeds an IPv4 address (mapped, NAT64, 6to4, Teredo), because the embedded one may be private.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || METADATA_ADDRESSES.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}
