/**
 * An endpoint that hangs or fails does not delay the others: verified by counts, on a worker with few slots, whose
 * receivers respond when the test says so.
 */

import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import { DELIVER_WEBHOOK_WORKFLOW, type DeliveryActivities } from '../../src/contracts/deliver-webhook.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { openDatabase } from '../../src/database.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { createWebhookClient } from '../../src/webhooks/webhook-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testSealedSecrets } from '../support/sealed-secrets.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { startTestWorkers, type TestWorkers, workflowBundlePath } from '../support/workers.ts';
import {
  createDelivery,
  createEndpoint,
  createOwner,
  readAttempts,
  readDelivery,
  readEndpoint,
} from '../webhooks/delivery-fixture.ts';

const ATTEMPTS_AT_ONCE = 8;
const LIMITS = { endpoint: 3, organization: 5, failing: 4, exchangeMs: 300 };
const STUCK = 40;
const HEALTHY = 20;
const PROBING = 10;
/** The second attempt is never reached: a delivery without a slot waits for its turn. */
const SCHEDULE_MS = [0, 3_600_000, 3_600_000];

let database: TestDatabase;
let orm: MikroORM;
let temporal: TestNamespace;
let client: Client;
let workers: TestWorkers;
let stuck: WebhookReceiver;
let healthy: WebhookReceiver;
/** Ends the exchanges that the stuck receiver holds. */
let held: (() => void)[];
let outcomes: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 4 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  [stuck, healthy] = [await startWebhookReceiver(), await startWebhookReceiver()];
  held = [];
  outcomes = [];
  stuck.answerWith((response) => held.push(() => response.writeHead(200).end()));
  temporal = await createTestNamespace();
  client = new Client({
    connection: await Connection.connect({ address: temporal.address }),
    namespace: temporal.namespace,
  });
  const activities = createDeliveryActivities({
    orm,
    // Long enough for the test to decide when an exchange ends.
    webhookClient: createWebhookClient({ allowPrivateTargets: true, timeoutMs: 120_000 }),
    sealedSecrets: testSealedSecrets,
    logger: { info() {}, warn() {} },
    limits: LIMITS,
  });
  const watched: DeliveryActivities = {
    async attemptDelivery(input) {
      const attempt = await activities.attemptDelivery(input);
      outcomes.push(attempt.outcome);
      return attempt;
    },
  };
  workers = await startTestWorkers(temporal, [
    {
      taskQueue: TASK_QUEUES.webhooks,
      workflowBundle: { codePath: await workflowBundlePath() },
      activities: watched,
      maxConcurrentActivityTaskExecutions: ATTEMPTS_AT_ONCE,
    },
  ]);
});
afterEach(async () => {
  await Promise.all([stuck.close(), healthy.close()]);
  await workers.stop();
  await client.connection.close();
});

async function startDeliveries(receiver: WebhookReceiver, count: number, changes = {}) {
  const owner = await createOwner(orm);
  const endpointId = await createEndpoint(orm, owner, { url: receiver.url, ...changes });
  const deliveryIds: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { deliveryId } = await createDelivery(orm, owner, endpointId);
    deliveryIds.push(deliveryId);
    await client.workflow.start(DELIVER_WEBHOOK_WORKFLOW, {
      workflowId: deliveryId,
      taskQueue: TASK_QUEUES.webhooks,
      args: [{ deliveryId, ladderMs: SCHEDULE_MS }],
    });
  }
  return { endpointId, deliveryIds };
}

const finish = (deliveryIds: readonly string[]) =>
  Promise.all(deliveryIds.map((deliveryId) => client.workflow.getHandle(deliveryId).result()));

describe('an endpoint that hangs on more deliveries than the worker has slots', () => {
  it('a hanging endpoint holds its own slots only, and every delivery of another endpoint arrives', async () => {
    await startDeliveries(stuck, STUCK);
    await until(() => held.length === LIMITS.endpoint && outcomes.length >= ATTEMPTS_AT_ONCE);
    const { deliveryIds } = await startDeliveries(healthy, HEALTHY);
    await finish(deliveryIds);
    expect(healthy.deliveries).toHaveLength(HEALTHY);
    expect(held).toHaveLength(LIMITS.endpoint);
    expect(stuck.deliveries).toHaveLength(LIMITS.endpoint);
  });

  it('each delivery of a hanging endpoint arrives once, in one attempt, when the endpoint recovers', async () => {
    const { deliveryIds } = await startDeliveries(stuck, STUCK);
    await until(() => held.length === LIMITS.endpoint && outcomes.includes('wait'));
    stuck.answerWith(200);
    for (const release of held) release();
    await finish(deliveryIds);
    expect(stuck.deliveries).toHaveLength(STUCK);
    expect(new Set(stuck.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(STUCK);
    for (const deliveryId of deliveryIds) {
      expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered', nextAttemptAt: null });
      expect(await readAttempts(orm, deliveryId)).toMatchObject([{ attempt: 1 }]);
    }
  });
});

it('a failing endpoint is probed by one delivery at a time, and opened by the first success', async () => {
  const failing = { consecutiveFailures: 3, failingSince: new Date() };
  const { endpointId, deliveryIds } = await startDeliveries(stuck, PROBING, failing);
  await until(() => held.length === 1 && outcomes.includes('wait'));
  expect(stuck.deliveries).toHaveLength(1);
  held[0]?.();
  // The waiting deliveries now get slots together.
  await until(() => held.length > 2);
  expect(await readEndpoint(orm, endpointId)).toMatchObject({ consecutiveFailures: 0, failingSince: null });
  stuck.answerWith(200);
  for (const release of held.slice(1)) release();
  await finish(deliveryIds);
  expect(stuck.deliveries).toHaveLength(PROBING);
});
