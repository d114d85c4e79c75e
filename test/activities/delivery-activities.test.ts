import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import {
  type DeliveryActivities,
  type DeliveryAttemptInput,
  WEBHOOK_LADDER_MS,
} from '../../src/contracts/deliver-webhook.ts';
import { type MikroORM, openDatabase, query } from '../../src/db/orm.ts';
import { DeliveryError } from '../../src/delivery/delivery-error.ts';
import type { WebhookAnswer, WebhookMessage } from '../../src/delivery/webhook-client.ts';
import { newWebhookSecret, verifyServiceSignature } from '../../src/domain/webhook-signing.ts';
import {
  createDelivery,
  createEndpoint,
  createOwner,
  LIVE,
  type Owner,
  readAttempts,
  readDelivery,
  readEndpoint,
} from '../delivery/delivery-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testSealedSecrets } from '../support/sealed-secrets.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
/** From the first attempt on, which is made at once. */
const attemptOf = (attempt: number, changes: Partial<DeliveryAttemptInput> = {}) => ({
  attempt,
  lastAttempt: false,
  hasWaited: false,
  schedule: { ladderMs: WEBHOOK_LADDER_MS, firstAttemptAtMs: now.getTime(), random: 0 },
  ...changes,
});

let database: TestDatabase;
let orm: MikroORM;
let owner: Owner;
/** What the receiver was sent, and how it answers. */
let sent: WebhookMessage[];
let answer: () => Promise<WebhookAnswer>;
let now: Date;
let logged: string;
let activities: DeliveryActivities;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 4 });
  owner = await createOwner(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

beforeEach(() => {
  sent = [];
  logged = '';
  now = new Date();
  answerWith(200);
  const log = (...entry: unknown[]) => {
    logged += JSON.stringify(entry);
  };
  activities = createDeliveryActivities({
    orm,
    sealedSecrets: testSealedSecrets,
    clock: () => now,
    random: () => 0.5,
    logger: { info: log, warn: log },
    webhookClient: {
      post(message) {
        sent.push(message);
        return answer();
      },
    },
  });
});

function answerWith(statusCode: number, retryAfter?: string) {
  answer = async () => ({ statusCode, retryAfter });
}

/** None is answered before all have been sent. */
function answerTogether(count: number, statusCode: number) {
  answer = async () => {
    await until(() => sent.length === count);
    return { statusCode, retryAfter: undefined };
  };
}

async function prepare(changes: Parameters<typeof createEndpoint>[2] = {}) {
  const webhookEndpointId = await createEndpoint(orm, owner, changes);
  return { webhookEndpointId, ...(await createDelivery(orm, owner, webhookEndpointId)) };
}

describe('an attempt that is answered 2xx', () => {
  it('ends the delivery, is recorded, and makes the endpoint healthy', async () => {
    const { deliveryId, webhookEndpointId } = await prepare({ failingSince: new Date(now.getTime() - HOUR_MS) });
    answerWith(202);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
      outcome: 'delivered',
      retryAfterMs: null,
      isSent: true,
      reason: 'HTTP 202',
    });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered', completedAt: now });
    expect(await readAttempts(orm, deliveryId)).toMatchObject([{ attempt: 1, status_code: 202, error: null }]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({
      consecutiveFailures: 0,
      failingSince: null,
      lastSuccessAt: now,
    });
  });

  it('is signed with the newest secret alone once the one before has expired', async () => {
    const [secret, expired] = [newWebhookSecret(), newWebhookSecret()];
    const { deliveryId, payload } = await prepare({ secrets: [secret, expired], previousSecretExpiresAt: now });
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    const header = sent[0]?.headers['service-signature'];
    expect(header?.match(/v1=/g)).toHaveLength(1);
    verifyServiceSignature({ header, body: payload, secret, nowSeconds: now.getTime() / 1_000 });
  });

  it('proves that the workflow runs', async () => {
    const { deliveryId } = await prepare();
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    expect((await readDelivery(orm, deliveryId)).workflowStartedAt).not.toBeNull();
  });

  it('carried the exact payload, signed in both forms with every active secret', async () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    const { deliveryId, eventId, payload } = await prepare({ secrets, url: 'https://receiver.example/a?b' });
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    const [message] = sent;
    expect(message).toMatchObject({
      url: 'https://receiver.example/a?b',
      body: payload,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'vehicle-inference-service-webhooks/1',
        'webhook-id': eventId,
      },
    });
    for (const secret of secrets) {
      const header = message?.headers['service-signature'];
      verifyServiceSignature({ header, body: payload, secret, nowSeconds: now.getTime() / 1_000 });
      expect(new Webhook(secret).verify(payload, { ...message?.headers })).toEqual(JSON.parse(payload));
    }
  });
});

describe('an attempt that fails', () => {
  it.each([301, 404, 500])('by %d is recorded with the status and tried again', async (statusCode) => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(statusCode);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
      outcome: 'retry',
      retryAfterMs: null,
      isSent: true,
      reason: `HTTP ${statusCode}`,
    });
    const nextAttemptAt = new Date(now.getTime() + 5_000);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'pending', completedAt: null, nextAttemptAt });
    const error = `HTTP ${statusCode}`;
    expect(await readAttempts(orm, deliveryId)).toMatchObject([{ attempt: 1, status_code: statusCode, error }]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({
      status: 'enabled',
      consecutiveFailures: 1,
      failingSince: now,
      lastSuccessAt: null,
      lastError: error,
    });
  });

  it('without an answer is recorded with its cause', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answer = () => Promise.reject(new DeliveryError('timeout', { cause: new Error('10.0.0.7 said nothing') }));
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'retry' });
    const error = 'no complete answer in time';
    expect(await readAttempts(orm, deliveryId)).toMatchObject([{ status_code: null, error }]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ lastError: error });
  });

  it('hands on the pause the receiver asks for', async () => {
    const { deliveryId } = await prepare();
    answerWith(429, '90');
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
      outcome: 'retry',
      retryAfterMs: 90_000,
      isSent: true,
      reason: 'HTTP 429',
    });
  });

  it('as the last of its ladder ends the delivery', async () => {
    const { deliveryId } = await prepare();
    answerWith(500);
    const outcome = await activities.attemptDelivery({ deliveryId, ...attemptOf(14, { lastAttempt: true }) });
    expect(outcome.outcome).toBe('stop');
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', completedAt: now });
  });

  it('by the service itself throws, records nothing, and can be repeated', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answer = () => Promise.reject(new Error('a mistake in the client'));
    await expect(activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).rejects.toThrow(
      'a mistake in the client',
    );
    expect(await readAttempts(orm, deliveryId)).toEqual([]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 0 });
    answerWith(200);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'delivered' });
  });
});

describe('an endpoint', () => {
  it('is disabled at once by 410, and its delivery ends', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(410);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled', lastError: 'HTTP 410' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });

  it('is disabled by a failure after a day of failures, and not before', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    const start = now;
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    now = new Date(start.getTime() + 23.9 * HOUR_MS);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(2) })).toMatchObject({
      outcome: 'retry',
    });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'enabled', failingSince: start });
    now = new Date(start.getTime() + 24 * HOUR_MS);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(3) })).toMatchObject({
      outcome: 'stop',
    });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled', consecutiveFailures: 3 });
  });

  it('stays enabled when a success at 23:59 came in between', async () => {
    const { deliveryId: failing, webhookEndpointId } = await prepare();
    const { deliveryId: other } = await createDelivery(orm, owner, webhookEndpointId);
    const start = now;
    answerWith(500);
    await activities.attemptDelivery({ deliveryId: failing, ...attemptOf(1) });
    now = new Date(start.getTime() + 24 * HOUR_MS - 60_000);
    answerWith(200);
    await activities.attemptDelivery({ deliveryId: other, ...attemptOf(1) });
    now = new Date(start.getTime() + 24 * HOUR_MS);
    answerWith(500);
    await activities.attemptDelivery({ deliveryId: failing, ...attemptOf(14, { lastAttempt: true }) });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({
      status: 'enabled',
      consecutiveFailures: 1,
      failingSince: now,
    });
  });

  it('is disabled once by deliveries that fail together', async () => {
    const { webhookEndpointId } = await prepare({ failingSince: new Date(now.getTime() - 24 * HOUR_MS) });
    answerTogether(10, 500);
    const deliveries = await Promise.all(
      Array.from({ length: 10 }, () => createDelivery(orm, owner, webhookEndpointId)),
    );
    await Promise.all(deliveries.map(({ deliveryId }) => activities.attemptDelivery({ deliveryId, ...attemptOf(1) })));
    expect(logged.match(/webhook endpoint disabled/g)).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled' });
  });

  it('counts every failure of deliveries that fail at the same time', async () => {
    const { webhookEndpointId } = await prepare();
    answerTogether(20, 500);
    const deliveries = await Promise.all(
      Array.from({ length: 20 }, () => createDelivery(orm, owner, webhookEndpointId)),
    );
    await Promise.all(deliveries.map(({ deliveryId }) => activities.attemptDelivery({ deliveryId, ...attemptOf(1) })));
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 20 });
  });
});

describe('an attempt for which the endpoint has no place', () => {
  const HOUR_LADDER = { ladderMs: [0, HOUR_MS, HOUR_MS], random: 0 };
  const inAnHour = (changes: Partial<DeliveryAttemptInput> = {}) =>
    attemptOf(1, { schedule: { ...HOUR_LADDER, firstAttemptAtMs: now.getTime() }, ...changes });
  let release: () => void;

  /** An endpoint that fails, whose one place is taken. */
  async function prepareBusy() {
    const { promise, resolve } = Promise.withResolvers<WebhookAnswer>();
    release = () => resolve({ statusCode: 500, retryAfter: undefined });
    answer = () => promise;
    const { webhookEndpointId, deliveryId } = await prepare({ consecutiveFailures: 2, failingSince: now });
    const busy = activities.attemptDelivery({ deliveryId, ...inAnHour() });
    await until(() => sent.length === 1);
    return { webhookEndpointId, busy };
  }

  it('is not made, not counted, and told when to come back', async () => {
    const { webhookEndpointId, busy } = await prepareBusy();
    const { deliveryId } = await createDelivery(orm, owner, webhookEndpointId);
    const waiting = await activities.attemptDelivery({ deliveryId, ...inAnHour() });
    expect(waiting).toEqual({ outcome: 'wait', retryAfterMs: 10_000, isSent: false });
    expect(sent).toHaveLength(1);
    expect(await readAttempts(orm, deliveryId)).toEqual([]);
    const nextAttemptAt = new Date(now.getTime() + 10_000);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'pending', nextAttemptAt });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 2 });

    release();
    await busy;
    answerWith(200);
    expect(await activities.attemptDelivery({ deliveryId, ...inAnHour({ hasWaited: true }) })).toMatchObject({
      outcome: 'delivered',
    });
  });

  it('within five minutes, nor before its next rung, is left out, as if it had failed', async () => {
    const { webhookEndpointId, busy } = await prepareBusy();
    for (let turn = 1; turn <= 30; turn += 1) {
      const { deliveryId } = await createDelivery(orm, owner, webhookEndpointId);
      expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'wait' });
    }
    const { deliveryId } = await createDelivery(orm, owner, webhookEndpointId);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
      outcome: 'retry',
      retryAfterMs: 450_000,
      isSent: false,
      reason: 'too many other deliveries were waiting for this endpoint',
    });
    expect(await readAttempts(orm, deliveryId)).toEqual([]);
    // Once and a half the five minutes that it would have waited.
    const nextAttemptAt = new Date(now.getTime() + 450_000);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'pending', nextAttemptAt });
    release();
    await busy;
  });

  it('and which is the last ends its delivery, and says so, after an hour in line', async () => {
    const { webhookEndpointId, busy } = await prepareBusy();
    const { deliveryId } = await createDelivery(orm, owner, webhookEndpointId);
    const last = attemptOf(14, { lastAttempt: true, hasWaited: true });
    // 360 turns of 10 seconds.
    for (let turn = 1; turn <= 360; turn += 1) {
      const { outcome } = await activities.attemptDelivery({ deliveryId, ...last });
      if (outcome !== 'wait') throw new Error(`turn ${turn}: ${outcome}`);
    }
    expect(await activities.attemptDelivery({ deliveryId, ...last })).toMatchObject({ outcome: 'stop' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', nextAttemptAt: null });
    expect(await readAttempts(orm, deliveryId)).toMatchObject([
      { attempt: 14, status_code: null, error: expect.stringMatching(/^not sent:/) },
    ]);
    release();
    await busy;
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'enabled', consecutiveFailures: 3 });
  });
});

describe('nothing is sent', () => {
  it('to a disabled endpoint: the delivery fails', async () => {
    const { deliveryId } = await prepare({ status: 'disabled' });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
      outcome: 'stop',
      retryAfterMs: null,
      isSent: false,
      reason: 'the endpoint is disabled',
    });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', completedAt: now });
    expect(sent).toEqual([]);
  });

  it('to a deleted endpoint', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    await query(orm.em.fork(), 'delete from webhook_endpoints where id = $1', [webhookEndpointId]);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['test', { livemode: false }],
    ['staging', { isStaging: true }],
  ])('to a %s endpoint of a live event', async (_mode, mode) => {
    const { deliveryId } = await prepare(mode);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
    expect(sent).toEqual([]);
  });

  it('to another organisation', async () => {
    const stranger = await createOwner(orm, LIVE);
    const { deliveryId } = await createDelivery(orm, owner, await createEndpoint(orm, stranger));
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(sent).toEqual([]);
  });
});

describe('a worker that was lost after its commit and before its report', () => {
  it('costs no second message and no second count after a success', async () => {
    const { deliveryId } = await prepare();
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'delivered' });
    expect(sent).toHaveLength(1);
  });

  it('costs no second message and no second count after a failure', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'retry' });
    expect(sent).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 1 });
  });

  it('reports the end when the last attempt had failed', async () => {
    const { deliveryId } = await prepare();
    answerWith(500);
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1, { lastAttempt: true }) });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1, { lastAttempt: true }) })).toMatchObject({
      outcome: 'stop',
    });
    expect(sent).toHaveLength(1);
  });

  it('and still runs beside its successor counts once', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    await Promise.all([
      activities.attemptDelivery({ deliveryId, ...attemptOf(1) }),
      activities.attemptDelivery({ deliveryId, ...attemptOf(1) }),
    ]);
    expect(await readAttempts(orm, deliveryId)).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 1 });
  });
});

it('neither secrets, payloads nor URLs are logged', async () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const { deliveryId, payload } = await prepare({ secrets, url: 'https://receiver.example/?token=very-secret' });
  answerWith(410);
  await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
  expect(logged).toContain(deliveryId);
  for (const confidential of [...secrets, payload, 'größer', 'very-secret', 'v1=']) {
    expect(logged).not.toContain(confidential);
  }
});
