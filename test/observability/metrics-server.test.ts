/** The metrics server serves true metrics and probes, if it is configured. */

import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { type MetricsServer, startMetricsServer } from '../../src/observability/metrics-server.ts';

let server: MetricsServer;
afterEach(() => server.close());

async function start(checks: Parameters<typeof startMetricsServer>[0]['checks'] = {}) {
  server = await startMetricsServer({ address: '127.0.0.1:0', registry: new Registry(), checks });
  return (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
}

describe('readiness', () => {
  it('readiness holds only while every check holds', async () => {
    let isPolling = true;
    const get = await start({ database: async () => true, polling: () => isPolling });
    expect((await get('/health/ready')).status).toBe(200);
    isPolling = false;
    const answer = await get('/health/ready');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ status: 'unavailable', checks: { database: true, polling: false } });
  });

  it('readiness does not hold before the process has added a check', async () => {
    const checks: Parameters<typeof start>[0] = {};
    const get = await start(checks);
    expect((await get('/health/ready')).status).toBe(503);
    Object.assign(checks, { database: () => true });
    expect((await get('/health/ready')).status).toBe(200);
  });

  it('readiness does not hold when a check throws or never settles', async () => {
    const get = await start({
      database: () => Promise.reject(new Error('away')),
      polling: () => new Promise(() => {}),
    });
    const answer = await get('/health/ready');
    expect(await answer.json()).toMatchObject({ checks: { database: false, polling: false } });
  });

  it('readiness is independent of liveness', async () => {
    const get = await start({ database: () => false });
    expect((await get('/health/live')).status).toBe(200);
  });
});

it('the metrics server serves metrics of the process, including the event loop lag', async () => {
  const get = await start();
  const answer = await get('/metrics');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await answer.text()).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
});

it('the metrics server serves nothing without an address', async () => {
  server = await startMetricsServer({ address: '', registry: new Registry(), checks: {} });
  expect(server.port).toBeNull();
});

it('the metrics server refuses other paths and methods', async () => {
  const get = await start();
  expect((await get('/')).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${server.port}/metrics`, { method: 'POST' })).status).toBe(404);
});
