/** A request that waited and its replays get the same bytes, whatever happens while its response is stored. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { type StatementProxy, startStatementProxy } from '../faults/statement-proxy.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createSteeredBackend, type SteeredBackend } from '../support/backends.ts';
import { createCustomer } from '../support/customers.ts';
import { read } from '../support/requests.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const idempotencyKey = 'waits-for-the-response';
let api: TestApi;
let key: string;
let workers: TestWorkers;
let backend: SteeredBackend;
let postgres: StatementProxy;

beforeEach(async () => {
  api = await startTestApi({
    async connectTo(databaseUrl) {
      const url = new URL(databaseUrl);
      postgres = await startStatementProxy({ host: url.hostname, port: Number(url.port) });
      url.port = String(postgres.port);
      return url.href;
    },
  });
  key = (await createCustomer(api.orm)).keys.test;
  backend = createSteeredBackend();
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
});
afterEach(async () => {
  await workers.stop();
  await api.close();
  await postgres.close();
});

const waiting = () => read(api, { key, idempotencyKey, query: '?wait=true' });

it.each(['before', 'after'] as const)(
  'a request that loses its connection %s its response is stored gets what its replays get',
  async (moment) => {
    const answer = waiting();
    const running = await backend.next();
    const reached = postgres.holdNext((sql) => sql.includes('update idempotency_claims'), moment);
    running.finish();
    await reached;
    postgres.cutOff();
    const first = await answer;
    expect(first.status).toBe(200);
    const replay = await waiting();
    expect({ status: replay.status, text: replay.text }).toEqual({ status: 200, text: first.text });
  },
);

it('a request whose claim has expired gets what a replay got meanwhile', async () => {
  const answer = waiting();
  const running = await backend.next();
  await query(api.orm.em.fork(), `update idempotency_claims set in_progress_until = now() - interval '1 second'`);
  const replay = await waiting();
  expect(replay.status).toBe(202);
  running.finish();
  const first = await answer;
  expect({ status: first.status, text: first.text }).toEqual({ status: 202, text: replay.text });
  expect((await waiting()).text).toBe(replay.text);
});
