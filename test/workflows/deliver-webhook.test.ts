import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { Client, Connection, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import {
  bundleWorkflowCode,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  type DeliverWebhookInput,
  type DeliveryActivities,
  type DeliveryAttempt,
  type DeliveryAttemptInput,
  WEBHOOK_LADDER_MS,
} from '../../src/contracts/deliver-webhook.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { type MikroORM, openDatabase } from '../../src/db/orm.ts';
import { createWebhookClient } from '../../src/delivery/webhook-client.ts';
import { newWebhookSecret, verifyServiceSignature } from '../../src/domain/webhook-signing.ts';
import type { DeliveryProgress } from '../../src/workflows/deliver-webhook.ts';
import {
  createDelivery,
  createEndpoint,
  createOwner,
  type Owner,
  readAttempts,
  readDelivery,
  readEndpoint,
} from '../delivery/delivery-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testSealedSecrets } from '../support/sealed-secrets.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { findTimeSkippingServer } from './time-skipping-server.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A rung of 30 seconds is never reached in these tests: a wait that long must be cut, or the test's limit ends it. */
const QUICK_LADDER_MS = [0, 20, 40, 60, 30_000];

let database: TestDatabase;
let orm: MikroORM;
let owner: Owner;
let workflowBundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  Runtime.install({ logger: silent });
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 4 });
  owner = await createOwner(orm);
  workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../src/workflows/index.ts', import.meta.url)),
    logger: silent,
  });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function activitiesWith(clock?: () => Date): DeliveryActivities {
  return createDeliveryActivities({
    orm,
    sealedSecrets: testSealedSecrets,
    webhookClient: createWebhookClient({ allowPrivateTargets: true }),
    logger: silent,
    ...(clock && { clock }),
  });
}

async function prepare(receiver: WebhookReceiver, secrets = [newWebhookSecret()]) {
  const webhookEndpointId = await createEndpoint(orm, owner, { url: receiver.url, secrets });
  return { webhookEndpointId, ...(await createDelivery(orm, owner, webhookEndpointId)) };
}

const start = (client: Client, deliveryId: string, ladderMs: readonly number[]) =>
  client.workflow.start<(input: DeliverWebhookInput) => Promise<DeliveryProgress>>(DELIVER_WEBHOOK_WORKFLOW, {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    args: [{ deliveryId, ladderMs }],
  });

describe('a delivery, on Temporal', () => {
  let client: Client;
  let connection: NativeConnection;
  let namespace: string;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    const test = await createTestNamespace();
    namespace = test.namespace;
    client = new Client({ connection: await Connection.connect({ address: test.address }), namespace });
    connection = await NativeConnection.connect({ address: test.address });
  });
  afterAll(async () => {
    await client.connection.close();
    await connection.close();
  });
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(() => receiver.close());

  const createWorker = (activities: DeliveryActivities = activitiesWith()) =>
    Worker.create({
      connection,
      namespace,
      workflowBundle,
      taskQueue: TASK_QUEUES.webhooks,
      activities,
      // Each worker stands for any: none waits for another that has the workflow in its cache.
      maxCachedWorkflows: 0,
    });

  const runToEnd = async (deliveryId: string, ladderMs: readonly number[] = QUICK_LADDER_MS) => {
    const worker = await createWorker();
    return worker.runUntil(async () => (await start(client, deliveryId, ladderMs)).result());
  };

  it('that is answered 2xx is made once, signed', async () => {
    const secret = newWebhookSecret();
    const { deliveryId, payload } = await prepare(receiver, [secret]);
    expect(await runToEnd(deliveryId)).toEqual({
      attempt: 1,
      attempts: 5,
      sent: 1,
      state: 'delivered',
      nextAttemptAt: null,
    });
    expect(receiver.deliveries).toHaveLength(1);
    const [delivery] = receiver.deliveries;
    expect(delivery?.rawBody).toBe(payload);
    const header = String(delivery?.headers['service-signature']);
    verifyServiceSignature({ header, body: payload, secret, nowSeconds: Date.now() / 1_000 });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered' });
  });

  it('that fails twice is made a third time, with the same event id', async () => {
    const { deliveryId, webhookEndpointId } = await prepare(receiver);
    const statuses = [500, 503, 200];
    receiver.answerWith((response) => response.writeHead(statuses.shift() ?? 200).end());
    expect(await runToEnd(deliveryId)).toMatchObject({ attempt: 3, state: 'delivered' });
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await readAttempts(orm, deliveryId)).toMatchObject([
      { attempt: 1, status_code: 500 },
      { attempt: 2, status_code: 503 },
      { attempt: 3, status_code: 200 },
    ]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 0, failingSince: null });
  });

  it('ends at 410', async () => {
    const { deliveryId, webhookEndpointId } = await prepare(receiver);
    receiver.answerWith(410);
    expect(await runToEnd(deliveryId)).toMatchObject({ attempt: 1, state: 'stopped' });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled' });
  });

  it('waits as long as Retry-After asks', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith((response) => {
      const first = receiver.deliveries.length === 1;
      response.writeHead(first ? 503 : 200, first ? { 'retry-after': '1' } : {}).end();
    });
    expect(await runToEnd(deliveryId)).toMatchObject({ attempt: 2, state: 'delivered' });
    const [first, second] = receiver.deliveries;
    expect((second?.receivedAtMs ?? 0) - (first?.receivedAtMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('makes its last attempt at the end of the ladder when Retry-After leads past it', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith((response) => response.writeHead(503, { 'retry-after': '3600' }).end());
    expect(await runToEnd(deliveryId, [0, 10, 20, 1_000])).toMatchObject({ attempt: 2, state: 'stopped' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });

  it('repeats an attempt that the service itself could not make', async () => {
    const { deliveryId } = await prepare(receiver);
    const real = activitiesWith();
    let calls = 0;
    const worker = await createWorker({
      attemptDelivery(input) {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('PostgreSQL is away')) : real.attemptDelivery(input);
      },
    });
    const result = await worker.runUntil(async () => (await start(client, deliveryId, QUICK_LADDER_MS)).result());
    expect(result).toMatchObject({ attempt: 1, state: 'delivered' });
    expect(await readAttempts(orm, deliveryId)).toHaveLength(1);
  });

  it('waits for its turn as the same attempt, for as long as the endpoint has no place', async () => {
    const { deliveryId } = await prepare(receiver);
    const real = activitiesWith();
    const inputs: DeliveryAttemptInput[] = [];
    const worker = await createWorker({
      attemptDelivery(input) {
        inputs.push(input);
        return inputs.length < 4 ? Promise.resolve({ outcome: 'wait', retryAfterMs: 20 }) : real.attemptDelivery(input);
      },
    });
    const result = await worker.runUntil(async () => (await start(client, deliveryId, QUICK_LADDER_MS)).result());
    expect(result).toMatchObject({ attempt: 1, state: 'delivered' });
    expect(inputs.map(({ attempt, hasWaited }) => ({ attempt, hasWaited }))).toEqual(
      [false, true, true, true].map((hasWaited) => ({ attempt: 1, hasWaited })),
    );
    expect(receiver.deliveries).toHaveLength(1);
  });

  it('goes on with another worker', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const first = await createWorker();
    const handle = await first.runUntil(async () => {
      const started = await start(client, deliveryId, [0, 300, 60_000]);
      await receiver.waitFor(() => true, 10_000);
      return started;
    });
    receiver.answerWith(200);
    const second = await createWorker();
    expect(await second.runUntil(handle.result())).toMatchObject({ attempt: 2, state: 'delivered' });
  });

  it('is given up at the end of the ladder, here a day scaled to 4 s, by an attempt that is made exactly there', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const result = await runToEnd(
      deliveryId,
      WEBHOOK_LADDER_MS.map((waitMs) => (waitMs * 4_000) / DAY_MS),
    );
    expect(result.state).toBe('stopped');
    const attempts = await readAttempts(orm, deliveryId);
    // An attempt and its tasks take real time, so not every rung of so short a ladder is reached.
    expect(attempts.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: result.attempt }, (_, index) => index + 1),
    );
    const { startTime } = await client.workflow.getHandle(deliveryId).describe();
    expect(Date.parse(attempts.at(-1)?.attempted_at ?? '') - startTime.getTime()).toBeGreaterThanOrEqual(4_000);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });

  describe('tells an operator of an attempt', () => {
    const detailsAfter = async (...answers: (DeliveryAttempt | Error)[]) => {
      const { deliveryId } = await prepare(receiver);
      const worker = await createWorker({
        attemptDelivery: ({ attempt }) => {
          const answer = answers[Math.min(attempt, answers.length) - 1] ?? new Error('no answer');
          return answer instanceof Error
            ? Promise.reject(ApplicationFailure.nonRetryable(answer.message))
            : Promise.resolve(answer);
        },
      });
      return worker.runUntil(async () => {
        const handle = await start(client, deliveryId, [0, 10]);
        const { sent } = await handle.result();
        const metadata = await handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
        return { sent, details: metadata.currentDetails };
      });
    };
    const failed: DeliveryAttempt = { outcome: 'retry', retryAfterMs: null, isSent: true, reason: 'HTTP 500' };

    it('that was left out, and why: it claims none that was not sent', async () => {
      const reason = 'the endpoint is disabled';
      expect(await detailsAfter(failed, { outcome: 'stop', retryAfterMs: null, isSent: false, reason })).toEqual({
        sent: 1,
        details: 'Ended **stopped**. Attempt 2 of 2 was left out: the endpoint is disabled.',
      });
    });

    it('that nobody could record', async () => {
      expect(await detailsAfter(failed, new Error('PostgreSQL is away'))).toEqual({
        sent: 1,
        details:
          'Ended **stopped**. Attempt 2 of 2 could not be recorded: the webhook workers or PostgreSQL were away.',
      });
    });

    it('that was answered, and with what', async () => {
      expect(
        await detailsAfter(failed, { outcome: 'delivered', retryAfterMs: null, isSent: true, reason: 'HTTP 204' }),
      ).toEqual({ sent: 2, details: 'Ended **delivered**. Attempt 2 of 2 was answered: HTTP 204.' });
    });

    it('as a worker of an earlier release reports it', async () => {
      expect(await detailsAfter({ outcome: 'stop', retryAfterMs: null })).toEqual({
        sent: 1,
        details: 'Ended **stopped**. Attempt 1 of 2 failed.',
      });
    });
  });

  it('whose workflow an operator cancels while it waits ends failed, and nothing more is sent', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const worker = await createWorker();
    await worker.runUntil(async () => {
      const handle = await start(client, deliveryId, [0, HOUR_MS, HOUR_MS]);
      await untilWaiting(handle);
      await handle.cancel();
      await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
      expect((await handle.describe()).status.name).toBe('CANCELLED');
    });
    expect(receiver.deliveries).toHaveLength(1);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', nextAttemptAt: null });
  });

  it('tells an operator where it is', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const worker = await createWorker();
    await worker.runUntil(async () => {
      const handle = await start(client, deliveryId, [0, HOUR_MS]);
      const progress = await untilWaiting(handle);
      expect(progress).toMatchObject({ attempt: 1, attempts: 2, state: 'waiting' });
      const metadata = await handle.query<{ currentDetails?: string }, []>('__temporal_workflow_metadata');
      expect(metadata.currentDetails).toBe(
        `Attempt 1 of 2 failed: HTTP 500. Next attempt at **${progress.nextAttemptAt ?? 'never'}**.`,
      );
      const { events } = await handle.fetchHistory();
      const summaries = events?.map(({ userMetadata }) => userMetadata?.summary?.data?.toString()).filter(Boolean);
      expect(summaries).toEqual(['"attempt 1 of 2"', `"until attempt 2 at ${progress.nextAttemptAt ?? 'never'}"`]);
      await handle.terminate();
    });
  });
});

/** Each query is one round trip to the worker; the state changes within a few. */
async function untilWaiting(handle: WorkflowHandle): Promise<DeliveryProgress> {
  for (;;) {
    const progress = await handle.query<DeliveryProgress, []>('status');
    if (progress.state === 'waiting') return progress;
  }
}

const timeSkippingServer = findTimeSkippingServer();
if ('path' in timeSkippingServer) {
  describe('a day of deliveries, in virtual time', () => {
    overADay(timeSkippingServer.path);
  });
} else {
  console.warn(`No day in virtual time: ${timeSkippingServer.unavailable}. Only the scaled ladder is tried.`);
}

function overADay(path: string): void {
  let receiver: WebhookReceiver;
  let client: Client;
  const clock = () => new Date(Context.current().info.currentAttemptScheduledTimestampMs);
  let createWorker: (activities: DeliveryActivities) => Promise<Worker>;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path } },
    });
    client = environment.client;
    close = () => environment.teardown();
    createWorker = (activities) =>
      Worker.create({
        connection: environment.nativeConnection,
        namespace: environment.namespace ?? 'default',
        workflowBundle,
        taskQueue: TASK_QUEUES.webhooks,
        activities,
      });
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await receiver.close();
    await close();
  });

  it('that all fail ends 24 h after the first attempt, and disables the endpoint; one that succeeds at last saves it', async () => {
    const failing = await prepare(receiver);
    const recovering = await prepare(receiver);
    const attemptsOf = (eventId: unknown) =>
      receiver.deliveries.filter(({ headers }) => headers['webhook-id'] === eventId).length;
    receiver.answerWith((response, { headers }) => {
      const eventId = headers['webhook-id'];
      response.writeHead(eventId === recovering.eventId && attemptsOf(eventId) === 14 ? 200 : 500).end();
    });

    const worker = await createWorker(activitiesWith(clock));
    await worker.runUntil(async () => {
      const [first, second] = [
        await start(client, failing.deliveryId, WEBHOOK_LADDER_MS),
        await start(client, recovering.deliveryId, WEBHOOK_LADDER_MS),
      ];
      expect(await first.result()).toMatchObject({ attempt: 14, attempts: 14, state: 'stopped' });
      expect(await second.result()).toMatchObject({ attempt: 14, attempts: 14, state: 'delivered' });
    });

    const attempts = await readAttempts(orm, failing.deliveryId);
    expect(attempts).toHaveLength(14);
    const [firstAt = 0, ...laterAt] = attempts.map((attempt) => Date.parse(attempt.attempted_at));
    const lastAfterMs = (laterAt.at(-1) ?? 0) - firstAt;
    expect(Math.abs(lastAfterMs - DAY_MS)).toBeLessThan(5_000);
    expect(await readDelivery(orm, failing.deliveryId)).toMatchObject({ status: 'failed' });
    expect(await readEndpoint(orm, failing.webhookEndpointId)).toMatchObject({
      status: 'disabled',
      consecutiveFailures: 14,
      lastError: 'HTTP 500',
    });

    expect(await readDelivery(orm, recovering.deliveryId)).toMatchObject({ status: 'delivered' });
    expect(await readEndpoint(orm, recovering.webhookEndpointId)).toMatchObject({
      status: 'enabled',
      consecutiveFailures: 0,
      failingSince: null,
    });
  });

  it('survives an absent PostgreSQL: it costs rungs of the ladder, and never the last attempt', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const real = activitiesWith(clock);
    const calls: number[] = [];
    const worker = await createWorker({
      attemptDelivery(input) {
        calls.push(input.attempt);
        const away = input.attempt === 1 || (input.lastAttempt && calls.length < 20);
        return away ? Promise.reject(new Error('PostgreSQL is away')) : real.attemptDelivery(input);
      },
    });
    const ladder = [0, HOUR_MS, HOUR_MS];
    const result = await worker.runUntil(async () => (await start(client, deliveryId, ladder)).result());
    expect(result).toMatchObject({ attempt: 3, state: 'stopped' });
    expect(calls).toEqual([1, 1, 1, 1, 2, ...Array.from({ length: 15 }, () => 3)]);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });
}
