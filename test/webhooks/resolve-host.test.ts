import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDnsResolver, type ResolveHost, resolveLikeTheSystem } from '../../src/webhooks/resolve-host.ts';

/** What the name server of these tests knows. */
const ZONE: Record<string, string[]> = {
  'both.example': ['93.184.215.14', '93.184.215.15', '2606:4700:4700:0:0:0:0:1111'],
  'old.example': ['93.184.215.14'],
  'new.example': ['2606:4700:4700:0:0:0:0:1111'],
  'inside.example': ['10.0.0.1'],
};

describe('the DNS resolver', () => {
  let nameServer: Socket;
  let resolveHost: ResolveHost;

  beforeAll(async () => {
    nameServer = createSocket('udp4');
    nameServer.on('message', (query, { address, port }) => nameServer.send(answer(query), port, address));
    nameServer.bind(0, '127.0.0.1');
    await once(nameServer, 'listening');
    resolveHost = createDnsResolver({ servers: [`127.0.0.1:${nameServer.address().port}`] });
  });
  afterAll(() => {
    nameServer.close();
  });

  it('the DNS resolver returns all addresses of both families', async () => {
    expect(await resolveHost('both.example')).toEqual(['93.184.215.14', '93.184.215.15', '2606:4700:4700::1111']);
  });

  it('the DNS resolver accepts a host with addresses of one family', async () => {
    expect(await resolveHost('old.example')).toEqual(['93.184.215.14']);
    expect(await resolveHost('new.example')).toEqual(['2606:4700:4700::1111']);
  });

  it('the DNS resolver returns private addresses too: checking them is not its job', async () => {
    expect(await resolveHost('inside.example')).toEqual(['10.0.0.1']);
  });

  it('the DNS resolver fails for a name without addresses, and for a name known only to the hosts file', async () => {
    await expect(resolveHost('nobody.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolveHost('localhost')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});

it('the resolver in development resolves like the system, localhost included', async () => {
  expect(await resolveLikeTheSystem('localhost')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^127\.|^::1$/)]),
  );
});

/** The answer of a name server (RFC 1035 §4): the question again, and an A or AAAA record for each address. */
function answer(query: Buffer): Buffer {
  const labels: string[] = [];
  let position = 12;
  for (let length = query[position] ?? 0; length > 0; length = query[position] ?? 0) {
    labels.push(query.toString('latin1', position + 1, position + 1 + length));
    position += 1 + length;
  }
  const question = query.subarray(12, position + 5);
  const type = query.readUInt16BE(position + 1);
  const known = ZONE[labels.join('.').toLowerCase()];
  const addresses = (known ?? []).filter((address) => type === (isIPv6(address) ? 28 : 1));

  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const data = isIPv6(address)
      ? Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')))
      : Buffer.from(address.split('.').map(Number));
    const fields = Buffer.from('c00c000000010000003c0000', 'hex');
    fields.writeUInt16BE(type, 2);
    fields.writeUInt16BE(data.length, 10);
    return Buffer.concat([fields, data]);
  });
  return Buffer.concat([header, question, ...records]);
}
