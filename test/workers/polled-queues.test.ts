/** With the real Temporal, a worker process polls its task queues while it can serve something. */

import { Context } from '@temporalio/activity';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RUN_JOB_WORKFLOW, type RunJobInput, type Settlement } from '../../src/contracts/run-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { FollowedQueues } from '../../src/workers/followed-queues.ts';
import { PolledQueue } from '../../src/workers/polled-queue.ts';
import { recordLog } from '../support/log-record.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { startTestWorkers, type TestWorkers, workflowBundlePath } from '../support/workers.ts';

const SUCCEEDED: Settlement = { status: 'succeeded', chargedCredits: 0, deliveryIds: [] };
const EXPIRED: Settlement = { status: 'expired', chargedCredits: 0, deliveryIds: [], error: 'job_expired' };

let namespace: TestNamespace;
let client: Client;
let connection: NativeConnection;
let workflows: TestWorkers;
let jobs = 0;

let isServed: boolean;
let isAway: boolean;
/** Worker options. */
let made: Promise<unknown>;
let isMade: boolean;
/** Running jobs by id, each with a function that ends it. */
let atWork: Map<string, () => void>;
let polled: PolledQueue[];
let followed: FollowedQueues | null;
let log: ReturnType<typeof recordLog>;

beforeAll(async () => {
  namespace = await createTestNamespace();
  client = openTemporalClient(namespace);
  const activities = { settleJob: async () => EXPIRED };
  workflows = await startTestWorkers(namespace, [
    { taskQueue: TASK_QUEUES.orchestration, workflowBundle: { codePath: await workflowBundlePath() }, activities },
  ]);
  connection = await NativeConnection.connect({ address: namespace.address });
});
afterAll(async () => {
  await workflows.stop();
  await connection.close();
  await client.connection.close();
});
beforeEach(() => {
  [isServed, isAway, atWork, followed, log] = [true, false, new Map(), null, recordLog()];
  [made, isMade] = [Promise.resolve(), false];
});
afterEach(async () => {
  for (const end of atWork.values()) end();
  await followed?.stop();
});

function queue(taskQueue: string, isWanted: () => boolean): PolledQueue {
  const runInference = async ({ jobId }: { jobId: string }) => {
    const { cancelled } = Context.current();
    await Promise.race([cancelled, new Promise<void>((resolve) => atWork.set(jobId, resolve))]);
    return SUCCEEDED;
  };
  const options = { connection, namespace: namespace.namespace, shutdownGraceTime: '100 milliseconds' } as const;
  return new PolledQueue({
    taskQueue,
    isWanted,
    createWorker: async () => {
      if (isAway) throw new Error('Temporal is away');
      isMade = true;
      await made;
      return Worker.create({ ...options, taskQueue, activities: { runInference } });
    },
  });
}

/** The queues of an inference worker: one for live jobs, and with `test` one for test jobs. */
async function follow({ test = false } = {}): Promise<void> {
  polled = [queue(TASK_QUEUES.inferenceGpu, () => isServed)];
  if (test) polled.push(queue(TASK_QUEUES.inferenceTest, () => true));
  followed = new FollowedQueues({ queues: polled, logger: log.logger, intervalMs: 20 });
  await followed.begin();
}

async function submit(changes: Partial<RunJobInput> = {}): Promise<WorkflowHandle> {
  jobs += 1;
  const jobId = `job_${jobs}`;
  const input: RunJobInput = {
    jobId,
    endpoint: 'tire.detect',
    inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
    expiryMs: 60_000,
    inferenceTimeoutMs: 60_000,
    inferenceAttempts: 1,
    ...changes,
  };
  return client.workflow.start(RUN_JOB_WORKFLOW, {
    workflowId: jobId,
    taskQueue: TASK_QUEUES.orchestration,
    args: [input],
  });
}

const isAtWork = ({ workflowId }: WorkflowHandle) => until(() => atWork.has(workflowId));
const end = ({ workflowId }: WorkflowHandle) => atWork.get(workflowId)?.();
const isLive = () => polled[0]?.isPolled;

describe('a worker that can serve nothing', () => {
  it('a worker that can serve nothing takes no job and is not ready', async () => {
    isServed = false;
    await follow();
    const handle = await submit({ expiryMs: 1_000 });
    expect(await handle.result()).toEqual(EXPIRED);
    expect([atWork.size, followed?.arePolled]).toEqual([0, false]);
    await log.waitFor(({ msg }) => msg === 'nothing can be served: task queues are not polled');
    expect(log.lines.join('')).not.toContain('worker ready');
  });

  it('a worker takes jobs as soon as it can serve something, and is ready', async () => {
    isServed = false;
    await follow();
    const handle = await submit();
    isServed = true;
    await isAtWork(handle);
    expect(followed?.arePolled).toBe(true);
    expect(await log.waitFor(({ msg }) => msg === 'worker ready')).toMatchObject({
      taskQueues: [TASK_QUEUES.inferenceGpu],
    });
    end(handle);
    expect(await handle.result()).toEqual(SUCCEEDED);
  });

  it('a worker that serves only test mode polls for its jobs', async () => {
    isServed = false;
    await follow({ test: true });
    const handle = await submit({ inferenceTaskQueue: TASK_QUEUES.inferenceTest });
    await isAtWork(handle);
    expect([isLive(), followed?.arePolled]).toEqual([false, true]);
  });
});

describe('a worker that loses its last model', () => {
  it('a worker that loses its last model finishes running jobs, however long they take, then takes no more', async () => {
    await follow();
    const running = await submit();
    await isAtWork(running);
    isServed = false;
    // Longer than the grace of a worker that shuts down, which would cancel the job.
    await expect(until(() => !isLive(), 500)).rejects.toThrow('not so after');
    end(running);
    expect(await running.result()).toEqual(SUCCEEDED);
    await until(() => !isLive());
    expect(await (await submit({ expiryMs: 1_000 })).result()).toEqual(EXPIRED);
  });

  it('a worker that lost its last model takes jobs again when a model returns', async () => {
    await follow();
    for (let time = 0; time < 2; time += 1) {
      isServed = false;
      await until(() => !isLive());
      isServed = true;
      const handle = await submit();
      await isAtWork(handle);
      end(handle);
      expect(await handle.result()).toEqual(SUCCEEDED);
    }
  });
});

it('a worker retries polling after an outage of Temporal', async () => {
  isServed = false;
  await follow();
  [isAway, isServed] = [true, true];
  await log.waitFor(({ msg }) => msg === 'task queues cannot be polled; the next check tries again');
  expect(followed?.arePolled).toBe(false);
  isAway = false;
  await until(() => followed?.arePolled === true);
});

it('a worker that is stopped just as it starts polling stops', async () => {
  isServed = false;
  await follow();
  const { promise, resolve } = Promise.withResolvers<void>();
  [made, isServed] = [promise, true];
  await until(() => isMade);
  const stopped = followed?.stop();
  resolve();
  await stopped;
  // Closing the connection fails while a worker uses it.
  expect(isLive()).toBe(false);
});
