/** Temporal workers in this process, constructed as the worker processes do. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { createShadowRecordActivities } from '../../src/activities/shadow-activities.ts';
import { createStageRecordActivities } from '../../src/activities/stage-record-activities.ts';
import type { InferenceBackend } from '../../src/contracts/inference-backend.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { randomToken } from '../../src/platform/ids.ts';
import { WORKFLOWS_PATH } from '../../src/workers/run-worker.ts';
import type { TestNamespace } from './temporal.ts';
import { installQuietRuntime } from './temporal-runtime.ts';

export interface TestWorkers {
  /** Cancels running activities, as the end of a process does. */
  stop(): Promise<void>;
}

const logger = new DefaultLogger('ERROR');

export type TestWorkerOptions = Omit<WorkerOptions, 'connection' | 'namespace'>;

/** Call its `stop` in `afterAll` at the latest. */
export async function startTestWorkers(
  { address, namespace }: TestNamespace,
  options: readonly TestWorkerOptions[],
): Promise<TestWorkers> {
  installQuietRuntime();
  const connection = await NativeConnection.connect({ address });
  const workers = await Promise.all(
    options.map((option) => Worker.create({ connection, namespace, maxCachedWorkflows: 50, ...option })),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  running.catch(() => {});
  return {
    async stop() {
      for (const worker of workers) worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

/** Workflows and settlement. */
export async function orchestrationWorker(orm: MikroORM): Promise<TestWorkerOptions> {
  return {
    taskQueue: TASK_QUEUES.orchestration,
    workflowBundle: { codePath: await workflowBundlePath() },
    activities: {
      ...createSettlementActivities({ orm }),
      ...createStageRecordActivities({ orm }),
      ...createShadowRecordActivities({ orm }),
    },
  };
}

/** On every inference queue. */
export function inferenceWorkers(orm: MikroORM, backend: InferenceBackend): TestWorkerOptions[] {
  const worker = inferenceWorker(orm, backend);
  return [TASK_QUEUES.inferenceGpu, TASK_QUEUES.inferenceHeavy, TASK_QUEUES.inferenceTest].map((taskQueue) => ({
    ...worker,
    taskQueue,
  }));
}

export function inferenceWorker(orm: MikroORM, backend: InferenceBackend): TestWorkerOptions {
  return { taskQueue: TASK_QUEUES.inferenceGpu, activities: createInferenceActivities({ orm, backend }) };
}

/** Bundled once per run of `npm test`, into that run's temporary folder. */
export async function workflowBundlePath(): Promise<string> {
  const path = join(tmpdir(), 'workflow-bundle.js');
  if (existsSync(path)) return path;
  const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS_PATH, logger });
  // Written atomically: another test file may look for it now.
  const partialPath = `${path}.${randomToken()}`;
  writeFileSync(partialPath, code);
  renameSync(partialPath, path);
  return path;
}
