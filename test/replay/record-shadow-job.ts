/**
 * Records a history of each branch of the shadow workflow into `histories/shadow-job/`:
 *
 *     TEMPORAL_ADDRESS=127.0.0.1:7233 node test/replay/record-shadow-job.ts
 *
 * Run it against a throw-away Temporal when the workflow gains a branch. Existing histories stay unchanged: they stand for
 * shadows running in production, and every change of the workflow must replay them.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import {
  SHADOW_JOB_WORKFLOW,
  type ShadowActivities,
  type ShadowEnd,
  type ShadowJobInput,
  type ShadowRecordActivities,
} from '../../src/contracts/shadow-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { ensureNamespace } from '../../src/embedded/temporal.ts';
import { WORKFLOWS_PATH } from '../../src/workers/run-worker.ts';

type RunShadow = () => ReturnType<ShadowActivities['runShadow']>;

const AGREED: ShadowEnd = { outcome: 'compared', reason: null, agreed: ['cluster_lit'], differing: [] };
let handBacks = 0;

/** What each run does, by the name of the branch. */
const BRANCHES: Record<string, RunShadow> = {
  agreed: async () => AGREED,
  differed: async () => ({ ...AGREED, agreed: [], differing: ['cluster_lit'] }),
  'inputs-gone': async () => ({ ...AGREED, outcome: 'inputs_gone', agreed: [] }),
  'handed-back-then-agreed': async () => {
    handBacks += 1;
    return handBacks > 1 ? AGREED : { kind: 'handed_back', isPassedOn: true, usedAttempts: 0 };
  },
  'timed-out': () => Context.current().cancelled,
};

const address = process.env.TEMPORAL_ADDRESS;
if (address === undefined) throw new Error('TEMPORAL_ADDRESS is missing: the address of a throw-away Temporal');

const namespace = `record-${process.pid}`;
await ensureNamespace(address, namespace);
const activities: ShadowActivities & ShadowRecordActivities = {
  runShadow: ({ jobId }) => BRANCHES[jobId]!(),
  recordShadowFailure: async ({ failure }) => ({ outcome: 'failed', reason: failure, agreed: [], differing: [] }),
};
// The identity is part of a history; the default one names the machine.
const identity = 'recorder';
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection: await Connection.connect({ address }), namespace, identity });
const common = { connection, namespace, identity, activities };
const workers = await Promise.all([
  Worker.create({ ...common, taskQueue: TASK_QUEUES.orchestration, workflowsPath: WORKFLOWS_PATH }),
  Worker.create({ ...common, taskQueue: TASK_QUEUES.inferenceShadow }),
]);
const running = Promise.all(workers.map((worker) => worker.run()));

for (const branch of Object.keys(BRANCHES)) {
  const path = fileURLToPath(new URL(`histories/shadow-job/${branch}.json`, import.meta.url));
  if (existsSync(path)) continue;
  const input: ShadowJobInput = {
    jobId: branch,
    endpoint: 'dashboard.read',
    modelVersion: 'dashboards@2026-02-01',
    waitMs: 60_000,
    timeoutMs: branch === 'timed-out' ? 300 : 30_000,
    attempts: 1,
  };
  const start = { workflowId: branch, taskQueue: TASK_QUEUES.orchestration, args: [input] };
  const handle = await client.workflow.start(SHADOW_JOB_WORKFLOW, start);
  await handle.result();
  writeFileSync(path, `${historyToJSON(await handle.fetchHistory())}\n`);
  console.log(`recorded ${path}`);
}
for (const worker of workers) worker.shutdown();
await running;
await client.connection.close();
await connection.close();
