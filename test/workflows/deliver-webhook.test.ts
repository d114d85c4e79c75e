import { tmpdir } from 'node:os';
import { Context } from '@temporalio/activity';
import { Client, Connection, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TIME_SKIPPING_SERVER_PATH } from '../../scripts/install-time-skipping-server.ts';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import { verifyWebhook } from '../../src/client/index.ts';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  type DeliverWebhookInput,
  type DeliveryActivities,
  type DeliveryAttempt,
  type DeliveryAttemptInput,
} from '../../src/contracts/deliver-webhook.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { openDatabase } from '../../src/database.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import { DELIVERY_BACKOFF_MS } from '../../src/webhooks/backoff-schedule.ts';
import { newWebhookSecret } from '../../src/webhooks/signing.ts';
import { createWebhookClient } from '../../src/webhooks/webhook-client.ts';
import { sweepOutbox } from '../../src/workers/sweeper.ts';
import type { DeliveryProgress } from '../../src/workflows/deliver-webhook.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordLog } from '../support/log-record.ts';
import { describeWith } from '../support/needs.ts';
import { testSealedSecrets } from '../support/sealed-secrets.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { installQuietRuntime } from '../support/temporal-runtime.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { workflowBundlePath } from '../support/workers.ts';
import {
  createDelivery,
  createEndpoint,
  createOwner,
  type Owner,
  readAttempts,
  readDelivery,
  readEndpoint,
} from '../webhooks/delivery-fixture.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The wait of 30 seconds is never reached: a test that gets there times out. */
const QUICK_SCHEDULE_MS = [0, 20, 40, 60, 30_000];

let database: TestDatabase;
let orm: MikroORM;
let owner: Owner;
let workflowBundle: { codePath: string };

beforeAll(async () => {
  installQuietRuntime();
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 4 });
  owner = await createOwner(orm);
  workflowBundle = { codePath: await workflowBundlePath() };
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

const start = (
  client: Client,
  deliveryId: string,
  ladderMs: readonly number[],
  options: Pick<DeliverWebhookInput, 'eventsPerRun'> = {},
) =>
  client.workflow.start<(input: DeliverWebhookInput) => Promise<DeliveryProgress>>(DELIVER_WEBHOOK_WORKFLOW, {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    args: [{ deliveryId, ladderMs, ...options }],
  });

describe('a delivery on Temporal', () => {
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
      // No worker waits for another that has the workflow in its cache.
      maxCachedWorkflows: 0,
    });

  const runToEnd = async (deliveryId: string, ladderMs: readonly number[] = QUICK_SCHEDULE_MS) => {
    const worker = await createWorker();
    return worker.runUntil(async () => (await start(client, deliveryId, ladderMs)).result());
  };

  it('a delivery with a 2xx response is sent once, signed', async () => {
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
    await verifyWebhook({ signature: header, body: payload, secret });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered' });
  });

  it('a delivery that fails twice is sent a third time, with the same event id', async () => {
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

  it('a response of 410 ends a delivery and disables its endpoint', async () => {
    const { deliveryId, webhookEndpointId } = await prepare(receiver);
    receiver.answerWith(410);
    expect(await runToEnd(deliveryId)).toMatchObject({ attempt: 1, state: 'stopped' });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled' });
  });

  it('a delivery waits as long as Retry-After requests', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith((response) => {
      const first = receiver.deliveries.length === 1;
      response.writeHead(first ? 503 : 200, first ? { 'retry-after': '1' } : {}).end();
    });
    expect(await runToEnd(deliveryId)).toMatchObject({ attempt: 2, state: 'delivered' });
    const [first, second] = receiver.deliveries;
    expect((second?.receivedAtMs ?? 0) - (first?.receivedAtMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('a delivery makes its last attempt at the end of the schedule when Retry-After leads past it', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith((response) => response.writeHead(503, { 'retry-after': '3600' }).end());
    expect(await runToEnd(deliveryId, [0, 10, 20, 1_000])).toMatchObject({ attempt: 2, state: 'stopped' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });

  it('a delivery repeats an attempt that failed in the service itself', async () => {
    const { deliveryId } = await prepare(receiver);
    const real = activitiesWith();
    let calls = 0;
    const worker = await createWorker({
      attemptDelivery(input) {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('PostgreSQL is away')) : real.attemptDelivery(input);
      },
    });
    const result = await worker.runUntil(async () => (await start(client, deliveryId, QUICK_SCHEDULE_MS)).result());
    expect(result).toMatchObject({ attempt: 1, state: 'delivered' });
    expect(await readAttempts(orm, deliveryId)).toHaveLength(1);
  });

  it('a delivery waits for its turn as the same attempt until a slot is free', async () => {
    const { deliveryId } = await prepare(receiver);
    const real = activitiesWith();
    const inputs: DeliveryAttemptInput[] = [];
    const worker = await createWorker({
      attemptDelivery(input) {
        inputs.push(input);
        return inputs.length < 4 ? Promise.resolve({ outcome: 'wait', retryAfterMs: 20 }) : real.attemptDelivery(input);
      },
    });
    const result = await worker.runUntil(async () => (await start(client, deliveryId, QUICK_SCHEDULE_MS)).result());
    expect(result).toMatchObject({ attempt: 1, state: 'delivered' });
    expect(inputs.map(({ attempt, hasWaited }) => ({ attempt, hasWaited }))).toEqual(
      [false, true, true, true].map((hasWaited) => ({ attempt: 1, hasWaited })),
    );
    expect(receiver.deliveries).toHaveLength(1);
  });

  it('a delivery continues as new before a long wait for its turn fills its history, and counts its waits in sum', async () => {
    const TURNS = 10;
    const eventsPerRun = 60;
    const { deliveryId } = await prepare(receiver);
    const real = activitiesWith();
    const inputs: DeliveryAttemptInput[] = [];
    const worker = await createWorker({
      attemptDelivery(input) {
        inputs.push(input);
        return inputs.length <= TURNS
          ? Promise.resolve({ outcome: 'wait', retryAfterMs: 1 })
          : real.attemptDelivery(input);
      },
    });
    const handle = await worker.runUntil(async () => {
      const started = await start(client, deliveryId, QUICK_SCHEDULE_MS, { eventsPerRun });
      expect(await started.result()).toMatchObject({ attempt: 1, sent: 1, state: 'delivered' });
      return started;
    });
    expect(inputs.map(({ attempt, hasWaited, waited }) => ({ attempt, hasWaited, turns: waited?.turns }))).toEqual(
      Array.from({ length: TURNS + 1 }, (_, turns) => ({ attempt: 1, hasWaited: turns > 0, turns })),
    );
    const waitedMs = inputs.map(({ waited }) => waited?.ms ?? 0);
    expect(waitedMs).toEqual(waitedMs.toSorted((one, other) => one - other));
    expect(waitedMs.at(-1)).toBeGreaterThanOrEqual(TURNS);

    const { firstExecutionRunId } = handle;
    const first = client.workflow.getHandle(deliveryId, firstExecutionRunId);
    expect((await first.describe()).status.name).toBe('CONTINUED_AS_NEW');
    for (const run of [first, client.workflow.getHandle(deliveryId)]) {
      const { events } = await run.fetchHistory();
      expect(events?.length).toBeLessThan(eventsPerRun + 20);
    }
  });

  it('a delivery continues on another worker', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const first = await createWorker();
    const handle = await first.runUntil(async () => {
      const started = await start(client, deliveryId, [0, 300, 60_000]);
      await receiver.waitFor(() => true, 45_000);
      receiver.answerWith(200);
      return started;
    });
    const second = await createWorker();
    expect(await second.runUntil(handle.result())).toMatchObject({ attempt: 2, state: 'delivered' });
  });

  it('a delivery makes its last attempt no earlier than the end of the schedule, here a day scaled to 4 s', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const result = await runToEnd(
      deliveryId,
      DELIVERY_BACKOFF_MS.map((waitMs) => (waitMs * 4_000) / DAY_MS),
    );
    expect(result.state).toBe('stopped');
    const attempts = await readAttempts(orm, deliveryId);
    // An attempt and its tasks take real time, so a schedule this short skips some attempts.
    expect(attempts.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: result.attempt }, (_, index) => index + 1),
    );
    const { startTime } = await client.workflow.getHandle(deliveryId).describe();
    expect(Date.parse(attempts.at(-1)?.attempted_at ?? '') - startTime.getTime()).toBeGreaterThanOrEqual(4_000);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });

  describe('the attempts that an operator sees', () => {
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

    it('an operator sees that an attempt was skipped, and why, and it does not count as sent', async () => {
      const reason = 'the endpoint is disabled';
      expect(await detailsAfter(failed, { outcome: 'stop', retryAfterMs: null, isSent: false, reason })).toEqual({
        sent: 1,
        details: '**Stopped**. Attempt 2 of 2 was skipped: the endpoint is disabled.',
      });
    });

    it('an operator sees that an attempt could not be recorded', async () => {
      expect(await detailsAfter(failed, new Error('PostgreSQL is away'))).toEqual({
        sent: 1,
        details:
          '**Stopped**. Attempt 2 of 2 could not be recorded: the webhook workers or PostgreSQL were unavailable.',
      });
    });

    it('an operator sees that an attempt succeeded, with its status', async () => {
      expect(
        await detailsAfter(failed, { outcome: 'delivered', retryAfterMs: null, isSent: true, reason: 'HTTP 204' }),
      ).toEqual({ sent: 2, details: '**Delivered**. Attempt 2 of 2 succeeded: HTTP 204.' });
    });

    it('an operator sees that an attempt failed, even if a worker of an earlier release reports it', async () => {
      expect(await detailsAfter({ outcome: 'stop', retryAfterMs: null })).toEqual({
        sent: 1,
        details: '**Stopped**. Attempt 1 of 2 failed.',
      });
    });
  });

  it('a delivery ends failed, and sends nothing more, when an operator cancels its waiting workflow', async () => {
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

  it('the sweeper restarts a delivery after its next attempt was due when an operator terminated its workflow', async () => {
    const { deliveryId } = await prepare(receiver);
    receiver.answerWith(500);
    const worker = await createWorker();
    await worker.runUntil(async () => {
      const handle = await start(client, deliveryId, DELIVERY_BACKOFF_MS);
      await receiver.waitFor(() => true, 45_000);
      await until(async () => (await readAttempts(orm, deliveryId)).length === 1);
      await handle.terminate();
      const { nextAttemptAt } = await readDelivery(orm, deliveryId);
      if (nextAttemptAt === null) throw new Error('the next attempt has no time');

      receiver.answerWith(200);
      const store = createDiskStore(tmpdir());
      const { logger } = recordLog();
      const sweepAt = (time: Date) => sweepOutbox({ orm, temporal: client, store, logger, clock: () => time });
      await sweepAt(nextAttemptAt);
      expect((await handle.describe()).status.name).toBe('TERMINATED');
      await sweepAt(new Date(nextAttemptAt.getTime() + 11 * 60_000));
      expect(await client.workflow.getHandle(deliveryId).result()).toEqual({
        attempt: 2,
        attempts: DELIVERY_BACKOFF_MS.length,
        sent: 2,
        state: 'delivered',
        nextAttemptAt: null,
      });
    });
    expect(receiver.deliveries).toHaveLength(2);
    expect(await readAttempts(orm, deliveryId)).toMatchObject([
      { attempt: 1, status_code: 500 },
      { attempt: 2, status_code: 200 },
    ]);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered' });
  });

  it('a delivery shows an operator its progress', async () => {
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

describeWith('timeSkippingServer', 'a day of deliveries, in virtual time', () => {
  overADay();
});

function overADay(): void {
  let receiver: WebhookReceiver;
  let client: Client;
  const clock = () => new Date(Context.current().info.currentAttemptScheduledTimestampMs);
  let createWorker: (activities: DeliveryActivities) => Promise<Worker>;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const environment = await startTimeSkippingServer();
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
  }, 240_000);
  afterAll(async () => {
    await receiver.close();
    await close();
  });

  it('attempts that all fail end after 24 h and disable the endpoint; a last one that succeeds keeps it enabled', async () => {
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
        await start(client, failing.deliveryId, DELIVERY_BACKOFF_MS),
        await start(client, recovering.deliveryId, DELIVERY_BACKOFF_MS),
      ];
      expect(await first.result()).toMatchObject({ attempt: 14, attempts: 14, state: 'stopped' });
      expect(await second.result()).toMatchObject({ attempt: 14, attempts: 14, state: 'delivered' });
    });

    const attempts = await readAttempts(orm, failing.deliveryId);
    expect(attempts).toHaveLength(14);
    const [firstAt = 0, ...laterAt] = attempts.map((attempt) => Date.parse(attempt.attempted_at));
    const lastAfterMs = (laterAt.at(-1) ?? 0) - firstAt;
    expect(Math.abs(lastAfterMs - DAY_MS)).toBeLessThan(60_000);
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

  it('an outage of PostgreSQL costs a delivery attempts of its schedule, never the last one', async () => {
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
    const schedule = [0, HOUR_MS, HOUR_MS];
    const result = await worker.runUntil(async () => (await start(client, deliveryId, schedule)).result());
    expect(result).toMatchObject({ attempt: 3, state: 'stopped' });
    expect(calls).toEqual([1, 1, 1, 1, 2, ...Array.from({ length: 15 }, () => 3)]);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });
}

const STARTS = 5;

/** The SDK allows the server five seconds to start, which a JVM on a loaded machine may exceed. */
async function startTimeSkippingServer(): Promise<TestWorkflowEnvironment> {
  for (let start = 1; ; start += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path: TIME_SKIPPING_SERVER_PATH } },
      });
    } catch (error) {
      if (start === STARTS || !/did not start within/.test(String(error))) throw error;
    }
  }
}
