/** What a process shows of itself is there when it is asked for, and tells the truth. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type OperationsServer, startOperationsServer } from '../../src/observability/operations-server.ts';

let server: OperationsServer;
afterEach(() => server.close());

async function start(checks: Parameters<typeof startOperationsServer>[0]['checks'] = {}) {
  server = await startOperationsServer({ address: '127.0.0.1:0', registry: new Registry(), checks });
  return (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
}

describe('readiness', () => {
  it('holds only while every check holds', async () => {
    let isPolling = true;
    const get = await start({ database: async () => true, polling: () => isPolling });
    expect((await get('/health/ready')).status).toBe(200);
    isPolling = false;
    const answer = await get('/health/ready');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ status: 'unavailable', checks: { database: true, polling: false } });
  });

  it('does not hold before the process has named what it needs', async () => {
    const checks: Parameters<typeof start>[0] = {};
    const get = await start(checks);
    expect((await get('/health/ready')).status).toBe(503);
    Object.assign(checks, { database: () => true });
    expect((await get('/health/ready')).status).toBe(200);
  });

  it('does not hold when a check throws or never answers', async () => {
    const get = await start({
      database: () => Promise.reject(new Error('away')),
      polling: () => new Promise(() => {}),
    });
    const answer = await get('/health/ready');
    expect(await answer.json()).toMatchObject({ checks: { database: false, polling: false } });
  });

  it('is apart from being alive', async () => {
    const get = await start({ database: () => false });
    expect((await get('/health/live')).status).toBe(200);
  });
});

it('metrics of the process itself are served, the lag of the event loop among them', async () => {
  const get = await start();
  const answer = await get('/metrics');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await answer.text()).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
});

it('nothing is served where no address is given', async () => {
  server = await startOperationsServer({ address: '', registry: new Registry(), checks: {} });
  expect(server.port).toBeNull();
});

it('other paths and methods are refused', async () => {
  const get = await start();
  expect((await get('/')).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${server.port}/metrics`, { method: 'POST' })).status).toBe(404);
});
