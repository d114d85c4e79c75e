/** A proxy in front of a server of the S3 protocol that makes it slow, silent or full. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** `slow`: each reply comes late. `silent`: none comes. `full`: nothing can be written. */
export type Behaviour = 'usual' | 'slow' | 'silent' | 'full';

export interface S3Proxy {
  endpoint: string;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Within the bounds of the store (src/platform/storage/s3-store.ts). */
const LATE_MS = 1_500;
const FULL = '<?xml version="1.0"?><Error><Code>QuotaExceeded</Code><Message>The bucket is full.</Message></Error>';

export async function startS3Proxy(target: string): Promise<S3Proxy> {
  let behaviour: Behaviour = 'usual';
  const server = createServer((incoming, response) => {
    incoming.on('error', () => {});
    if (behaviour === 'silent') return incoming.resume();
    if (behaviour === 'full' && (incoming.method === 'PUT' || incoming.method === 'POST')) {
      incoming.resume().once('end', () => response.writeHead(507, { 'Content-Type': 'application/xml' }).end(FULL));
      return;
    }
    return void passOn(incoming, response, behaviour === 'slow' ? LATE_MS : 0);
  });
  const passOn = async (incoming: IncomingMessage, response: ServerResponse, lateMs: number) => {
    await delay(lateMs);
    // Its host is part of what the client signed. It has been told to continue already.
    const { expect: _, ...headers } = incoming.headers;
    const outgoing = request(target + (incoming.url ?? ''), { method: incoming.method ?? 'GET', headers });
    outgoing.on('error', () => response.destroy());
    outgoing.on('response', (reply) => reply.pipe(response.writeHead(reply.statusCode ?? 502, reply.headers)));
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behave: (next) => {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
