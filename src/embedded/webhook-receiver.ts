/** A small HTTP server that receives webhooks, as a customer would run it, for the demonstration and for tests. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedDelivery {
  path: string;
  headers: IncomingHttpHeaders;
  /** As received: the signature covers these bytes. */
  rawBody: string;
  receivedAtMs: number;
}

/** The response to a delivery: a status, or a function that responds, or does not. */
export type Answer = number | ((response: ServerResponse, delivery: ReceivedDelivery) => void);

export interface WebhookReceiver {
  url: string;
  deliveries: readonly ReceivedDelivery[];
  /** Applies from now on; initially 200. */
  answerWith(answer: Answer): void;
  /** The first matching delivery, past or future. @throws when none arrives in time, or before the receiver closes. */
  waitFor(fits: (delivery: ReceivedDelivery) => boolean, timeoutMs: number): Promise<ReceivedDelivery>;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries: ReceivedDelivery[] = [];
  const watchers = new Set<() => void>();
  const closing = new AbortController();
  let answer: Answer = 200;

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const delivery = {
        path: request.url ?? '/',
        headers: request.headers,
        rawBody: Buffer.concat(chunks).toString('utf8'),
        receivedAtMs: Date.now(),
      };
      deliveries.push(delivery);
      if (typeof answer === 'number') response.writeHead(answer).end();
      else answer(response, delivery);
      for (const watcher of watchers) watcher();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    deliveries,
    answerWith(next) {
      answer = next;
    },
    waitFor(fits, timeoutMs) {
      return new Promise((resolve, reject) => {
        const settle = (action: () => void) => {
          clearTimeout(timer);
          watchers.delete(look);
          action();
        };
        const look = () => {
          const found = deliveries.find(fits);
          if (found) settle(() => resolve(found));
        };
        const fail = (reason: string) => settle(() => reject(new Error(reason)));
        const timer = setTimeout(() => fail(`No such delivery came within ${timeoutMs} ms`), timeoutMs);
        closing.signal.addEventListener('abort', () => fail('The receiver was closed'), { once: true });
        watchers.add(look);
        look();
      });
    },
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
