/** Workers of one queue with different models: a job that lands on one without its model costs no attempt. */

import type { Client, WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDispatchActivities } from '../../src/activities/dispatch-activities.ts';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import type { InferenceBackend } from '../../src/contracts/inference-backend.ts';
import { type InferenceActivities, RUN_JOB_WORKFLOW, type RunJobInput } from '../../src/contracts/run-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import type { Dispatcher } from '../../src/inference/remote/dispatcher.ts';
import { NoCapacityError } from '../../src/inference/runtime/no-capacity-error.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { settleJob } from '../../src/jobs/settlement-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { createSteeredBackend, MODEL_VERSION, type SteeredBackend } from '../support/backends.ts';
import { createBundleBackend, plannedStage, stagePlan } from '../support/bundle-backends.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { admit, finishInference, readJob, transfersOf } from '../support/jobs.ts';
import type { TestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { inferenceWorkers, startTestWorkers, type TestWorkers } from '../support/workers.ts';
import { closeWorkflowHarness, openWorkflowHarness, type WorkflowHarness } from '../support/workflow-harness.ts';

const ENDPOINT = 'dashboard.read';
/** Of a worker that lacks the model. */
const without: InferenceBackend = {
  modelVersion: () => {
    throw new ServiceError('model_unavailable', `No model is installed for ${ENDPOINT}.`);
  },
  infer: () => Promise.reject(new Error('no model runs here')),
  close: async () => {},
};

let harness: WorkflowHarness;
let orm: MikroORM;
let namespace: TestNamespace;
let client: Client;
let customer: Customer;
let backend: SteeredBackend;
let running: TestWorkers[];
let jobId: string;

beforeAll(async () => {
  harness = await openWorkflowHarness();
  ({ orm, namespace, client } = harness);
});
afterAll(() => closeWorkflowHarness(harness));
beforeEach(async () => {
  running = [];
  backend = createSteeredBackend();
  customer = await createCustomer(orm, { live: 1_000 });
  await announce(ENDPOINT);
  jobId = await admitLive();
});
afterEach(async () => {
  await client.workflow
    .getHandle(jobId)
    .terminate()
    .catch(() => {});
  await Promise.all(running.map((workers) => workers.stop()));
  await withdraw();
});

const announce = (endpoint: string, modelVersion = MODEL_VERSION) =>
  announceInstalledEndpoints(orm.em.fork(), [{ endpoint, modelVersion }], []);
/** As the sweeper does when nobody renews it. */
async function withdraw(): Promise<void> {
  await query(orm.em.fork(), 'delete from installed_endpoints');
  await query(orm.em.fork(), 'delete from installed_builds');
}
const admitLive = (changes: object = {}) =>
  admit(orm, customer, { livemode: true, apiKeyId: customer.keyIds.live, ...changes });

async function serve(using: InferenceBackend, activities: object = createInferenceActivities({ orm, backend: using })) {
  const workers = inferenceWorkers(orm, using).map((worker) => ({ ...worker, activities }));
  running.push(await startTestWorkers(namespace, workers));
}

function start(changes: Partial<RunJobInput> = {}): Promise<WorkflowHandle> {
  const input: RunJobInput = {
    jobId,
    endpoint: ENDPOINT,
    inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
    expiryMs: 60_000,
    inferenceTimeoutMs: 30_000,
    // One is enough where none is used up.
    inferenceAttempts: 1,
    ...changes,
  };
  const options = { workflowId: input.jobId, taskQueue: TASK_QUEUES.orchestration, args: [input] };
  return client.workflow.start(RUN_JOB_WORKFLOW, options);
}

/** Comes back when a worker has passed the job on so often. */
async function handedBack(handle: WorkflowHandle, times = 1): Promise<void> {
  await until(async () => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).filter((event) => event.timerStartedEventAttributes).length >= times;
  });
}

const releasedInFull = { available: 1_000, held: 0, openJobs: 0 };
const account = () => readAccount(orm, customer.organizationId, true);

describe('a job that lands on a worker without its model, while another announces it', () => {
  it('a job handed back waits unchanged until a worker with its model takes it, and is charged once', async () => {
    await serve(without);
    const handle = await start();
    await handedBack(handle, 2);
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'queued', startedAt: null, modelVersion: null });
    await serve(backend);
    (await backend.next()).finish();
    expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'succeeded', modelVersion: MODEL_VERSION });
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
  });

  it('every job succeeds while workers with and without the model take jobs', async () => {
    await Promise.all([serve(without), serve(backend)]);
    const ids = [jobId, ...(await Promise.all(Array.from({ length: 11 }, () => admitLive())))];
    const handles = await Promise.all(ids.map((id) => start({ jobId: id })));
    for (const _ of ids) (await backend.next()).finish();
    const ends = await Promise.all(handles.map((handle) => handle.result() as Promise<{ status: string }>));
    expect(ends.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  });

  it('a worker with another build than the pinned one hands the job back', async () => {
    const pinned = 'model-of-tests@2025-01-01';
    jobId = await admitLive({ pinnedModelVersion: pinned });
    await announce(ENDPOINT, pinned);
    await serve(backend);
    const handle = await start();
    await handedBack(handle);
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'queued', modelVersion: null });
    await withdraw();
    expect(await handle.result()).toMatchObject({ status: 'failed', error: 'model_unavailable' });
    expect(backend.calls).toBe(0);
  });

  it('a job handed back expires uncharged when no worker takes it in time', async () => {
    await serve(without);
    const handle = await start({ expiryMs: 1_500 });
    expect(await handle.result()).toMatchObject({ status: 'expired', error: 'job_expired' });
    expect(await account()).toEqual(releasedInFull);
  });

  it('a job fails as unavailable, uncharged, when every worker that takes it has no free process', async () => {
    await serve({ ...without, modelVersion: () => MODEL_VERSION, infer: () => Promise.reject(new NoCapacityError(1)) });
    // Long enough for a worker to take it on a busy machine: otherwise it would expire.
    const handle = await start({ expiryMs: 6_000 });
    expect(await handle.result()).toMatchObject({ status: 'failed', error: 'model_unavailable' });
    expect((await readJob(orm, jobId)).error).toMatchObject({ message: expect.stringContaining('in time') });
    expect(await account()).toEqual(releasedInFull);
  });

  it('a job handed back fails with the reason once no worker announces its model', async () => {
    await serve(without);
    const handle = await start();
    await handedBack(handle);
    await withdraw();
    expect(await handle.result()).toMatchObject({ status: 'failed', error: 'model_unavailable' });
    const { error } = await readJob(orm, jobId);
    expect(error?.message).toBe(`No model is installed for ${ENDPOINT}.`);
    expect(await account()).toEqual(releasedInFull);
  });

  it('a job handed back can be canceled while it waits', async () => {
    await serve(without);
    const handle = await start();
    await handedBack(handle);
    await settleJob(orm.em.fork(), {
      jobId,
      from: ['queued'],
      to: 'canceled',
      result: null,
      error: null,
      stages: null,
      chargedCredits: 0,
      completedAt: new Date(),
      event: null,
      deliveries: [],
    });
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ status: 'canceled' });
    expect(await account()).toEqual(releasedInFull);
  });
});

it('handing a job back does not restore its used attempts', async () => {
  const asked: unknown[] = [];
  const activities = createInferenceActivities({ orm, backend });
  const elsewhere = createInferenceActivities({ orm, backend: without });
  const runInference: InferenceActivities['runInference'] = (input) => {
    asked.push(input.attempts);
    return asked.length === 2 ? elsewhere.runInference(input) : activities.runInference(input);
  };
  await serve(backend, { ...activities, runInference });
  const handle = await start({ inferenceAttempts: 2 });
  const lost = new ServiceError('model_inference_failed', 'The process was lost.');
  (await backend.next()).fail(lost);
  (await backend.next()).fail(lost);
  expect(await handle.result()).toMatchObject({ status: 'failed', error: 'model_inference_failed' });
  expect(asked).toEqual([2, 2, 1]);
});

it('a worker that lacks a model of a bundle hands its units back', async () => {
  const plan = stagePlan([plannedStage({ name: 'detect', priceCredits: 20 })], { isShown: false });
  const bundles = createBundleBackend({ plan });
  jobId = await admitLive({ endpoint: 'inspections' });
  await announce('inspections');
  const has = createInferenceActivities({ orm, backend: bundles });
  const lacks = createInferenceActivities({ orm, backend: without });
  let asked = 0;
  const runStage: typeof has.runStage = (range) => {
    asked += 1;
    return asked === 1 ? lacks.runStage(range) : has.runStage(range);
  };
  await serve(bundles, { ...has, runStage });
  const handle = await start({ endpoint: 'inspections' });
  expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
  expect([asked, bundles.begun]).toEqual([2, ['detect 0-0']]);
});

it('a worker without the cluster’s configuration hands a remote job back', async () => {
  const withdrawn = async () => {};
  const unconfigured = { modelVersion: () => null, withdraw: withdrawn } as unknown as Dispatcher;
  const configured = {
    modelVersion: () => MODEL_VERSION,
    withdraw: withdrawn,
    // As if the callback had arrived before the response to the dispatch.
    send: () =>
      finishInference(orm, jobId).then(() => Promise.reject(new ServiceError('service_unavailable', 'Lost.'))),
  } as unknown as Dispatcher;
  const remote = { ...backend, remoteRun: () => ({ isRemote: true as const, heartbeatTimeoutMs: 10_000 }) };
  const has = createDispatchActivities({ orm, dispatcher: configured });
  const lacks = createDispatchActivities({ orm, dispatcher: unconfigured });
  let asked = 0;
  const dispatchInference: typeof has.dispatchInference = (input) => {
    asked += 1;
    return asked === 1 ? lacks.dispatchInference(input) : has.dispatchInference(input);
  };
  await serve(remote, { ...createInferenceActivities({ orm, backend: remote }), ...has, dispatchInference });
  const handle = await start();
  expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
  expect(asked).toBe(2);
});
