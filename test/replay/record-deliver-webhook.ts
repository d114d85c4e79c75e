/**
 * Records a history of each branch of the delivery workflow into `histories/deliver-webhook/`:
 *
 *     TEMPORAL_ADDRESS=127.0.0.1:7233 node test/replay/record-deliver-webhook.ts
 *
 * Run it against a throw-away Temporal when the workflow gains a branch. Existing histories stay unchanged: they stand
 * for deliveries running in production, and every change of the workflow must replay them.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  type DeliverWebhookInput,
  type DeliveryActivities,
  type DeliveryAttempt,
  type DeliveryEndActivities,
} from '../../src/contracts/deliver-webhook.ts';

const answer = (outcome: DeliveryAttempt['outcome'], retryAfterMs: number | null = null) => ({ outcome, retryAfterMs });

/** The branch whose workflow is cancelled while it waits for its second attempt. */
const CANCELLED = 'cancelled-while-waiting';

/** The branch whose first run continues as new while it waits for its turn. Both runs are recorded. */
const CONTINUED = 'continued-while-waiting';

/** The result of each attempt, by the name of the branch. */
const BRANCHES: Record<string, (attempt: number, lastAttempt: boolean, waits: number) => DeliveryAttempt> = {
  'delivered-at-once': () => answer('delivered'),
  'retried-then-delivered': (attempt) => answer(attempt < 3 ? 'retry' : 'delivered'),
  'retry-after-then-delivered': (attempt) => (attempt < 2 ? answer('retry', 300) : answer('delivered')),
  'retry-after-leads-past-the-end': (_attempt, lastAttempt) =>
    lastAttempt ? answer('stop') : answer('retry', 86_400_000),
  'stopped-by-the-endpoint': () => answer('stop'),
  'stopped-by-the-ladder': (_attempt, lastAttempt) => answer(lastAttempt ? 'stop' : 'retry'),
  'waited-for-its-turn': (_attempt, _lastAttempt, waits) => answer(waits > 0 ? 'delivered' : 'wait', 50),
  'attempt-failed-by-the-service': (attempt) => {
    // Without its stack, which contains local paths.
    if (attempt === 1) throw Object.assign(new Error('PostgreSQL is away'), { stack: '' });
    return answer('delivered');
  },
  [CONTINUED]: (attempt, _lastAttempt, waits) =>
    attempt === 1 ? answer('retry', 50) : answer(waits < 3 ? 'wait' : 'delivered', 50),
  [CANCELLED]: () => answer('retry', 60_000),
};
const SCHEDULE_MS = [0, 50, 100, 200];
const ENDED_STATUS: Record<string, string> = { [CANCELLED]: 'CANCELLED' };

const address = process.env.TEMPORAL_ADDRESS;
if (address === undefined) throw new Error('TEMPORAL_ADDRESS is missing: the address of a throw-away Temporal');

const taskQueue = `record-${process.pid}`;
const activities: DeliveryActivities & DeliveryEndActivities = {
  attemptDelivery: async ({ deliveryId, attempt, lastAttempt, waited }) =>
    BRANCHES[deliveryId]!(attempt, lastAttempt, waited?.turns ?? 0),
  giveUpDelivery: async () => {},
};
// The identity is part of a history; the default one names the machine.
const identity = 'recorder';
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection: await Connection.connect({ address }), identity });
const worker = await Worker.create({
  connection,
  taskQueue,
  identity,
  activities,
  workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
});

await worker.runUntil(async () => {
  for (const branch of Object.keys(BRANCHES)) {
    const path = fileURLToPath(new URL(`histories/deliver-webhook/${branch}.json`, import.meta.url));
    if (existsSync(path)) continue;
    const isCancelled = branch === CANCELLED;
    const isContinued = branch === CONTINUED;
    const input: DeliverWebhookInput = {
      deliveryId: branch,
      ladderMs: isCancelled ? [0, 50, 60_000] : SCHEDULE_MS,
      // One attempt and two waits.
      ...(isContinued && { eventsPerRun: 30 }),
    };
    const handle = await client.workflow.start(DELIVER_WEBHOOK_WORKFLOW, {
      workflowId: branch,
      taskQueue,
      args: [input],
    });
    if (isCancelled) {
      while ((await handle.query<{ state: string }, []>('status')).state !== 'waiting');
      await handle.cancel();
    }
    await handle.result().catch(() => {});
    const { status } = await handle.describe();
    if (status.name !== (ENDED_STATUS[branch] ?? 'COMPLETED')) throw new Error(`${branch} ended ${status.name}`);
    writeFileSync(path, `${historyToJSON(await handle.fetchHistory())}\n`);
    if (isContinued) {
      const first = client.workflow.getHandle(branch, handle.firstExecutionRunId);
      writeFileSync(path.replace(/\.json$/, '-first-run.json'), `${historyToJSON(await first.fetchHistory())}\n`);
    }
    console.log(`recorded ${path}`);
  }
});
await client.connection.close();
await connection.close();
