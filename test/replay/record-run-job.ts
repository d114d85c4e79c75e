/**
 * Records a history of each branch of the job workflow into `histories/run-job/`:
 *
 *     TEMPORAL_ADDRESS=127.0.0.1:7233 node test/replay/record-run-job.ts
 *
 * Run it against a throw-away Temporal when the workflow gains a branch. A history that exists is left as it is: it
 * stands for the jobs that run in production, and a change of the workflow must replay it.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import {
  type InferenceActivities,
  RUN_JOB_WORKFLOW,
  type RunJobInput,
  type Settlement,
  type SettlementActivities,
} from '../../src/contracts/run-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { ensureNamespace } from '../../src/embedded/temporal.ts';
import { WORKFLOWS_PATH } from '../../src/workers/run-worker.ts';

type RunInference = (attempt: number) => Promise<'staged' | 'abandoned'>;

interface Branch {
  input?: Partial<RunJobInput>;
  inference?: RunInference;
  settlement: Settlement;
  /** Settlements that fail before the one that does not. */
  failedSettlements?: number;
  /** Called once the inference runs. */
  whileRunning?: (handle: WorkflowHandle) => Promise<unknown>;
}

const staged: RunInference = async () => 'staged';
/** As of a worker that was lost: nothing more is heard of it. */
const neverHeardOf = () => Context.current().cancelled;

const settled = (status: Settlement['status'], chargedCredits = 0, deliveryIds: string[] = []): Settlement => ({
  status,
  chargedCredits,
  deliveryIds,
});

const BRANCHES: Record<string, Branch> = {
  succeeded: { settlement: settled('succeeded', 20) },
  'succeeded-with-deliveries': { settlement: settled('succeeded', 20, ['whd_first', 'whd_second']) },
  'failed-by-the-model': { settlement: settled('failed', 0, ['whd_failed']) },
  'failed-after-every-attempt': {
    input: { inferenceAttempts: 2 },
    inference: () => Promise.reject(failure('TypeError')),
    settlement: settled('failed'),
  },
  'retried-then-succeeded': {
    inference: (attempt) => (attempt === 1 ? Promise.reject(failure('model_unavailable')) : staged(attempt)),
    settlement: settled('succeeded', 20),
  },
  'worker-lost-then-succeeded': {
    inference: async (attempt) => (attempt === 1 ? neverHeardOf() : 'staged'),
    settlement: settled('succeeded', 20),
  },
  'inference-timed-out': {
    input: { inferenceTimeoutMs: 300, inferenceAttempts: 1 },
    inference: neverHeardOf,
    settlement: settled('failed', 0, ['whd_timed_out']),
  },
  expired: {
    // Nobody serves this queue here.
    input: { expiryMs: 300, inferenceTaskQueue: TASK_QUEUES.inferenceHeavy },
    settlement: settled('expired', 0, ['whd_expired']),
  },
  'canceled-before-pick-up': { inference: async () => 'abandoned', settlement: settled('canceled') },
  'workflow-cancelled': {
    inference: neverHeardOf,
    whileRunning: (handle) => handle.cancel(),
    settlement: settled('failed', 0, ['whd_cancelled']),
  },
  'settled-at-the-second-attempt': { settlement: settled('succeeded', 20), failedSettlements: 1 },
};

/** Without its stack, which names the folders of this machine. */
function failure(type: string): ApplicationFailure {
  return Object.assign(ApplicationFailure.create({ message: 'It failed.', type }), { stack: '' });
}

const address = process.env.TEMPORAL_ADDRESS;
if (address === undefined) throw new Error('TEMPORAL_ADDRESS is missing: the address of a throw-away Temporal');

const namespace = `record-${process.pid}`;
await ensureNamespace(address, namespace);
// The identity is part of a history; the default one names the machine.
const identity = 'recorder';
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection: await Connection.connect({ address }), namespace, identity });

const running = new Map<string, () => void>();
const settlements = new Map<string, number>();
const inference: InferenceActivities = {
  async runInference({ jobId }) {
    running.get(jobId)?.();
    return (BRANCHES[jobId]!.inference ?? staged)(Context.current().info.attempt);
  },
};
const settlement: SettlementActivities = {
  async settleJob({ jobId }) {
    const attempt = (settlements.get(jobId) ?? 0) + 1;
    settlements.set(jobId, attempt);
    const { failedSettlements = 0, settlement } = BRANCHES[jobId]!;
    if (attempt <= failedSettlements) throw failure('Error');
    return settlement;
  },
};
const options = { connection, namespace, identity };
const workers = [
  await Worker.create({
    ...options,
    taskQueue: TASK_QUEUES.orchestration,
    workflowsPath: WORKFLOWS_PATH,
    activities: settlement,
  }),
  await Worker.create({ ...options, taskQueue: TASK_QUEUES.inferenceGpu, activities: inference }),
];

const recording = Promise.all(Object.entries(BRANCHES).map(record));
await Promise.all(workers.map((worker) => worker.runUntil(recording)));
await client.connection.close();
await connection.close();

async function record([name, { input, settlement, whileRunning }]: [string, Branch]): Promise<void> {
  const path = fileURLToPath(new URL(`histories/run-job/${name}.json`, import.meta.url));
  if (existsSync(path)) return;
  const runs = new Promise<void>((resolve) => running.set(name, resolve));
  const handle = await client.workflow.start<(input: RunJobInput) => Promise<Settlement>>(RUN_JOB_WORKFLOW, {
    workflowId: name,
    taskQueue: TASK_QUEUES.orchestration,
    args: [
      {
        jobId: name,
        endpoint: 'dashboard.read',
        inferenceTaskQueue: TASK_QUEUES.inferenceGpu,
        expiryMs: 60_000,
        inferenceTimeoutMs: 60_000,
        inferenceAttempts: 3,
        ...input,
      },
    ],
  });
  if (whileRunning) {
    await runs;
    await whileRunning(handle);
  }
  const { status } = await handle.result();
  if (status !== settlement.status) throw new Error(`${name} ended ${status}`);
  writeFileSync(path, `${historyToJSON(await handle.fetchHistory())}\n`);
  console.log(`recorded ${path}`);
}
