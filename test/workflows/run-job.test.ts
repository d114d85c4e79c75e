/** A job's life through the real Temporal and the real PostgreSQL, from its start by name to its end. */

import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import type { ErrorCode } from '../../src/contracts/error-codes.ts';
import {
  type InferenceActivities,
  RUN_JOB_STATUS_QUERY,
  RUN_JOB_WORKFLOW,
  type RunJobInput,
  type Settlement,
} from '../../src/contracts/run-job.ts';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { startRunJob } from '../../src/jobs/job-starter.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { settleJob } from '../../src/jobs/settlement-store.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { createSteeredBackend, MODEL_VERSION, type SteeredBackend } from '../support/backends.ts';
import { type Customer, createCustomer, createWebhookEndpoint, readAccount } from '../support/customers.ts';
import { readableHistory } from '../support/histories.ts';
import { admit, readJob, transfersOf } from '../support/jobs.ts';
import type { TestNamespace } from '../support/temporal.ts';
import { inferenceWorkers, startTestWorkers, type TestWorkers } from '../support/workers.ts';
import { closeWorkflowHarness, openWorkflowHarness, type WorkflowHarness } from '../support/workflow-harness.ts';

let harness: WorkflowHarness;
let orm: MikroORM;
let namespace: TestNamespace;
let client: Client;
let customer: Customer;
let backend: SteeredBackend;
let inference: TestWorkers | null = null;
let jobId: string;

beforeAll(async () => {
  harness = await openWorkflowHarness();
  ({ orm, namespace, client } = harness);
});
afterAll(() => closeWorkflowHarness(harness));
beforeEach(async () => {
  backend = createSteeredBackend();
  customer = await createCustomer(orm, { test: 1_000 });
  jobId = await admit(orm, customer);
});
afterEach(async () => {
  // What a test leaves in the queue would reach the model of the next one.
  await client.workflow
    .getHandle(jobId)
    .terminate()
    .catch(() => {});
  await inference?.stop();
  inference = null;
});

async function startInference(): Promise<void> {
  inference = await startTestWorkers(namespace, inferenceWorkers(orm, backend));
}

async function start(changes: Partial<RunJobInput> = {}) {
  const input: RunJobInput = {
    jobId,
    endpoint: 'dashboard.read',
    inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
    expiryMs: 60_000,
    inferenceTimeoutMs: 30_000,
    inferenceAttempts: 3,
    ...changes,
  };
  return client.workflow.start<(input: RunJobInput) => Promise<Settlement>>(RUN_JOB_WORKFLOW, {
    workflowId: jobId,
    taskQueue: TASK_QUEUES.orchestration,
    args: [input],
  });
}

const releasedInFull = { available: 1_000, held: 0, openJobs: 0 };
const account = () => readAccount(orm, customer.organizationId, false);

describe('a job that succeeds', () => {
  it('a job is queued, processing while the model runs, and succeeded with its cost charged', async () => {
    const handle = await start();
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'queued', startedAt: null });
    await startInference();
    const running = await backend.next();
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'processing' });
    running.finish();
    expect(await handle.result()).toEqual({ status: 'succeeded', chargedCredits: 20, deliveryIds: [] });
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    expect(await account()).toEqual({ available: 980, held: 0, openJobs: 0 });
  });

  it('a workflow returns its step to the query while it runs and after it has ended', async () => {
    await startInference();
    const handle = await start();
    const running = await backend.next();
    expect(await handle.query(RUN_JOB_STATUS_QUERY)).toEqual({ step: 'inference', stages: [] });
    running.finish();
    await handle.result();
    expect(await handle.query(RUN_JOB_STATUS_QUERY)).toEqual({ step: 'ended', stages: [] });
  });

  it('a job starts one delivery for each subscribed endpoint, and the deliveries outlive it', async () => {
    await createWebhookEndpoint(orm, customer.organizationId);
    await createWebhookEndpoint(orm, customer.organizationId, { events: ['job.failed'] });
    await startInference();
    const handle = await start();
    (await backend.next()).finish();
    const { deliveryIds } = await handle.result();
    expect(deliveryIds).toHaveLength(1);
    const delivery = await client.workflow.getHandle(deliveryIds[0] ?? '').describe();
    expect(delivery).toMatchObject({ type: 'deliverWebhook', taskQueue: 'webhooks', status: { name: 'RUNNING' } });
    expect(delivery.parentExecution?.workflowId).toBe(jobId);
  });
});

describe('a job that fails', () => {
  it.each(['input_unreadable', 'model_unavailable'] as const)(
    'a job that fails with %s reports it and is charged nothing',
    async (code) => {
      await startInference();
      const handle = await start({ inferenceAttempts: 1 });
      (await backend.next()).fail(new ServiceError(code, 'The reason, in words.'));
      expect(await handle.result()).toMatchObject({ status: 'failed', chargedCredits: 0 });
      const job = await readJob(orm, jobId);
      expect(job).toMatchObject({ status: 'failed', error: { code, message: 'The reason, in words.' }, result: null });
      expect(await account()).toEqual(releasedInFull);
    },
  );

  it('a job that fails transiently is retried and charged once', async () => {
    await startInference();
    const handle = await start();
    (await backend.next()).fail(new ServiceError('model_unavailable', 'Not now.'));
    (await backend.next()).finish();
    expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
  });

  it('a job with an unforeseen failure is retried up to its limit, then fails without telling customers the reason', async () => {
    await startInference();
    const handle = await start({ inferenceAttempts: 2 });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      (await backend.next()).fail(new TypeError('the password is hunter2'));
    }
    expect(await handle.result()).toMatchObject({ status: 'failed', chargedCredits: 0 });
    const { error } = await readJob(orm, jobId);
    expect(error?.code).toBe('model_inference_failed');
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(await account()).toEqual(releasedInFull);
  });

  it('a job whose model takes too long fails with a timeout', async () => {
    await startInference();
    const handle = await start({ inferenceTimeoutMs: 5_000, inferenceAttempts: 1 });
    await backend.next();
    expect(await handle.result()).toMatchObject({ status: 'failed' });
    expect((await readJob(orm, jobId)).error?.code).toBe('inference_timeout');
    expect(await account()).toEqual(releasedInFull);
  });
});

it('a job whose worker is lost runs on another once the heartbeat is missed, and is charged once', async () => {
  const activities = createInferenceActivities({ orm, backend });
  const silentAtFirst = async (input: Parameters<InferenceActivities['runInference']>[0]) => {
    if (Context.current().info.attempt > 1) return activities.runInference(input);
    // Like a process that was killed after the pick-up: no result and no heartbeat.
    await pickUpJob(orm.em.fork(), input.jobId, MODEL_VERSION, new Date());
    return Context.current().cancelled;
  };
  inference = await startTestWorkers(namespace, [
    { taskQueue: TASK_QUEUES.inferenceGpu, activities: { ...activities, runInference: silentAtFirst } },
  ]);
  const handle = await start();
  (await backend.next()).finish();
  expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
  expect(await transfersOf(orm, jobId)).toEqual([
    ['hold', 20],
    ['capture', 20],
  ]);
});

it('a job whose worker is lost on every attempt fails, and operators can see it', async () => {
  inference = await startTestWorkers(namespace, [
    { taskQueue: TASK_QUEUES.inferenceGpu, activities: { runInference: () => Context.current().cancelled } },
  ]);
  const handle = await start({ inferenceAttempts: 1 });
  expect(await handle.result()).toMatchObject({ status: 'failed', error: 'model_inference_failed' });
  const metadata = await handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toBe(
    'Ended **failed** (model_inference_failed), 0 credits charged. Its worker was lost: no heartbeat in attempt 1 of 1.',
  );
});

it('a job whose worker is lost after the settlement is charged once, and its deliveries start', async () => {
  await createWebhookEndpoint(orm, customer.organizationId);
  const activities = createInferenceActivities({ orm, backend });
  const lostAtFirst = async (input: Parameters<InferenceActivities['runInference']>[0]) => {
    const answer = await activities.runInference(input);
    return Context.current().info.attempt > 1 ? answer : Context.current().cancelled;
  };
  inference = await startTestWorkers(namespace, [
    { taskQueue: TASK_QUEUES.inferenceGpu, activities: { ...activities, runInference: lostAtFirst } },
  ]);
  // Its attempt ends long before the heartbeat is missed.
  const handle = await start({ inferenceTimeoutMs: 5_000 });
  (await backend.next()).finish();
  const { status, deliveryIds } = await handle.result();
  expect({ status, calls: backend.calls }).toEqual({ status: 'succeeded', calls: 1 });
  expect(deliveryIds).toHaveLength(1);
  expect((await client.workflow.getHandle(deliveryIds[0] ?? '').describe()).status.name).toBe('RUNNING');
  expect(await transfersOf(orm, jobId)).toEqual([
    ['hold', 20],
    ['capture', 20],
  ]);
});

it('a worker of an earlier release leaves the settlement to the workflow, and nothing is lost', async () => {
  const activities = createInferenceActivities({ orm, backend });
  const runInference = ({ jobId: id, attempts }: Parameters<InferenceActivities['runInference']>[0]) =>
    activities.runInference({ jobId: id, attempts });
  inference = await startTestWorkers(namespace, [
    { taskQueue: TASK_QUEUES.inferenceGpu, activities: { ...activities, runInference } },
  ]);
  const handle = await start();
  (await backend.next()).finish();
  expect(await handle.result()).toEqual({ status: 'succeeded', chargedCredits: 20, deliveryIds: [] });
  expect(await account()).toEqual({ available: 980, held: 0, openJobs: 0 });
});

describe('a job that nobody picks up', () => {
  it('a job that nobody picks up expires after its time in the queue and is charged nothing', async () => {
    const handle = await start({ expiryMs: 200 });
    expect(await handle.result()).toEqual({
      status: 'expired',
      chargedCredits: 0,
      deliveryIds: [],
      error: 'job_expired',
    });
    expect(await readJob(orm, jobId)).toMatchObject({
      status: 'expired',
      startedAt: null,
      error: { type: 'expired_error', code: 'job_expired' satisfies ErrorCode },
    });
    expect(await account()).toEqual(releasedInFull);
  });
});

describe('a job that was canceled', () => {
  const cancel = () =>
    settleJob(orm.em.fork(), {
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

  it('a job canceled before pick-up runs no model and creates no delivery', async () => {
    await createWebhookEndpoint(orm, customer.organizationId);
    const handle = await start();
    await cancel();
    await startInference();
    expect(await handle.result()).toEqual({ status: 'canceled', chargedCredits: 0, deliveryIds: [] });
    expect(backend.calls).toBe(0);
    expect(await account()).toEqual(releasedInFull);
  });

  it('a canceled job ends canceled when its workflow is cancelled, without waiting for a worker', async () => {
    const handle = await start();
    await cancel();
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ status: 'canceled' });
  });
});

describe('a workflow cancelled by an operator', () => {
  it('a running job whose workflow an operator cancels fails with job_stopped, uncharged, and starts a delivery', async () => {
    await createWebhookEndpoint(orm, customer.organizationId);
    await startInference();
    const handle = await start();
    await backend.next();
    await handle.cancel();
    const { deliveryIds, ...settlement } = await handle.result();
    expect(settlement).toEqual({ status: 'failed', chargedCredits: 0, error: 'job_stopped' });
    expect(deliveryIds).toHaveLength(1);
    const { error } = await readJob(orm, jobId);
    expect(error).toEqual({
      type: 'processing_error',
      code: 'job_stopped' satisfies ErrorCode,
      message: 'The operator of the service stopped the job. Nothing was charged; submit it again.',
    });
    expect(await account()).toEqual(releasedInFull);
  });

  it('a queued job whose workflow an operator cancels is canceled, as if by its customer, and charged nothing', async () => {
    await createWebhookEndpoint(orm, customer.organizationId);
    const handle = await start();
    await handle.cancel();
    expect(await handle.result()).toEqual({ status: 'canceled', chargedCredits: 0, deliveryIds: [] });
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'canceled', startedAt: null, error: null });
    expect(await account()).toEqual(releasedInFull);
    await startInference();
    expect(backend.calls).toBe(0);
  });
});

describe('the start by name', () => {
  const endpoint = endpointBySlug('dashboard.read');
  const startByName = () =>
    startRunJob(
      client,
      { id: jobId, organizationId: customer.organizationId, livemode: false, expiryMs: 60_000 },
      endpoint,
    );

  it('a second start by name changes nothing while the first run continues', async () => {
    await startByName();
    const first = await client.workflow.getHandle(jobId).describe();
    await startByName();
    expect((await client.workflow.getHandle(jobId).describe()).runId).toBe(first.runId);
  });

  it('a start by name after the job has ended runs again and finds nothing to do', async () => {
    await startInference();
    await startByName();
    (await backend.next()).finish();
    await client.workflow.getHandle(jobId).result();
    await startByName();
    expect(await client.workflow.getHandle(jobId).result()).toEqual({
      status: 'succeeded',
      chargedCredits: 20,
      deliveryIds: [],
    });
    expect(backend.calls).toBe(1);
    expect(await account()).toEqual({ available: 980, held: 0, openJobs: 0 });
  });

  it('the start by name starts a workflow that Temporal Web can show and find', async () => {
    await startByName();
    const handle = client.workflow.getHandle(jobId);
    const described = await handle.describe();
    expect(await described.staticSummary()).toBe('dashboard.read (test)');
    expect(await described.staticDetails()).toContain(customer.organizationId);
    const { jobEndpoint, organizationId, livemode, jobStatus } = SEARCH_ATTRIBUTES;
    expect(described.typedSearchAttributes.get(jobEndpoint)).toBe('dashboard.read');
    expect(described.typedSearchAttributes.get(organizationId)).toBe(customer.organizationId);
    expect(described.typedSearchAttributes.get(livemode)).toBe(false);
    expect(described.typedSearchAttributes.get(jobStatus)).toBe('queued');
    await startInference();
    (await backend.next()).finish();
    await handle.result();
    expect((await handle.describe()).typedSearchAttributes.get(jobStatus)).toBe('succeeded');
  });

  it('a job starts deliveries that Temporal Web finds by the same organisation and mode', async () => {
    await createWebhookEndpoint(orm, customer.organizationId);
    await startByName();
    await startInference();
    (await backend.next()).finish();
    const { deliveryIds } = (await client.workflow.getHandle(jobId).result()) as Settlement;
    const delivery = await client.workflow.getHandle(deliveryIds[0] ?? '').describe();
    const { organizationId, livemode } = SEARCH_ATTRIBUTES;
    expect(delivery.typedSearchAttributes.get(organizationId)).toBe(customer.organizationId);
    expect(delivery.typedSearchAttributes.get(livemode)).toBe(false);
    expect(delivery.typedSearchAttributes.getAll()).toHaveLength(2);
    expect(await delivery.staticDetails()).toContain(jobId);
  });

  it('a workflow carries only ids and small facts: its history contains no pictures, parameters or results', async () => {
    await startInference();
    await startByName();
    (await backend.next()).finish({
      status: 'succeeded',
      result: { name: 'Erika Mustermann' },
      error: null,
      chargedCredits: 20,
    });
    const handle = client.workflow.getHandle(jobId);
    await handle.result();
    const payloads = await readableHistory(handle);
    expect(payloads).toContain(JSON.stringify(JSON.stringify({ jobId })).slice(1, -3));
    expect(payloads).not.toContain('Mustermann');
    expect(payloads).not.toContain('reading');
  });
});

it('an unknown job is unknown to Temporal too', async () => {
  await expect(client.workflow.getHandle('job_unknown').describe()).rejects.toThrow(WorkflowNotFoundError);
});
