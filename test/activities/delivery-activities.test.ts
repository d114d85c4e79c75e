import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createDeliveryActivities } from '../../src/activities/delivery-activities.ts';
import type { DeliveryActivities } from '../../src/contracts/deliver-webhook.ts';
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

const HOUR_MS = 3_600_000;
const FIRST = { attempt: 1, lastAttempt: false };

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
    clock: () => now,
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

async function prepare(changes: Parameters<typeof createEndpoint>[2] = {}) {
  const webhookEndpointId = await createEndpoint(orm, owner, changes);
  return { webhookEndpointId, ...(await createDelivery(orm, owner, webhookEndpointId)) };
}

describe('an attempt that is answered 2xx', () => {
  it('ends the delivery, is recorded, and makes the endpoint healthy', async () => {
    const { deliveryId, webhookEndpointId } = await prepare({ failingSince: new Date(now.getTime() - HOUR_MS) });
    answerWith(202);
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toEqual({
      outcome: 'delivered',
      retryAfterMs: null,
    });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'delivered', completedAt: now });
    expect(await readAttempts(orm, deliveryId)).toMatchObject([{ attempt: 1, status_code: 202, error: null }]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({
      consecutiveFailures: 0,
      failingSince: null,
      lastSuccessAt: now,
    });
  });

  it('proves that the workflow runs', async () => {
    const { deliveryId } = await prepare();
    await activities.attemptDelivery({ deliveryId, ...FIRST });
    expect((await readDelivery(orm, deliveryId)).workflowStartedAt).not.toBeNull();
  });

  it('carried the exact payload, signed in both forms with every active secret', async () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    const { deliveryId, eventId, payload } = await prepare({ secrets, url: 'https://receiver.example/a?b' });
    await activities.attemptDelivery({ deliveryId, ...FIRST });
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
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toEqual({
      outcome: 'retry',
      retryAfterMs: null,
    });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'pending', completedAt: null });
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
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'retry' });
    const error = 'no complete answer in time';
    expect(await readAttempts(orm, deliveryId)).toMatchObject([{ status_code: null, error }]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ lastError: error });
  });

  it('hands on the pause the receiver asks for', async () => {
    const { deliveryId } = await prepare();
    answerWith(429, '90');
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toEqual({
      outcome: 'retry',
      retryAfterMs: 90_000,
    });
  });

  it('as the last of its ladder ends the delivery', async () => {
    const { deliveryId } = await prepare();
    answerWith(500);
    const outcome = await activities.attemptDelivery({ deliveryId, attempt: 14, lastAttempt: true });
    expect(outcome.outcome).toBe('stop');
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', completedAt: now });
  });

  it('by the service itself throws, records nothing, and can be repeated', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answer = () => Promise.reject(new Error('a mistake in the client'));
    await expect(activities.attemptDelivery({ deliveryId, ...FIRST })).rejects.toThrow('a mistake in the client');
    expect(await readAttempts(orm, deliveryId)).toEqual([]);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 0 });
    answerWith(200);
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'delivered' });
  });
});

describe('an endpoint', () => {
  it('is disabled at once by 410, and its delivery ends', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(410);
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'stop' });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled', lastError: 'HTTP 410' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
  });

  it('is disabled by a failure after a day of failures, and not before', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    const start = now;
    await activities.attemptDelivery({ deliveryId, ...FIRST });
    now = new Date(start.getTime() + 23.9 * HOUR_MS);
    expect(await activities.attemptDelivery({ deliveryId, attempt: 2, lastAttempt: false })).toMatchObject({
      outcome: 'retry',
    });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'enabled', failingSince: start });
    now = new Date(start.getTime() + 24 * HOUR_MS);
    expect(await activities.attemptDelivery({ deliveryId, attempt: 3, lastAttempt: false })).toMatchObject({
      outcome: 'stop',
    });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ status: 'disabled', consecutiveFailures: 3 });
  });

  it('stays enabled when a success at 23:59 came in between', async () => {
    const { deliveryId: failing, webhookEndpointId } = await prepare();
    const { deliveryId: other } = await createDelivery(orm, owner, webhookEndpointId);
    const start = now;
    answerWith(500);
    await activities.attemptDelivery({ deliveryId: failing, ...FIRST });
    now = new Date(start.getTime() + 24 * HOUR_MS - 60_000);
    answerWith(200);
    await activities.attemptDelivery({ deliveryId: other, ...FIRST });
    now = new Date(start.getTime() + 24 * HOUR_MS);
    answerWith(500);
    await activities.attemptDelivery({ deliveryId: failing, attempt: 14, lastAttempt: true });
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({
      status: 'enabled',
      consecutiveFailures: 1,
      failingSince: now,
    });
  });

  it('counts every failure of deliveries that fail at the same time', async () => {
    const { webhookEndpointId } = await prepare();
    answerWith(500);
    const deliveries = await Promise.all(
      Array.from({ length: 20 }, () => createDelivery(orm, owner, webhookEndpointId)),
    );
    await Promise.all(deliveries.map(({ deliveryId }) => activities.attemptDelivery({ deliveryId, ...FIRST })));
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 20 });
  });
});

describe('nothing is sent', () => {
  it('to a disabled endpoint: the delivery fails', async () => {
    const { deliveryId } = await prepare({ status: 'disabled' });
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toEqual({ outcome: 'stop', retryAfterMs: null });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed', completedAt: now });
    expect(sent).toEqual([]);
  });

  it('to a deleted endpoint', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    await query(orm.em.fork(), 'delete from webhook_endpoints where id = $1', [webhookEndpointId]);
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'stop' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['test', { livemode: false }],
    ['staging', { isStaging: true }],
  ])('to a %s endpoint of a live event', async (_mode, mode) => {
    const { deliveryId } = await prepare(mode);
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'stop' });
    expect(await readDelivery(orm, deliveryId)).toMatchObject({ status: 'failed' });
    expect(sent).toEqual([]);
  });

  it('to another organisation', async () => {
    const stranger = await createOwner(orm, LIVE);
    const { deliveryId } = await createDelivery(orm, owner, await createEndpoint(orm, stranger));
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'stop' });
    expect(sent).toEqual([]);
  });
});

describe('a worker that was lost after its commit and before its report', () => {
  it('costs no second message and no second count after a success', async () => {
    const { deliveryId } = await prepare();
    await activities.attemptDelivery({ deliveryId, ...FIRST });
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'delivered' });
    expect(sent).toHaveLength(1);
  });

  it('costs no second message and no second count after a failure', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    await activities.attemptDelivery({ deliveryId, ...FIRST });
    expect(await activities.attemptDelivery({ deliveryId, ...FIRST })).toMatchObject({ outcome: 'retry' });
    expect(sent).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 1 });
  });

  it('reports the end when the last attempt had failed', async () => {
    const { deliveryId } = await prepare();
    answerWith(500);
    await activities.attemptDelivery({ deliveryId, attempt: 1, lastAttempt: true });
    expect(await activities.attemptDelivery({ deliveryId, attempt: 1, lastAttempt: true })).toMatchObject({
      outcome: 'stop',
    });
    expect(sent).toHaveLength(1);
  });

  it('and still runs beside its successor counts once', async () => {
    const { deliveryId, webhookEndpointId } = await prepare();
    answerWith(500);
    await Promise.all([
      activities.attemptDelivery({ deliveryId, ...FIRST }),
      activities.attemptDelivery({ deliveryId, ...FIRST }),
    ]);
    expect(await readAttempts(orm, deliveryId)).toHaveLength(1);
    expect(await readEndpoint(orm, webhookEndpointId)).toMatchObject({ consecutiveFailures: 1 });
  });
});

it('neither secrets, payloads nor URLs are logged', async () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const { deliveryId, payload } = await prepare({ secrets, url: 'https://receiver.example/?token=very-secret' });
  answerWith(410);
  await activities.attemptDelivery({ deliveryId, ...FIRST });
  expect(logged).toContain(deliveryId);
  for (const confidential of [...secrets, payload, 'größer', 'very-secret', 'v1=']) {
    expect(logged).not.toContain(confidential);
  }
});
