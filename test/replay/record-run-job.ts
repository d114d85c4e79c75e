/**
 * Records a history of each branch of the job workflow into `histories/run-job/`:
 *
 *     TEMPORAL_ADDRESS=127.0.0.1:7233 node test/replay/record-run-job.ts
 *
 * Run it against a throw-away Temporal when the workflow gains a branch. Existing histories stay unchanged: each
 * stands for the jobs that run in production, and a change of the workflow must replay it.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { DispatchActivities } from '../../src/contracts/dispatch.ts';
import type { HandedBack } from '../../src/contracts/handed-back.ts';
import type {
  PlannedStage,
  StageActivities,
  StagePlan,
  StageRange,
  StageRecordActivities,
  StageReport,
} from '../../src/contracts/run-bundle.ts';
import {
  encodeInferenceResult,
  type InferenceActivities,
  RUN_JOB_WORKFLOW,
  type RunJobInput,
  type Settlement,
  type SettlementActivities,
} from '../../src/contracts/run-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { ensureNamespace } from '../../src/embedded/temporal.ts';
import { WORKFLOWS_PATH } from '../../src/workers/run-worker.ts';
import { plannedStage, stagePlan } from '../support/bundle-backends.ts';

type RunInference = (attempt: number) => ReturnType<InferenceActivities['runInference']>;
type RunStage = (range: StageRange, attempt: number) => Promise<StageReport | HandedBack>;

interface Branch {
  input?: Partial<RunJobInput>;
  inference?: RunInference;
  stage?: RunStage;
  /** For a job that another cluster runs; when omitted, the cluster finds something. */
  dispatch?: () => Promise<'staged' | 'abandoned' | HandedBack>;
  settlement: Settlement;
  /** Settlements that fail before the one that does not. */
  failedSettlements?: number;
  /** Called once the inference runs. */
  whileRunning?: (handle: WorkflowHandle) => Promise<unknown>;
  /** Name of the history of its last run, where it continues in a new one. */
  resumedAs?: string;
}

const pending: RunInference = async () => 'staged';
/** As of a worker that was lost: nothing more is heard of it. */
const neverHeardOf = () => Context.current().cancelled;
const inAnotherCluster: RunInference = async () => ({ isRemote: true, heartbeatTimeoutMs: 10_000 });

/** As of a worker that lacks the model, so often; then of one that has it. */
function handedBack<Answer>(times: number, answer: () => Promise<Answer>, usedAttempts = 0, kind?: 'handed_back') {
  let left = times;
  return async (): Promise<Answer | HandedBack> => {
    left -= 1;
    return left < 0 ? answer() : { ...(kind && { kind }), isPassedOn: true, usedAttempts };
  };
}

const settled = (status: Settlement['status'], chargedCredits = 0, deliveryIds: string[] = []): Settlement => ({
  status,
  chargedCredits,
  deliveryIds,
});

const passedOnThenFailing = handedBack(1, () => Promise.reject(failure('model_inference_failed')), 1);

function bundle(stages: PlannedStage[], changes: Partial<StagePlan> = {}): RunInference {
  return async () => stagePlan(stages, changes);
}

const report = (changes: Partial<StageReport> = {}): StageReport => ({
  failedUnits: 0,
  foundUnits: 0,
  chargedCredits: 20,
  isSkipped: false,
  error: null,
  ...changes,
});

const BRANCHES: Record<string, Branch> = {
  succeeded: { settlement: settled('succeeded', 20) },
  'succeeded-with-deliveries': { settlement: settled('succeeded', 20, ['whd_first', 'whd_second']) },
  'settled-by-the-inference': {
    inference: async () => settled('succeeded', 20),
    settlement: settled('succeeded', 20),
  },
  'settled-by-the-inference-with-deliveries': {
    inference: async () => settled('failed', 0, ['whd_third', 'whd_fourth']),
    settlement: settled('failed', 0),
  },
  'failed-by-the-model': { settlement: settled('failed', 0, ['whd_failed']) },
  'failed-after-every-attempt': {
    input: { inferenceAttempts: 2 },
    inference: () => Promise.reject(failure('TypeError')),
    settlement: settled('failed'),
  },
  'retried-then-succeeded': {
    inference: (attempt) => (attempt === 1 ? Promise.reject(failure('model_unavailable')) : pending(attempt)),
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
  'in-another-cluster': { inference: inAnotherCluster, settlement: settled('succeeded', 20, ['whd_remote']) },
  'in-another-cluster-that-was-lost': {
    input: { inferenceTimeoutMs: 300, inferenceAttempts: 1 },
    inference: inAnotherCluster,
    dispatch: neverHeardOf,
    settlement: settled('failed', 0, ['whd_remote_failed']),
  },
  'in-another-cluster-then-cancelled': {
    inference: inAnotherCluster,
    dispatch: neverHeardOf,
    whileRunning: (handle) => handle.cancel(),
    settlement: settled('failed'),
  },
  'passed-on-twice-then-succeeded': {
    inference: handedBack(2, async () => settled('succeeded', 20)),
    settlement: settled('succeeded', 20),
  },
  'passed-on-until-expired': {
    input: { expiryMs: 500 },
    inference: handedBack(Number.POSITIVE_INFINITY, async () => 'staged' as const),
    settlement: settled('expired'),
  },
  'passed-on-after-an-attempt': {
    inference: (attempt) => (attempt === 1 ? Promise.reject(failure('model_inference_failed')) : passedOnThenFailing()),
    settlement: settled('failed'),
  },
  'in-another-cluster-then-passed-on': {
    inference: inAnotherCluster,
    dispatch: handedBack(1, async () => 'staged' as const),
    settlement: settled('succeeded', 20),
  },
  'canceled-before-pick-up': { inference: async () => 'abandoned', settlement: settled('canceled') },
  'workflow-cancelled': {
    inference: neverHeardOf,
    whileRunning: (handle) => handle.cancel(),
    settlement: settled('failed', 0, ['whd_cancelled']),
  },
  'bundle-succeeded': {
    inference: bundle([
      plannedStage({ name: 'identify', units: 15 }),
      plannedStage({ name: 'detect', units: 15 }),
      plannedStage({ name: 'merge', after: ['identify', 'detect'], isOptional: false }),
    ]),
    settlement: settled('succeeded', 40),
  },
  'bundle-of-hidden-stages': {
    inference: bundle([plannedStage({ name: 'identify', units: 15 }), plannedStage({ name: 'detect' })], {
      isShown: false,
    }),
    settlement: settled('succeeded', 40, ['whd_bundle']),
  },
  'bundle-of-units-found': {
    inference: bundle([
      plannedStage({ name: 'intake', units: 2, unitsPerActivity: 1 }),
      plannedStage({ name: 'detect', after: ['intake'], units: { foundBy: 'intake' } }),
      plannedStage({ name: 'grade', after: ['detect'], units: { foundBy: 'detect' } }),
    ]),
    stage: async ({ stage }) => report({ foundUnits: stage.name === 'intake' ? 6 : 0 }),
    settlement: settled('succeeded', 40),
  },
  'bundle-partial': {
    inference: bundle([plannedStage({ name: 'identify' }), plannedStage({ name: 'detect' })]),
    stage: async ({ stage, units }) =>
      report(stage.name === 'detect' ? { failedUnits: units, error: 'input_unreadable' } : {}),
    settlement: settled('partial', 20),
  },
  'bundle-without-a-needed-stage': {
    inference: bundle([
      plannedStage({ name: 'detect', isOptional: false }),
      plannedStage({ name: 'merge', after: ['detect'] }),
    ]),
    stage: async ({ units }) => report({ failedUnits: units, error: 'input_unreadable' }),
    settlement: settled('failed'),
  },
  'bundle-whose-stage-timed-out': {
    input: { inferenceTimeoutMs: 300, inferenceAttempts: 1 },
    inference: bundle([plannedStage({ name: 'identify' }), plannedStage({ name: 'detect' })]),
    stage: async ({ stage }) => (stage.name === 'detect' ? neverHeardOf() : report()),
    settlement: settled('partial', 20),
  },
  'bundle-whose-worker-was-lost': {
    inference: bundle([plannedStage({ name: 'detect' })]),
    stage: async (_, attempt) => (attempt === 1 ? neverHeardOf() : report()),
    settlement: settled('succeeded', 20),
  },
  'bundle-passed-on': {
    inference: bundle([plannedStage({ name: 'identify' })]),
    stage: handedBack(1, async () => report()),
    settlement: settled('succeeded', 20),
  },
  'bundle-cancelled': {
    inference: bundle([plannedStage({ name: 'identify' }), plannedStage({ name: 'detect', after: ['identify'] })]),
    stage: async ({ stage }) => (stage.name === 'detect' ? neverHeardOf() : report()),
    whileRunning: (handle) => handle.cancel(),
    settlement: settled('failed', 0, ['whd_bundle_cancelled']),
  },
  'bundle-grown-long': {
    inference: bundle([plannedStage({ name: 'identify', units: 12, unitsPerActivity: 1 })], { eventsPerRun: 40 }),
    settlement: settled('succeeded', 40),
    resumedAs: 'bundle-resumed',
  },
  'tagged-settled': {
    inference: async () => encodeInferenceResult({ kind: 'settled', settlement: settled('succeeded', 20) }),
    settlement: settled('succeeded', 20),
  },
  'tagged-planned-after-it-was-handed-back': {
    inference: handedBack(
      1,
      async () => encodeInferenceResult({ kind: 'planned', plan: stagePlan([plannedStage({ name: 'identify' })]) }),
      0,
      'handed_back',
    ),
    settlement: settled('succeeded', 20),
  },
  'tagged-remote': {
    inference: async () =>
      encodeInferenceResult({ kind: 'remote', run: { isRemote: true, heartbeatTimeoutMs: 10_000 } }),
    settlement: settled('succeeded', 20),
  },
  'settled-by-the-inference-with-a-shadow': {
    inference: async () => ({ ...settled('succeeded', 20, ['whd_shadowed']), shadow: 'dashboards@2026-02-01' }),
    settlement: settled('succeeded', 20),
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
/** With the stage that waits to be cancelled; without stages, with the inference. */
const tellsWhenRunning = (name: string, stage?: string) => {
  if (name !== 'bundle-cancelled' || stage === 'detect') running.get(name)?.();
};
const inference: InferenceActivities & StageActivities & DispatchActivities = {
  async runInference({ jobId }) {
    if (BRANCHES[jobId]!.inference !== inAnotherCluster) tellsWhenRunning(jobId);
    return (BRANCHES[jobId]!.inference ?? pending)(Context.current().info.attempt);
  },
  async runStage(range) {
    tellsWhenRunning(range.jobId, range.stage.name);
    return (BRANCHES[range.jobId]!.stage ?? (async () => report()))(range, Context.current().info.attempt);
  },
  async composeStages() {},
  async dispatchInference({ jobId }) {
    tellsWhenRunning(jobId);
    return (BRANCHES[jobId]!.dispatch ?? (async () => 'staged' as const))();
  },
  async withdrawDispatches() {},
};
const settlement: SettlementActivities & StageRecordActivities = {
  async showStages() {},
  async discardStages() {},
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

async function record([name, { input, settlement, whileRunning, resumedAs }]: [string, Branch]): Promise<void> {
  if (existsSync(pathOf(name))) return;
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
  await write(name, client.workflow.getHandle(name, handle.firstExecutionRunId));
  if (resumedAs) await write(resumedAs, client.workflow.getHandle(name));
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`histories/run-job/${name}.json`, import.meta.url));
}

async function write(name: string, handle: WorkflowHandle): Promise<void> {
  writeFileSync(pathOf(name), `${historyToJSON(await handle.fetchHistory())}\n`);
  console.log(`recorded ${pathOf(name)}`);
}
