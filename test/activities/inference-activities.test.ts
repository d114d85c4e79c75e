/** One attempt of an inference: pick up, run, leave the outcome, and what becomes of every failure. */

import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import type { InferenceBackend } from '../../src/contracts/inference-backend.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import { openDatabase } from '../../src/database.ts';
import { renderJob } from '../../src/jobs/job-resource.ts';
import { settleJob } from '../../src/jobs/settlement-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { createSteeredBackend, MODEL_VERSION, type SteeredBackend } from '../support/backends.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishInference, readJob, SUCCESS, transfersOf } from '../support/jobs.ts';

const ATTEMPTS = 3;
const NOON = new Date('2026-12-01T12:00:00.000Z');

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;
let backend: SteeredBackend;
let jobId: string;
let settled: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  backend = createSteeredBackend();
  settled = [];
  jobId = await admit(orm, customer, { parameters: { unit_hint: 'km' }, testScenario: 'slow' });
});

const quietEnvironment = (attempt: number) =>
  new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });

interface Attempt {
  attempt?: number;
  using?: InferenceBackend;
  environment?: MockActivityEnvironment;
  settles?: boolean;
}

function run(options: Attempt = {}) {
  const { attempt = 1, using = backend, environment = quietEnvironment(attempt), settles = false } = options;
  const activities = createInferenceActivities({
    orm,
    backend: using,
    clock: () => NOON,
    onSettled: ({ id }) => settled.push(id),
  });
  const outcome: Promise<string | object> = environment.run(() =>
    activities.runInference({ jobId, attempts: ATTEMPTS, settles }),
  );
  outcome.catch(() => {});
  return outcome;
}

async function pendingOutcome(): Promise<InferenceOutcome | undefined> {
  const [row] = await query<{ outcome: InferenceOutcome }>(
    orm.em.fork(),
    'select outcome from inference_outcomes where job_id = $1',
    [jobId],
  );
  return row?.outcome;
}

const cancel = () =>
  settleJob(orm.em.fork(), {
    jobId,
    from: ['queued'],
    to: 'canceled',
    result: null,
    error: null,
    stages: null,
    chargedCredits: 0,
    completedAt: NOON,
    event: null,
    deliveries: [],
  });

describe('an attempt', () => {
  it('an attempt marks the job as picked up before the model runs', async () => {
    const outcome = run();
    const inference = await backend.next();
    expect(await readJob(orm, jobId)).toMatchObject({
      status: 'processing',
      startedAt: NOON,
      modelVersion: MODEL_VERSION,
      workflowStartedAt: NOON,
    });
    inference.finish();
    expect(await outcome).toBe('staged');
  });

  it('an attempt passes the job’s request to the backend, and nothing more', async () => {
    const outcome = run();
    const inference = await backend.next();
    expect(inference.request).toEqual({
      jobId,
      endpoint: 'dashboard.read',
      livemode: false,
      parameters: { unit_hint: 'km' },
      inputs: [],
      testScenario: 'slow',
      reservedCredits: 20,
      modelVersion: MODEL_VERSION,
    });
    inference.finish();
    await outcome;
  });

  it('an attempt that is not asked to settle leaves a pending outcome', async () => {
    const outcome = run();
    (await backend.next()).finish();
    await outcome;
    expect(await pendingOutcome()).toEqual(SUCCESS);
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'processing', result: null, chargedCredits: 0 });
  });

  it('an attempt keeps the result out of Temporal payloads', async () => {
    const outcome = run();
    (await backend.next()).finish({ ...SUCCESS, result: { name: 'Erika Mustermann' } });
    expect(JSON.stringify(await outcome)).toBe('"staged"');
  });
});

describe('an attempt that settles', () => {
  const end = { kind: 'settled', status: 'succeeded', chargedCredits: 20, deliveryIds: [] };

  it('an attempt that settles ends the job with its outcome and leaves none pending', async () => {
    const settlement = run({ settles: true });
    (await backend.next()).finish();
    expect(await settlement).toEqual(end);
    expect(await readJob(orm, jobId)).toMatchObject({
      status: 'succeeded',
      result: SUCCESS.result,
      chargedCredits: 20,
      startedAt: NOON,
      modelVersion: MODEL_VERSION,
      completedAt: NOON,
    });
    expect(await pendingOutcome()).toBeUndefined();
    expect(settled).toEqual([jobId]);
  });

  it('an attempt that settles keeps the result out of Temporal payloads', async () => {
    const settlement = run({ settles: true });
    (await backend.next()).finish({ ...SUCCESS, result: { name: 'Erika Mustermann' } });
    expect(await settlement).toEqual(end);
  });

  it('an attempt that settles returns the deliveries of its event', async () => {
    const listening = await createCustomer(orm);
    await createWebhookEndpoint(orm, listening.organizationId);
    jobId = await admit(orm, listening);
    const settlement = run({ settles: true });
    (await backend.next()).finish();
    expect(await settlement).toEqual({ ...end, deliveryIds: [expect.stringMatching(/^whd_/)] });
  });

  it('a job is charged once when an earlier attempt settled and was lost before it could report', async () => {
    const settlement = run({ settles: true });
    (await backend.next()).finish();
    await settlement;
    expect(await run({ settles: true, attempt: 2 })).toBe('abandoned');
    expect(backend.calls).toBe(1);
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
  });

  it('a second attempt settles beside a slow first one, which returns the same settlement: one charge', async () => {
    const slow = run({ settles: true });
    const first = await backend.next();
    const quick = run({ settles: true, attempt: 2 });
    (await backend.next()).finish({ ...SUCCESS, chargedCredits: 7 });
    expect(await quick).toEqual({ ...end, chargedCredits: 7 });
    first.finish();
    expect(await slow).toEqual({ ...end, chargedCredits: 7 });
    expect(settled).toEqual([jobId]);
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 7],
      ['release', 13],
    ]);
  });

  it('an attempt whose job ended meanwhile changes nothing and returns the settlement of the job', async () => {
    const settlement = run({ settles: true });
    const inference = await backend.next();
    await createSettlementActivities({ orm }).settleJob({ jobId, failure: 'inference_timeout' });
    inference.finish();
    expect(await settlement).toMatchObject({ status: 'failed', chargedCredits: 0, deliveryIds: [] });
    expect(settled).toEqual([]);
  });

  it('an attempt that settles leaves the pending outcome of an earlier attempt to the workflow', async () => {
    await finishInference(orm, jobId);
    expect(await run({ settles: true, attempt: 2 })).toBe('staged');
    expect(await pendingOutcome()).toEqual(SUCCESS);
  });

  it('an attempt that settles leaves a permanent failure to the workflow', async () => {
    const settlement = run({ settles: true });
    (await backend.next()).fail(new ServiceError('input_unreadable', 'The picture is truncated.'));
    expect(await settlement).toBe('staged');
    expect(await pendingOutcome()).toMatchObject({ status: 'failed', error: { code: 'input_unreadable' } });
  });
});

describe('a further attempt', () => {
  it('a further attempt keeps the time of the first pick-up and records the model that now runs', async () => {
    await finishInference(orm, jobId);
    const first = await readJob(orm, jobId);
    await query(orm.em.fork(), 'delete from inference_outcomes');
    const outcome = run({ attempt: 2, using: { ...backend, modelVersion: () => 'newer@2026-12-01' } });
    (await backend.next()).finish();
    await outcome;
    expect(await readJob(orm, jobId)).toMatchObject({ startedAt: first.startedAt, modelVersion: 'newer@2026-12-01' });
  });

  it('a further attempt does not run the model again when an earlier attempt left an outcome', async () => {
    await finishInference(orm, jobId);
    expect(await run({ attempt: 2 })).toBe('staged');
    expect(backend.calls).toBe(0);
    expect(await pendingOutcome()).toEqual(SUCCESS);
  });

  it('an attempt that finishes after another changes nothing: the first outcome stays', async () => {
    const slow = run();
    const first = await backend.next();
    const quick = run({ attempt: 2 });
    (await backend.next()).finish({ ...SUCCESS, result: { reading: 2 } });
    await quick;
    first.finish({ ...SUCCESS, result: { reading: 1 } });
    await slow;
    expect(await pendingOutcome()).toMatchObject({ result: { reading: 2 } });
  });
});

describe('a job that has ended', () => {
  it('a job that ended before pick-up is not run', async () => {
    await cancel();
    expect(await run()).toBe('abandoned');
    expect(backend.calls).toBe(0);
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'canceled', startedAt: null });
  });

  it('a job that ended while the model ran keeps no outcome', async () => {
    const outcome = run();
    const inference = await backend.next();
    await createSettlementActivities({ orm }).settleJob({ jobId, failure: 'inference_timeout' });
    inference.finish();
    expect(await outcome).toBe('staged');
    expect(await pendingOutcome()).toBeUndefined();
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'failed', result: null });
  });
});

describe('a failure', () => {
  const unavailable = new ServiceError('model_unavailable', 'The worker is shutting down.');
  const unreadable = new ServiceError('input_unreadable', 'The picture is truncated.');

  it('a transient failure is left to the next attempt, under its code', async () => {
    const outcome = run();
    (await backend.next()).fail(unavailable);
    await expect(outcome).rejects.toMatchObject({ type: 'model_unavailable', nonRetryable: false });
    await expect(outcome).rejects.toBeInstanceOf(ApplicationFailure);
    expect(await pendingOutcome()).toBeUndefined();
  });

  it('a transient failure ends the job when no attempt is left', async () => {
    const outcome = run({ attempt: ATTEMPTS });
    (await backend.next()).fail(unavailable);
    expect(await outcome).toBe('staged');
    expect(await pendingOutcome()).toMatchObject({
      status: 'failed',
      error: unavailable.toJobError(),
      chargedCredits: 0,
    });
  });

  it('a permanent failure ends the job at once', async () => {
    const outcome = run();
    (await backend.next()).fail(unreadable);
    expect(await outcome).toBe('staged');
    expect(await pendingOutcome()).toMatchObject({
      status: 'failed',
      error: unreadable.toJobError(),
      chargedCredits: 0,
    });
  });

  it('an unforeseen failure is thrown unchanged, on the last attempt too', async () => {
    for (const attempt of [1, ATTEMPTS]) {
      const outcome = run({ attempt });
      (await backend.next()).fail(new TypeError('undefined is not a function'));
      await expect(outcome).rejects.toThrow(TypeError);
    }
    expect(await pendingOutcome()).toBeUndefined();
  });

  it('a failure to find the model ends the job with its code, although the job was never picked up', async () => {
    const using: InferenceBackend = {
      ...backend,
      modelVersion: () => {
        throw unavailable;
      },
    };
    await expect(run({ using })).rejects.toMatchObject({ type: 'model_unavailable' });
    expect(await run({ using, attempt: ATTEMPTS })).toBe('staged');
    await createSettlementActivities({ orm }).settleJob({ jobId, failure: null });
    expect(await readJob(orm, jobId)).toMatchObject({
      status: 'failed',
      startedAt: null,
      error: unavailable.toJobError(),
    });
  });
});

describe('a job that pins a build', () => {
  it('a job that pins a build runs on that build', async () => {
    jobId = await admit(orm, customer, { pinnedModelVersion: MODEL_VERSION });
    const outcome = run();
    (await backend.next()).finish();
    expect(await outcome).toBe('staged');
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'processing', modelVersion: MODEL_VERSION });
  });

  it('a job that pins a build does not continue on another build when its worker was replaced', async () => {
    jobId = await admit(orm, customer, { pinnedModelVersion: MODEL_VERSION });
    const first = run();
    (await backend.next()).fail(new ServiceError('model_inference_failed', 'lost'));
    await expect(first).rejects.toThrow();
    const second = run({ attempt: 2, using: { ...backend, modelVersion: () => 'newer@2026-12-01' } });
    await expect(second).rejects.toMatchObject({ type: 'model_unavailable' });
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'processing', modelVersion: MODEL_VERSION });
  });

  it('a job that pins a build fails uncharged and never picked up when only another build is installed', async () => {
    jobId = await admit(orm, customer, { pinnedModelVersion: 'older@2025-12-31' });
    await expect(run()).rejects.toMatchObject({ type: 'model_unavailable' });
    expect(await run({ attempt: ATTEMPTS })).toBe('staged');
    expect(backend.calls).toBe(0);
    await createSettlementActivities({ orm }).settleJob({ jobId, failure: null });
    const job = await readJob(orm, jobId);
    expect(job).toMatchObject({ status: 'failed', chargedCredits: 0, startedAt: null });
    expect(renderJob(job)).toMatchObject({ model_version: null, error: { code: 'model_unavailable' } });
  });
});

it('a cancellation reaches the model and leaves no outcome', async () => {
  const environment = quietEnvironment(ATTEMPTS);
  const outcome = run({ environment });
  const { signal } = await backend.next();
  environment.cancel();
  await expect(outcome).rejects.toMatchObject({ name: 'CancelledFailure' });
  expect(signal.aborted).toBe(true);
  expect(await pendingOutcome()).toBeUndefined();
});
