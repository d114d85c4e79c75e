/** PostgreSQL outages: acknowledged work is durable, and the service recovers by itself. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { createSteeredBackend, type SteeredBackend } from '../support/backends.ts';
import { createCustomer } from '../support/customers.ts';
import { readJob } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { read } from '../support/requests.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

let api: TestApi;
let key: string;
let workers: TestWorkers;
let backend: SteeredBackend;
let postgres: TcpProxy;

beforeEach(async () => {
  api = await startTestApi({
    async connectTo(databaseUrl) {
      const url = new URL(databaseUrl);
      postgres = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
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
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
  await postgres.close();
});

const CUT_OFF_LISTENER = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and query = 'listen job_settled'`;

/** The first response after the outage. */
async function afterRecovery(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}

const settled = (jobId: string) => api.temporal.client.workflow.getHandle(jobId).result();

describe('a request that waits', () => {
  it('a waiting request is woken although the listener lost its connection meanwhile', async () => {
    const answer = read(api, { key, query: '?wait=true' });
    const running = await backend.next();
    await api.orm.em.getConnection().execute(CUT_OFF_LISTENER);
    running.finish();
    expect((await answer).status).toBe(200);
  });

  it('a waiting request gets its response although every connection was lost meanwhile', async () => {
    const answer = read(api, { key, query: '?wait=true' });
    const running = await backend.next();
    postgres.cutOff();
    running.finish();
    const { status, job } = await answer;
    expect({ status, charged: job.credits.charged }).toEqual({ status: 200, charged: 20 });
  });

  it('a waiting request gets 202 when PostgreSQL is still down at the ceiling, because its job is committed', async () => {
    const idempotencyKey = 'committed-before';
    const answer = read(api, { key, idempotencyKey, headers: { Prefer: 'wait=1' } });
    const running = await backend.next();
    await postgres.goAway();
    const { status, job } = await answer;
    expect(status).toBe(202);
    await postgres.comeBack();
    running.finish();
    await settled(job.id);
    expect(await readJob(api.orm, job.id)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
  });
});

describe('an outage of PostgreSQL', () => {
  it('requests get 503 with Retry-After while PostgreSQL is down, and succeed again after the outage', async () => {
    await postgres.goAway();
    for (const send of [
      () => read(api, { key }),
      () => api.call('/v1/endpoints', { key }),
      () => api.call('/health/ready'),
    ]) {
      const answer = await send();
      expect(answer.status).toBe(503);
      expect(answer.error.code).toBe('service_unavailable');
      expect(answer.headers.get('Retry-After')).toBe('2');
      expect(answer.text).not.toMatch(/database|postgres/i);
    }
    expect((await api.call('/health/live')).status).toBe(200);
    await postgres.comeBack();
    const answer = await afterRecovery(() => read(api, { key }));
    expect(answer.status).toBe(202);
    (await backend.next()).finish();
    await settled(answer.job.id);
  });

  it('a job whose inference finished while PostgreSQL was down settles once, as soon as PostgreSQL is back', async () => {
    const { job } = await read(api, { key });
    const running = await backend.next();
    await postgres.goAway();
    running.finish();
    await postgres.comeBack();
    await settled(job.id);
    expect(await readJob(api.orm, job.id)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
  });
});
