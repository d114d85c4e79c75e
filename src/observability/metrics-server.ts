/** A small HTTP server in every process, for Prometheus and probes. Customers must not reach it. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Readiness checks of a process. A check that throws, or takes longer than 2 seconds, fails. */
export type Checks = Record<string, () => boolean | Promise<boolean>>;

export interface MetricsServer {
  /** Null when there is none. */
  port: number | null;
  close(): Promise<void>;
}

interface Options {
  /** `host:port`; empty for no server and no default metrics. */
  address: string;
  registry: Registry;
  /** Read at each probe: a process adds its checks as it starts, and is not ready before it has any. */
  checks: Checks;
}

const CHECK_TIMEOUT_MS = 2_000;

/** @throws when the address cannot be listened on. */
export async function startMetricsServer({ address, registry, checks }: Options): Promise<MetricsServer> {
  if (address === '') return { port: null, close: async () => {} };
  // Memory, CPU, garbage collection and the lag of the event loop.
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => {
    answer(request.method === 'GET' ? (request.url ?? '').split('?')[0] : undefined, response).catch(() => {
      response.destroy();
    });
  });

  async function answer(path: string | undefined, response: ServerResponse): Promise<void> {
    if (path === '/metrics') {
      response.setHeader('Content-Type', registry.contentType);
      response.end(await registry.metrics());
    } else if (path === '/health/live') {
      sendJson(response, 200, { status: 'ok' });
    } else if (path === '/health/ready') {
      const held = await evaluate(checks);
      const isReady = Object.keys(held).length > 0 && Object.values(held).every(Boolean);
      sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ok' : 'unavailable', checks: held });
    } else {
      response.statusCode = 404;
      response.end();
    }
  }

  const split = address.lastIndexOf(':');
  server.listen(Number(address.slice(split + 1)), address.slice(0, split).replace(/^\[|\]$/g, ''));
  await once(server, 'listening');
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound ? bound.port : null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function evaluate(checks: Checks): Promise<Record<string, boolean>> {
  const entries = Object.entries(checks).map(async ([name, check]) => [name, await holds(check)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function holds(check: Checks[string]): Promise<boolean> {
  const timeout = new AbortController();
  try {
    const late = delay(CHECK_TIMEOUT_MS, false, { signal: timeout.signal }).catch(() => false);
    return await Promise.race([Promise.resolve(check()), late]);
  } catch {
    return false;
  } finally {
    timeout.abort();
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(body));
}
