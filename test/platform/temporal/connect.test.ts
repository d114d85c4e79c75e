import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openTemporalClient } from '../../../src/platform/temporal/connect.ts';

it('a call that is open when its client closes fails, and is not repeated on the closed connection', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = openTemporalClient({ address: `127.0.0.1:${port}`, namespace: 'none' });
  const called = client.workflow
    .getHandle('job_1')
    .describe()
    .catch((error: unknown) => error);
  const [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
  await client.connection.close();
  // Otherwise the call would wait for its deadline.
  stream.session?.destroy();
  expect(await called).toBeInstanceOf(Error);
  server.close();
});
