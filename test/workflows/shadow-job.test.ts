/** A release in the shadow and one as a canary, through the real Temporal and the real PostgreSQL: what customers get stays theirs. */

import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import { createShadowActivities } from '../../src/activities/shadow-activities.ts';
import type { InferenceBackend, InferenceContext, InferenceRequest } from '../../src/contracts/inference-backend.ts';
import type { InferenceOutcome, JobInput } from '../../src/contracts/job.ts';
import type { Trial } from '../../src/contracts/release-choice.ts';
import { RUN_JOB_WORKFLOW, type RunJobInput, type Settlement } from '../../src/contracts/run-job.ts';
import {
  SHADOW_JOB_WORKFLOW,
  type ShadowEnd,
  type ShadowJobInput,
  shadowWorkflowId,
} from '../../src/contracts/shadow-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import {
  ObjectNotFoundError,
  type ObjectStore,
  StoreUnavailableError,
} from '../../src/platform/storage/object-store.ts';
import { beginTrial, rollBack } from '../../src/releases/release-choices-store.ts';
import { type RecordedRun, reportOn } from '../../src/releases/shadow-runs-store.ts';
import { type Customer, createCustomer, createWebhookEndpoint, readAccount } from '../support/customers.ts';
import { readableHistory } from '../support/histories.ts';
import { admit, type JobChanges, readJob, SUCCESS, transfersOf } from '../support/jobs.ts';
import type { TestNamespace } from '../support/temporal.ts';
import { startTestWorkers, type TestWorkers } from '../support/workers.ts';
import { closeWorkflowHarness, openWorkflowHarness, type WorkflowHarness } from '../support/workflow-harness.ts';

const ENDPOINT = 'dashboard.read';
const SERVING = 'dashboards@2026-01-01';
const TRIED = 'dashboards@2026-02-01';
const PICTURE: JobInput = {
  field: 'image',
  storageKey: 'jobs/x.0',
  mediaType: 'image/png',
  bytes: 1,
  sha256: 'x',
  uploadId: null,
};
const SAME = { status: 'succeeded', agreed: ['cluster_lit', 'fuel_level_percent', 'odometer', 'warning_lights'] };

let harness: WorkflowHarness;
let orm: MikroORM;
let namespace: TestNamespace;
let client: Client;
let customer: Customer;
let workers: TestWorkers[];
let trial: Trial | null;
/** What the tried release makes of each job. */
let tried: (request: InferenceRequest, context: InferenceContext) => Promise<InferenceOutcome>;
let isTriedInstalled: boolean;
let ran: { version: string | undefined; isUnseen: boolean | undefined }[];
let recorded: RecordedRun[];
let sizeOf: ObjectStore['size'];

const backend: InferenceBackend = {
  modelVersion: ({ pinnedModelVersion }) => (pinnedModelVersion === TRIED && isTriedInstalled ? TRIED : SERVING),
  infer: async (request, context) => {
    ran.push({ version: request.modelVersion, isUnseen: context.isUnseen });
    return request.modelVersion === TRIED ? tried(request, context) : SUCCESS;
  },
  trial: (endpoint) => (endpoint === ENDPOINT ? trial : null),
  close: async () => {},
};

beforeAll(async () => {
  harness = await openWorkflowHarness();
  ({ orm, namespace, client } = harness);
});
afterAll(() => closeWorkflowHarness(harness));
beforeEach(async () => {
  customer = await createCustomer(orm, { live: 1_000 });
  await announce([TRIED]);
  await tryOut('shadow');
  tried = async () => SUCCESS;
  isTriedInstalled = true;
  sizeOf = async () => 1;
  [workers, ran, recorded] = [[], [], []];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  for (const table of ['installed_endpoints', 'installed_builds', 'release_choices'])
    await query(orm.em.fork(), `delete from ${table}`);
});

const announce = (otherVersions: string[]) =>
  announceInstalledEndpoints(orm.em.fork(), [{ endpoint: ENDPOINT, modelVersion: SERVING, otherVersions }], []);

async function tryOut(mode: Trial['mode']): Promise<void> {
  trial = { modelVersion: TRIED, mode, sharePercent: 100 };
  await beginTrial(orm.em.fork(), ENDPOINT, trial);
}

async function work(
  queues: readonly string[] = [TASK_QUEUES.inferenceGpu, TASK_QUEUES.inferenceShadow],
): Promise<void> {
  const store = { size: (key: string) => sizeOf(key) };
  const activities = {
    ...createInferenceActivities({ orm, backend }),
    ...createShadowActivities({ orm, backend, store, onRecorded: (run) => recorded.push(run) }),
  };
  workers.push(
    await startTestWorkers(
      namespace,
      queues.map((taskQueue) => ({ taskQueue, activities })),
    ),
  );
}

/** Runs a job to its end. */
async function run(changes: JobChanges = {}): Promise<{ jobId: string; settlement: Settlement }> {
  const live = { livemode: true, apiKeyId: customer.keyIds.live, inputs: [PICTURE] };
  const jobId = await admit(orm, customer, { ...live, ...changes });
  const input: RunJobInput = {
    jobId,
    endpoint: ENDPOINT,
    inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
    expiryMs: 60_000,
    inferenceTimeoutMs: 30_000,
    inferenceAttempts: 2,
  };
  const start = { workflowId: jobId, taskQueue: TASK_QUEUES.orchestration, args: [input] };
  return { jobId, settlement: await client.workflow.execute(RUN_JOB_WORKFLOW, start) };
}

const shadowOf = (jobId: string) =>
  client.workflow.getHandle<(input: ShadowJobInput) => Promise<ShadowEnd>>(shadowWorkflowId(jobId));

/** Runs the shadow of a job again, with these limits. */
function again(jobId: string, changes: Partial<ShadowJobInput> = {}): Promise<ShadowEnd> {
  const limits = { waitMs: 60_000, timeoutMs: 30_000, attempts: 1 };
  const input: ShadowJobInput = { jobId, endpoint: ENDPOINT, modelVersion: TRIED, ...limits, ...changes };
  const start = { workflowId: shadowWorkflowId(jobId), taskQueue: TASK_QUEUES.orchestration, args: [input] };
  return client.workflow.execute(SHADOW_JOB_WORKFLOW, start);
}

/** Its workflow would have started before that of the job ended. */
const hasShadow = (jobId: string) =>
  shadowOf(jobId)
    .describe()
    .then(() => true)
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    });

/** As the customer sees it: result, version and charge are those of the serving release. */
async function expectUntouched({ jobId, settlement }: Awaited<ReturnType<typeof run>>): Promise<void> {
  expect(settlement).toMatchObject({ status: 'succeeded', chargedCredits: 20, deliveryIds: [] });
  expect(await readJob(orm, jobId)).toMatchObject({
    status: 'succeeded',
    modelVersion: SERVING,
    result: SUCCESS.result,
    chargedCredits: 20,
  });
  expect(await transfersOf(orm, jobId)).toEqual([
    ['hold', 20],
    ['capture', 20],
  ]);
  expect(await readAccount(orm, customer.organizationId, true)).toEqual({ available: 980, held: 0, openJobs: 0 });
}

describe('a release in the shadow', () => {
  it('a release in the shadow runs an ended job again, and agrees when the results are equal', async () => {
    await work();
    const job = await run();
    const end = await shadowOf(job.jobId).result();
    expect({ ...end, agreed: end.agreed.toSorted() }).toEqual({
      outcome: 'compared',
      reason: null,
      agreed: SAME.agreed,
      differing: [],
    });
    expect(ran).toEqual([
      { version: SERVING, isUnseen: undefined },
      { version: TRIED, isUnseen: true },
    ]);
    await expectUntouched(job);
  });

  it('a release in the shadow differs by field; values are in the report, and never in Temporal', async () => {
    tried = async () => ({
      ...SUCCESS,
      result: { ...(SUCCESS.result as object), odometer: { value: 987_654, unit: 'km' } },
    });
    await work();
    const job = await run();
    const { agreed, differing } = await shadowOf(job.jobId).result();
    expect([agreed.length, differing.toSorted()]).toEqual([3, ['odometer.unit', 'odometer.value']]);
    expect(await readableHistory(shadowOf(job.jobId))).not.toContain('987654');
    const report = await reportOn(orm.em.fork(), { endpoint: ENDPOINT, modelVersion: TRIED, field: 'odometer.value' });
    expect(report?.examples[0]).toEqual({
      job: job.jobId,
      organization: customer.organizationId,
      field: 'odometer.value',
      served: null,
      shadow: 987_654,
    });
    await expectUntouched(job);
  });

  it('a release in the shadow tells the customer nothing: one event of one job', async () => {
    await createWebhookEndpoint(orm, customer.organizationId, { livemode: true });
    await work();
    const { jobId } = await run();
    await shadowOf(jobId).result();
    const events = await query(orm.em.fork(), 'select type from events where organization_id = $1', [
      customer.organizationId,
    ]);
    expect(events).toEqual([{ type: 'job.succeeded' }]);
  });

  it('a run in the shadow is found in Temporal Web by endpoint, organisation, outcome and field', async () => {
    tried = async () => ({ ...SUCCESS, result: { ...(SUCCESS.result as object), fuel_level_percent: 10 } });
    await work();
    const { jobId } = await run();
    await shadowOf(jobId).result();
    const shadow = await shadowOf(jobId).describe();
    expect([shadow.type, await shadow.staticSummary()]).toEqual([
      SHADOW_JOB_WORKFLOW,
      `${ENDPOINT} in the shadow of ${jobId}`,
    ]);
    const attributes = shadow.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    expect(Object.fromEntries(attributes)).toMatchObject({
      JobEndpoint: ENDPOINT,
      ShadowOutcome: 'differed',
      ShadowDiffers: ['fuel_level_percent'],
    });
  });

  it.each([
    [
      'fails',
      () => Promise.reject(new ServiceError('model_inference_failed', 'It crashed.')),
      'failed',
      'model_inference_failed',
    ],
    ['has a defect', () => Promise.reject(new TypeError('It broke.')), 'failed', 'model_inference_failed'],
    [
      'refuses the picture',
      async () => ({
        ...SUCCESS,
        status: 'failed',
        result: null,
        error: { type: 'x', code: 'input_unreadable', message: '' },
      }),
      'failed',
      'input_unreadable',
    ],
  ] as const)(
    'a release in the shadow that %s counts as failed once, and the job does not notice',
    async (_, outcome, expected, reason) => {
      tried = outcome as unknown as typeof tried;
      await work();
      const job = await run();
      expect(await shadowOf(job.jobId).result()).toEqual({ outcome: expected, reason, agreed: [], differing: [] });
      await expectUntouched(job);
    },
  );

  it('a release in the shadow that hangs is given up after its time, and counts as failed', async () => {
    tried = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    await work();
    const job = await run();
    await expectUntouched(job);
    // The same with a shorter time.
    await shadowOf(job.jobId).terminate();
    expect(await again(job.jobId, { timeoutMs: 1_000 })).toMatchObject({
      outcome: 'failed',
      reason: 'inference_timeout',
    });
  });

  it('a release in the shadow whose worker is stopped is run by another one, and the job does not notice', async () => {
    const begun = Promise.withResolvers<void>();
    tried = (_, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    };
    await work([TASK_QUEUES.inferenceGpu]);
    await work([TASK_QUEUES.inferenceShadow]);
    const job = await run();
    await begun.promise;
    await expectUntouched(job);
    tried = async () => SUCCESS;
    await workers.pop()?.stop();
    await work([TASK_QUEUES.inferenceShadow]);
    expect(await shadowOf(job.jobId).result()).toMatchObject({ outcome: 'compared', differing: [] });
    expect(recorded).toHaveLength(1);
  });

  it('a release in the shadow whose worker is lost after the record is not counted twice', async () => {
    await work();
    const { jobId } = await run();
    await shadowOf(jobId).result();
    tried = async () => ({ ...SUCCESS, result: {} });
    // The record of the first run stands.
    expect(await again(jobId)).toMatchObject({ differing: [] });
    expect(recorded.map(({ isNew, outcome }) => [isNew, outcome])).toEqual([[true, 'compared']]);
  });

  it.each([
    ['nobody has', [], 'model_unavailable'],
    ['nobody takes in time', [TRIED], 'model_unavailable'],
  ] as const)(
    'a release in the shadow that %s is not run, and the job does not notice',
    async (_, announced, reason) => {
      isTriedInstalled = false;
      await query(orm.em.fork(), 'delete from installed_builds');
      await announce([...announced]);
      await work();
      const job = await run();
      await expectUntouched(job);
      await shadowOf(job.jobId).terminate();
      expect(await again(job.jobId, { waitMs: 1_000 })).toMatchObject({ outcome: 'not_run', reason });
    },
  );

  it('a run in the shadow waits on a queue of its own: the job ends although nobody polls it', async () => {
    await work([TASK_QUEUES.inferenceGpu]);
    const job = await run();
    await expectUntouched(job);
    expect((await shadowOf(job.jobId).describe()).status.name).toBe('RUNNING');
    await shadowOf(job.jobId).terminate();
  });

  it('a release in the shadow does not run once the trial has ended', async () => {
    await work([TASK_QUEUES.inferenceGpu]);
    const { jobId } = await run();
    await rollBack(orm.em.fork(), ENDPOINT);
    await work([TASK_QUEUES.inferenceShadow]);
    expect(await shadowOf(jobId).result()).toMatchObject({ outcome: 'not_run', reason: 'trial_ended' });
  });

  it.each([
    ['the files are gone', async () => Promise.reject(new ObjectNotFoundError('gone')), 'inputs_gone', null],
    [
      'the store is away',
      async () => Promise.reject(new StoreUnavailableError('away')),
      'not_run',
      'service_unavailable',
    ],
  ] as const)('a run in the shadow says so when %s', async (_, size, outcome, reason) => {
    sizeOf = size;
    await work();
    const { jobId } = await run();
    expect(await shadowOf(jobId).result()).toMatchObject({ outcome, reason });
    expect(ran).toHaveLength(1);
  });

  it.each([
    ['pins a release', () => ({ pinnedModelVersion: SERVING })],
    ['runs in test mode', () => ({ livemode: false, apiKeyId: customer.keyIds.test })],
  ])('a release in the shadow never gets a job that %s', async (_, changes) => {
    await work();
    expect(await hasShadow((await run(changes())).jobId)).toBe(false);
  });

  it('a release in the shadow gets no job outside the share, and none while it serves', async () => {
    await work();
    trial = { modelVersion: TRIED, mode: 'shadow', sharePercent: 0 };
    expect(await hasShadow((await run()).jobId)).toBe(false);
    trial = { modelVersion: SERVING, mode: 'shadow', sharePercent: 100 };
    expect(await hasShadow((await run()).jobId)).toBe(false);
  });
});

describe('a canary', () => {
  beforeEach(() => tryOut('canary'));

  it('a canary runs the jobs of its share, which state it, and nothing runs in the shadow', async () => {
    await work();
    const { jobId } = await run();
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'succeeded', modelVersion: TRIED, chargedCredits: 20 });
    expect(await hasShadow(jobId)).toBe(false);
  });

  it('a canary never runs a job that pins a release', async () => {
    await work();
    const { jobId } = await run({ pinnedModelVersion: SERVING });
    expect(await readJob(orm, jobId)).toMatchObject({ modelVersion: SERVING });
  });

  it('a canary that fails leaves the job to the serving release', async () => {
    tried = () => Promise.reject(new ServiceError('model_inference_failed', 'It crashed.'));
    await work();
    await expectUntouched(await run());
    expect(ran.map(({ version }) => version)).toEqual([TRIED, SERVING]);
  });
});
