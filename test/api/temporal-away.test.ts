/** A request while Temporal is down: the job is committed, and the sweeper starts it once, later. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { sweepOutbox } from '../../src/workers/sweeper.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createSteeredBackend } from '../support/backends.ts';
import { createCustomer, readAccount } from '../support/customers.ts';
import { admit, readJob, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { expectReplay, read } from '../support/requests.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const nowhere = openTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
const backend = createSteeredBackend();

let api: TestApi;
let workers: TestWorkers;

beforeAll(async () => {
  api = await startTestApi({ temporal: nowhere });
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
});
afterAll(async () => {
  await workers.stop();
  await nowhere.connection.close();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});

/** A pass of the sweeper after a delay. */
const sweep = (laterMs: number, since = Date.now()) =>
  sweepOutbox({
    orm: api.orm,
    temporal: api.temporal.client,
    store: api.store,
    logger: api.log.logger,
    clock: () => new Date(since + laterMs),
  });

describe('a request while Temporal is down', () => {
  it('a request gets 202 while Temporal is down, keeps its hold and key, and its job runs once the sweeper starts it', async () => {
    const { keys, organizationId } = await createCustomer(api.orm);
    const send = () => read(api, { key: keys.test, idempotencyKey: 'while-temporal-is-away' });
    const answer = await send();
    expect(answer.status).toBe(202);
    const { createdAt, ...job } = await readJob(api.orm, answer.job.id);
    expect(job).toMatchObject({ status: 'queued', workflowStartedAt: null });
    expectReplay(await send(), answer);

    // The request that admitted the job may still be starting it.
    await sweep(9_000, createdAt.getTime());
    expect(await readJob(api.orm, answer.job.id)).toMatchObject({ workflowStartedAt: null });

    await sweep(11_000);
    (await backend.next()).finish();
    await api.temporal.client.workflow.getHandle(answer.job.id).result();
    expect(await readJob(api.orm, answer.job.id)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    expect(await readAccount(api.orm, organizationId, false)).toEqual({ available: 9_980, held: 0, openJobs: 0 });
  });

  it('a waiting request gets 202 at the ceiling while Temporal is down', async () => {
    const { keys } = await createCustomer(api.orm);
    const answer = await read(api, { key: keys.test, headers: { Prefer: 'wait=1' } });
    expect(answer.status).toBe(202);
    await sweep(11_000);
    (await backend.next()).finish();
    await api.temporal.client.workflow.getHandle(answer.job.id).result();
  });
});

describe('a job that the sweeper started', () => {
  it('a job that the sweeper started is started only once by later passes and concurrent sweepers', async () => {
    const jobId = await admit(api.orm, await createCustomer(api.orm));
    await Promise.all([sweep(11_000), sweep(11_000), sweep(11_000)]);
    const { runId } = await api.temporal.client.workflow.getHandle(jobId).describe();
    const running = await backend.next();
    await sweep(60_000);
    expect((await api.temporal.client.workflow.getHandle(jobId).describe()).runId).toBe(runId);
    running.finish();
    await api.temporal.client.workflow.getHandle(jobId).result();
    await sweep(60_000);
    expect((await api.temporal.client.workflow.getHandle(jobId).describe()).runId).toBe(runId);
    expect(await transfersOf(api.orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
  });
});
