import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import { verifyWebhook } from '../../src/client/index.ts';
import type { DeliveryActivities, DeliveryAttemptInput } from '../../src/contracts/deliver-webhook.ts';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { DELIVERY_BACKOFF_MS } from '../../src/webhooks/backoff-schedule.ts';
import { DeliveryError } from '../../src/webhooks/delivery-error.ts';
import { newWebhookSecret } from '../../src/webhooks/signing.ts';
import type { WebhookMessage, WebhookResponse } from '../../src/webhooks/webhook-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testSealedSecrets } from '../support/sealed-secrets.ts';
import { until } from '../support/until.ts';
import {
  createDelivery,
  createEndpoint,
  createOwner,
  LIVE,
  type Owner,
  readAttempts,
  readDelivery,
  readEndpoint,
} from '../webhooks/delivery-fixture.ts';

const HOUR_MS = 3_600_000;
/** From the first attempt on, which is made at once. */
const attemptOf = (attempt: number, changes: Partial<DeliveryAttemptInput> = {}) => ({
  attempt,
  lastAttempt: false,
  hasWaited: false,
  schedule: { ladderMs: DELIVERY_BACKOFF_MS, firstAttemptAtMs: now.getTime(), random: 0 },
  ...changes,
});

let database: TestDatabase;
let orm: MikroORM;
let owner: Owner;
/** The messages the receiver got, and its response. */
let sent: WebhookMessage[];
let answer: () => Promise<WebhookResponse>;
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

/** No response before all have been sent. */
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

describe('an attempt with a 2xx response', () => {
  it('an attempt with a 2xx response ends the delivery, is recorded, and makes the endpoint healthy', async () => {
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

  it('an attempt is signed with the newest secret alone once the previous one has expired', async () => {
    const [secret, expired] = [newWebhookSecret(), newWebhookSecret()];
    const { deliveryId, payload } = await prepare({ secrets: [secret, expired], previousSecretExpiresAt: now });
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    const header = sent[0]?.headers['service-signature'];
    expect(header?.match(/v1=/g)).toHaveLength(1);
    await verifyWebhook({ signature: header, body: payload, secret, now: now.getTime() / 1_000 });
  });

  it('an attempt marks the workflow of its delivery as started', async () => {
    const { deliveryId } = await prepare();
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    expect((await readDelivery(orm, deliveryId)).workflowStartedAt).not.toBeNull();
  });

  it('an attempt carries the exact payload, with both signatures under every active secret', async () => {
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
      await verifyWebhook({ signature: header, body: payload, secret, now: now.getTime() / 1_000 });
      expect(new Webhook(secret).verify(payload, { ...message?.headers })).toEqual(JSON.parse(payload));
    }
  });
});

describe('an attempt that fails', () => {
  it.each([301, 404, 500])(
    'an attempt that fails with %d is recorded with the status and retried',
    async (statusCode) => {
      const { deliveryId, webhookEndpointId } = await prepare();
      answerWith(statusCode);
      expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
        outcome: 'retry',
        retryAfterMs: null,
        isSent: true,
        reason: `HTTP ${statusCode}`,
      });
      const nextAttemptAt = new Date(now.getTime() + 5_000);
      expect(await readDelivery(orm, deliveryId)).toMatchObject({
        status: 'pending',
        completedAt: null,
        nextAttemptAt,
      });
      const error = `HTTP ${statusCode}`;
      expect(await readAttempts(orm, deliveryId)).toMatchObject([{ attempt: 1, status_code: statusCode, error }]);
      expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({
        status: 'enabled',
        consecutiveFailures: 1,
        failingSince: now,
        lastSuccessAt: null,
        lastError: error,
      });
    },
  );

  it('an attempt without a response is recorded with its cause', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answer = () => Promise.reject(new DeliveryError('timeout', { cause: new Error('10.0.0.7 said nothing') }));
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'retry' });
    const error = 'no complete response in time';
    expect(await readAttempts(orm, deliveryId)).toMatchObject([{ status_code: null, error }]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ lastError: error });
  });

  it('an attempt that fails returns the pause requested by the receiver', async () => {
    const { deliveryId } = await prepare();
    answerWith(429, '90');
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toEqual({
      outcome: 'retry',
      retryAfterMs: 90_000,
      isSent: true,
      reason: 'HTTP 429',
    });
  });

  it('the last attempt of a schedule ends the delivery when it fails', async () => {
    const { deliveryId } = await prepare();
    answerWith(500);
    const outcome = await activities.attemptDelivery({ deliveryId, ...attemptOf(14, { lastAttempt: true }) });
    expect(outcome.outcome).toBe('stop');
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', completedAt: now });
  });

  it('an attempt that fails through a fault of the service throws, records nothing, and can be repeated', async () => {
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
  it('an endpoint is disabled at once by 410, and its pending deliveries end, those of others do not', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    const { deliveryId: waiting } = await createDelivery(orm, owner, webhookEndpointId);
    const { deliveryId: ofOther } = await prepare();
    answerWith(410);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled', lastError: 'HTTP 410' });
    for (const id of [deliveryId, waiting]) {
      expect(await readDelivery(orm, id)).toMatchObject({ status: 'failed', completedAt: now, nextAttemptAt: null });
    }
    expect(await readDelivery(orm, ofOther)).toMatchObject({ status: 'pending' });
  });

  it('a success counts, and its delivery is delivered, when the endpoint was disabled while it was in flight', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answer = async () => {
      answerWith(410);
      const { deliveryId: other } = await createDelivery(orm, owner, webhookEndpointId);
      await activities.attemptDelivery({ deliveryId: other, ...attemptOf(1) });
      expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
      return { statusCode: 200, retryAfter: undefined };
    };
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'delivered' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered' });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled' });
  });

  it('an endpoint is disabled by a failure after a day of failures, not before', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    const { deliveryId: waiting } = await createDelivery(orm, owner, webhookEndpointId);
    answerWith(500);
    const start = now;
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    now = new Date(start.getTime() + 23.9 * HOUR_MS);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(2) })).toMatchObject({
      outcome: 'retry',
    });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'enabled', failingSince: start });
    expect(await readDelivery(orm, waiting)).toMatchObject({ status: 'pending' });
    now = new Date(start.getTime() + 24 * HOUR_MS);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(3) })).toMatchObject({
      outcome: 'stop',
    });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled', consecutiveFailures: 3 });
    expect(await readDelivery(orm, waiting)).toMatchObject({ status: 'failed', completedAt: now });
  });

  it('an endpoint stays enabled after a success at 23:59', async () => {
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

  it('an endpoint is disabled once by concurrent failures', async () => {
    const { webhookEndpointId } = await prepare({ failingSince: new Date(now.getTime() - 24 * HOUR_MS) });
    answerTogether(10, 500);
    const deliveries = await Promise.all(
      Array.from({ length: 10 }, () => createDelivery(orm, owner, webhookEndpointId)),
    );
    await Promise.all(deliveries.map(({ deliveryId }) => activities.attemptDelivery({ deliveryId, ...attemptOf(1) })));
    expect(logged.match(/webhook endpoint disabled/g)).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled' });
  });

  it('an endpoint counts every one of concurrent failures', async () => {
    const { webhookEndpointId } = await prepare();
    answerTogether(20, 500);
    const deliveries = await Promise.all(
      Array.from({ length: 20 }, () => createDelivery(orm, owner, webhookEndpointId)),
    );
    await Promise.all(deliveries.map(({ deliveryId }) => activities.attemptDelivery({ deliveryId, ...attemptOf(1) })));
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 20 });
  });
});

it('deliveries that wait to record their failures leave database connections to other endpoints', async () => {
  const { webhookEndpointId } = await prepare();
  const failing = await Promise.all(Array.from({ length: 8 }, () => createDelivery(orm, owner, webhookEndpointId)));
  const other = await openDatabase({ url: database.url, poolSize: 1 });
  const { promise: released, resolve: unlock } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const holding = other.em.fork().transactional(async (em) => {
    await query(em, 'select from webhook_endpoints where id = $1 for update', [webhookEndpointId]);
    lock();
    await released;
  });
  await locked;
  try {
    answerWith(500);
    const attempts = failing.map(({ deliveryId }) => activities.attemptDelivery({ deliveryId, ...attemptOf(1) }));
    await until(() => sent.length === failing.length);
    answerWith(200);
    const { deliveryId } = await prepare();
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'delivered' });
    unlock();
    for (const attempt of attempts) expect(await attempt).toMatchObject({ outcome: 'retry' });
  } finally {
    unlock();
    await holding;
    await other.close();
  }
  expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: failing.length });
});

describe('an attempt without a free slot', () => {
  const HOUR_LADDER = { ladderMs: [0, HOUR_MS, HOUR_MS], random: 0 };
  const inAnHour = (changes: Partial<DeliveryAttemptInput> = {}) =>
    attemptOf(1, { schedule: { ...HOUR_LADDER, firstAttemptAtMs: now.getTime() }, ...changes });
  let release: () => void;

  /** A failing endpoint whose single slot is taken. */
  async function prepareBusy() {
    const { promise, resolve } = Promise.withResolvers<WebhookResponse>();
    release = () => resolve({ statusCode: 500, retryAfter: undefined });
    answer = () => promise;
    const { webhookEndpointId, deliveryId } = await prepare({ consecutiveFailures: 2, failingSince: now });
    const busy = activities.attemptDelivery({ deliveryId, ...inAnHour() });
    await until(() => sent.length === 1);
    return { webhookEndpointId, busy };
  }

  it('an attempt without a free slot is neither sent nor counted, and waits for its turn', async () => {
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

  it('an attempt is skipped when its turn comes after its next attempt and later than five minutes', async () => {
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
      reason: 'too many other deliveries were waiting',
    });
    expect(await readAttempts(orm, deliveryId)).toEqual([]);
    // One and a half times its patience of five minutes.
    const nextAttemptAt = new Date(now.getTime() + 450_000);
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'pending', nextAttemptAt });
    release();
    await busy;
  });

  it('an attempt is skipped once its waits exceed its patience in sum', async () => {
    const { webhookEndpointId, busy } = await prepareBusy();
    const { deliveryId } = await createDelivery(orm, owner, webhookEndpointId);
    const waited = (ms: number) => ({ deliveryId, ...inAnHour({ hasWaited: true, waited: { turns: 3, ms } }) });
    expect(await activities.attemptDelivery(waited(HOUR_MS - 10_000))).toMatchObject({ outcome: 'wait' });
    expect(await activities.attemptDelivery(waited(HOUR_MS - 10_000))).toMatchObject({
      outcome: 'retry',
      isSent: false,
      reason: 'too many other deliveries were waiting',
    });
    release();
    await busy;
  });

  it('the last attempt is recorded and ends its delivery when it has no turn within an hour', async () => {
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

describe('an endpoint to which nothing is sent', () => {
  it('nothing is sent to a disabled endpoint; the delivery fails', async () => {
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

  it('nothing is sent to a deleted endpoint', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    await query(orm.em.fork(), 'delete from webhook_endpoints where id = $1', [webhookEndpointId]);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['test', { livemode: false }],
    ['staging', { isStaging: true }],
  ])('nothing is sent to a %s endpoint for a live event', async (_mode, mode) => {
    const { deliveryId } = await prepare(mode);
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
    expect(sent).toEqual([]);
  });

  it('nothing is sent to another organisation', async () => {
    const stranger = await createOwner(orm, LIVE);
    const { deliveryId } = await createDelivery(orm, owner, await createEndpoint(orm, stranger));
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'stop' });
    expect(sent).toEqual([]);
  });
});

describe('a worker lost between its commit and its report', () => {
  it('a worker lost after it committed a success causes no second message', async () => {
    const { deliveryId } = await prepare();
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'delivered' });
    expect(sent).toHaveLength(1);
  });

  it('a worker lost after it committed a failure causes no second message and no second count', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1) })).toMatchObject({ outcome: 'retry' });
    expect(sent).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 1 });
  });

  it('the successor of a worker lost after the last attempt failed reports the end', async () => {
    const { deliveryId } = await prepare();
    answerWith(500);
    await activities.attemptDelivery({ deliveryId, ...attemptOf(1, { lastAttempt: true }) });
    expect(await activities.attemptDelivery({ deliveryId, ...attemptOf(1, { lastAttempt: true }) })).toMatchObject({
      outcome: 'stop',
    });
    expect(sent).toHaveLength(1);
  });

  it('an attempt that two workers make at the same time counts once', async () => {
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

it('an attempt logs neither secrets, payloads nor URLs', async () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const { deliveryId, payload } = await prepare({ secrets, url: 'https://receiver.example/?token=very-secret' });
  answerWith(410);
  await activities.attemptDelivery({ deliveryId, ...attemptOf(1) });
  expect(logged).toContain(deliveryId);
  for (const confidential of [...secrets, payload, 'größer', 'very-secret', 'v1=']) {
    expect(logged).not.toContain(confidential);
  }
});
