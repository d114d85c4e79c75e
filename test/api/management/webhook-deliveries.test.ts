/** The delivery log, test events and replays, through the API, Temporal, a webhook worker and a real receiver. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDeliveryActivities } from '../../../src/activities/delivery-activities.ts';
import { verifyWebhook } from '../../../src/client/index.ts';
import { TASK_QUEUES } from '../../../src/contracts/task-queues.ts';
import { Event } from '../../../src/jobs/entities.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createTestDelivery } from '../../../src/webhooks/deliveries-store.ts';
import { WebhookDelivery, WebhookEndpoint } from '../../../src/webhooks/entities.ts';
import { createWebhookClient } from '../../../src/webhooks/webhook-client.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { createCustomer } from '../../support/customers.ts';
import { until } from '../../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { startTestWorkers, type TestWorkers, workflowBundlePath } from '../../support/workers.ts';
import {
  createDelivery,
  createEndpoint,
  createOwner,
  type Owner,
  readDelivery,
  readEndpoint,
} from '../../webhooks/delivery-fixture.ts';

const HOUR_SECONDS = 3_600;

let api: TestApi;
let workers: TestWorkers;
let receiver: WebhookReceiver;
let owner: Owner;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
  const { orm, sealedSecrets } = api;
  const webhookClient = createWebhookClient({ allowPrivateTargets: true });
  workers = await startTestWorkers(api.temporal, [
    {
      taskQueue: TASK_QUEUES.webhooks,
      workflowBundle: { codePath: await workflowBundlePath() },
      activities: createDeliveryActivities({ orm, webhookClient, sealedSecrets, logger: api.log.logger }),
    },
  ]);
});
afterAll(async () => {
  await workers.stop();
  await api.close();
});
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  owner = await createOwner(api.orm);
  key = await api.identity.token({ organizationId: owner.organizationId, role: 'admin' });
});
afterEach(() => receiver.close());

const call = (method: string, path: string, body?: object) =>
  api.call(`/mgmt/v1/webhook-endpoints${path}`, {
    method,
    key,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });

interface Delivery {
  id: string;
  event_id: string;
  status: string;
  test: boolean;
  replay_of: string | null;
  next_attempt_at: number | null;
  attempts: { attempt: number; http_status: number | null; error: string | null; duration_ms: number }[];
}
const asDelivery = ({ json }: { json: unknown }) => json as Delivery;

async function makeEndpoint(): Promise<{ id: string; secret: string }> {
  const body = { url: receiver.url, events: ['job.failed'], livemode: true };
  return (await call('POST', '', body)).json as { id: string; secret: string };
}

/** A delivery that has ended, as a worker leaves it. */
async function endedDelivery(endpointId: string, status: 'failed' | 'delivered', createdAt = new Date()) {
  const delivery = await createDelivery(api.orm, owner, endpointId);
  const end = { status, createdAt, completedAt: createdAt, workflowStartedAt: createdAt };
  await api.orm.em.fork().nativeUpdate(WebhookDelivery, { id: delivery.deliveryId }, end);
  return delivery;
}

const deliveriesOf = (webhookEndpoint: string) =>
  api.orm.em.fork().find(WebhookDelivery, { webhookEndpoint }, { orderBy: { id: 'asc' } });

describe('a test event', () => {
  it('a test event reaches the receiver signed and marked, whatever its events, and the outcome is returned', async () => {
    const { id, secret } = await makeEndpoint();
    receiver.answerWith(204);
    const answer = asDelivery(await call('POST', `/${id}/test`));
    expect(answer).toMatchObject({
      status: 'delivered',
      event_type: 'job.succeeded',
      test: true,
      attempts: [{ attempt: 1, http_status: 204, error: null }],
    });
    const [{ rawBody: body, headers }] = receiver.deliveries as [(typeof receiver.deliveries)[0]];
    const event = await verifyWebhook({ body, signature: String(headers['service-signature']), secret });
    expect(event).toMatchObject({
      id: answer.event_id,
      type: 'job.succeeded',
      livemode: true,
      is_staging: false,
      test: true,
      data: { object: { object: 'job', status: 'succeeded', livemode: true } },
    });
    expect(receiver.deliveries).toHaveLength(1);
    expect(asDelivery(await call('GET', `/${id}/deliveries/${answer.id}`))).toEqual(answer);
  });

  it('a test event is sent once for concurrent requests with one Idempotency-Key', async () => {
    const { id } = await makeEndpoint();
    const path = `/mgmt/v1/webhook-endpoints/${id}/test`;
    const headers = { 'Idempotency-Key': 'a test event of this test' };
    const ask = () => api.call(path, { method: 'POST', key, headers });
    const answers = await Promise.all(Array.from({ length: 5 }, ask));
    const codes = answers.filter(({ status }) => status !== 200).map(({ error }) => error.code);
    expect(codes).toEqual(codes.map(() => 'idempotency_request_in_progress'));
    const repeated = await ask();
    expect(repeated.headers.get('Idempotent-Replayed')).toBe('true');
    expect(receiver.deliveries).toHaveLength(1);
    for (const { status, text } of answers) if (status === 200) expect(text).toBe(repeated.text);
  });

  it('a test event that fails is tried once and returns the cause', async () => {
    const { id } = await makeEndpoint();
    receiver.answerWith(500);
    expect(await call('POST', `/${id}/test`)).toMatchObject({
      status: 200,
      json: {
        status: 'failed',
        next_attempt_at: null,
        attempts: [{ attempt: 1, http_status: 500, error: 'HTTP 500' }],
      },
    });
    expect(receiver.deliveries).toHaveLength(1);
    expect(await readEndpoint(api.orm, id)).toMatchObject({ consecutiveFailures: 1, lastError: 'HTTP 500' });
  });

  it('a test event is not listed as an event but can be read by its id', async () => {
    const customer = await createCustomer(api.orm);
    owner = { ...owner, organizationId: customer.organizationId };
    key = await api.identity.token({ organizationId: customer.organizationId, role: 'admin' });
    const { id } = await makeEndpoint();
    const { event_id: eventId } = asDelivery(await call('POST', `/${id}/test`));
    expect((await api.call('/v1/events', { key: customer.keys.live })).json.data).toEqual([]);
    const read = await api.call(`/v1/events/${eventId}`, { key: customer.keys.live });
    expect(read.text).toBe(receiver.deliveries[0]?.rawBody);
  });

  it('a test event for a disabled endpoint is refused', async () => {
    const { id } = await makeEndpoint();
    await call('PATCH', `/${id}`, { status: 'disabled' });
    expect(await call('POST', `/${id}/test`)).toMatchObject({
      status: 409,
      error: { code: 'webhook_endpoint_disabled' },
    });
    expect(await deliveriesOf(id)).toEqual([]);
  });

  it('a test event whose endpoint is deleted while it is delivered gets 404', async () => {
    const { id } = await makeEndpoint();
    receiver.answerWith((response) => {
      void call('DELETE', `/${id}`).then(({ status }) => response.writeHead(status).end());
    });
    expect(await call('POST', `/${id}/test`)).toMatchObject({
      status: 404,
      error: { code: 'resource_not_found', param: 'id' },
    });
    expect(receiver.deliveries).toHaveLength(1);
  });

  it('a test event that is created after the deletion of its endpoint leaves nothing', async () => {
    const { id } = await makeEndpoint();
    const em = api.orm.em.fork();
    const endpoint = await em.findOneOrFail(WebhookEndpoint, { id });
    await call('DELETE', `/${id}`);
    const event = { id: newId('event'), payload: '{}', createdAt: new Date() };
    expect(await createTestDelivery(em, endpoint, event)).toBeNull();
    expect(await api.orm.em.fork().findOne(Event, { id: event.id })).toBeNull();
  });
});

describe('the delivery log', () => {
  it('the delivery log lists deliveries newest first, with attempts and the time of the next one', async () => {
    const { id } = await makeEndpoint();
    receiver.answerWith(503);
    const { deliveryId } = await endedDelivery(id, 'delivered');
    const { deliveryId: pending } = await createDelivery(api.orm, owner, id);
    const activities = createDeliveryActivities({
      orm: api.orm,
      webhookClient: createWebhookClient({ allowPrivateTargets: true }),
      sealedSecrets: api.sealedSecrets,
      logger: api.log.logger,
    });
    const schedule = { ladderMs: [0, 60_000, 60_000], firstAttemptAtMs: Date.now(), random: 0 };
    await activities.attemptDelivery({
      deliveryId: pending,
      attempt: 1,
      lastAttempt: false,
      schedule,
      hasWaited: false,
    });

    const { data } = (await call('GET', `/${id}/deliveries`)).json as { data: Delivery[] };
    expect(data.map((delivery) => delivery.id)).toEqual([pending, deliveryId]);
    expect(data[0]).toMatchObject({
      status: 'pending',
      completed_at: null,
      attempts: [{ attempt: 1, http_status: 503, error: 'HTTP 503' }],
    });
    const dueInSeconds = (data[0]?.next_attempt_at ?? 0) - schedule.firstAttemptAtMs / 1_000;
    expect(dueInSeconds).toBeGreaterThanOrEqual(59);
    const failed = (await call('GET', `/${id}/deliveries?status=delivered`)).json as { data: Delivery[] };
    expect(failed.data.map((delivery) => delivery.id)).toEqual([deliveryId]);
  });

  it('the delivery log does not show deliveries of other endpoints', async () => {
    const [{ id }, other] = [await makeEndpoint(), await makeEndpoint()];
    const { deliveryId } = await endedDelivery(other.id, 'failed');
    expect((await call('GET', `/${id}/deliveries`)).json.data).toEqual([]);
    for (const [method, path] of [
      ['GET', `/${id}/deliveries/${deliveryId}`],
      ['POST', `/${id}/deliveries/${deliveryId}/replay`],
    ] as const) {
      expect(await call(method, path)).toMatchObject({
        status: 404,
        error: { code: 'resource_not_found', param: 'delivery_id' },
      });
    }
  });
});

describe('replaying a delivery', () => {
  it.each(['failed', 'delivered'] as const)(
    'the replay of a delivery that has %s sends the same bytes and id again',
    async (status) => {
      const { id } = await makeEndpoint();
      const { deliveryId, eventId, payload } = await endedDelivery(id, status);
      const answer = await call('POST', `/${id}/deliveries/${deliveryId}/replay`);
      expect(answer).toMatchObject({
        status: 201,
        json: { status: 'pending', replay_of: deliveryId, event_id: eventId },
      });
      const received = await receiver.waitFor(() => true, 20_000);
      expect(received.rawBody).toBe(payload);
      expect(received.headers['webhook-id']).toBe(eventId);
      await api.temporal.client.workflow.getHandle(asDelivery(answer).id).result();
      expect(await readDelivery(api.orm, asDelivery(answer).id)).toMatchObject({ status: 'delivered' });
      expect(await readDelivery(api.orm, deliveryId)).toMatchObject({ status });
    },
  );

  it('the replay of a delivery is refused while it is pending, or when its endpoint is disabled', async () => {
    const id = await createEndpoint(api.orm, owner, { url: receiver.url });
    const { deliveryId } = await createDelivery(api.orm, owner, id);
    const path = `/${id}/deliveries/${deliveryId}/replay`;
    expect(await call('POST', path)).toMatchObject({ status: 409, error: { code: 'webhook_delivery_pending' } });
    await api.orm.em.fork().nativeUpdate(WebhookEndpoint, { id }, { status: 'disabled' });
    expect(await call('POST', path)).toMatchObject({ status: 409, error: { code: 'webhook_endpoint_disabled' } });
    expect(await deliveriesOf(id)).toHaveLength(1);
  });
});

describe('disabling an endpoint', () => {
  it('disabling an endpoint ends its pending deliveries at once; enabled again, it gets them by a replay', async () => {
    const [{ id }, other] = [await makeEndpoint(), await makeEndpoint()];
    const { deliveryId, eventId } = await createDelivery(api.orm, owner, id);
    const { deliveryId: ofOther } = await createDelivery(api.orm, owner, other.id);
    await call('PATCH', `/${id}`, { description: 'still enabled' });
    expect(await readDelivery(api.orm, deliveryId)).toMatchObject({ status: 'pending' });
    await call('PATCH', `/${id}`, { status: 'disabled' });
    expect(asDelivery(await call('GET', `/${id}/deliveries/${deliveryId}`))).toMatchObject({
      status: 'failed',
      completed_at: expect.any(Number),
      next_attempt_at: null,
      attempts: [],
    });
    expect(await readDelivery(api.orm, ofOther)).toMatchObject({ status: 'pending' });
    await call('POST', `/${id}/enable`);
    expect((await call('POST', `/${id}/replay`, { since: 0 })).json).toMatchObject({ replayed: 1 });
    const received = await receiver.waitFor(() => true, 20_000);
    expect(received.headers['webhook-id']).toBe(eventId);
  });

  it('disabling an endpoint ends at most 10,000 deliveries in its statement, the oldest first', async () => {
    const { id } = await makeEndpoint();
    const { deliveryId } = await endedDelivery(id, 'failed');
    await copyFailed(deliveryId, 10_002);
    const em = api.orm.em.fork();
    await em.nativeUpdate(WebhookDelivery, { webhookEndpoint: id }, { status: 'pending', completedAt: null });
    await call('PATCH', `/${id}`, { status: 'disabled' });
    const ofEndpoint = { webhookEndpoint: id };
    const newest = await em.find(WebhookDelivery, ofEndpoint, { orderBy: { id: 'desc' }, limit: 3 });
    expect(newest.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);
    expect(await em.count(WebhookDelivery, { ...ofEndpoint, status: 'failed' })).toBe(10_000);
    await call('DELETE', `/${id}`);
  });
});

it('deleting an endpoint deletes 10,000 of its deliveries at most in one statement, and all in the end', async () => {
  const { id } = await makeEndpoint();
  const { deliveryId } = await endedDelivery(id, 'failed');
  await copyFailed(deliveryId, 10_002);
  const em = api.orm.em.fork();
  await em.execute(
    `create function refuse_many() returns trigger language plpgsql as $$ begin
       if (select count(*) from gone) > 10000 then raise 'too many'; end if;
       return null;
     end $$;
     create trigger refuse_many after delete on webhook_deliveries referencing old table as gone
       for each statement execute function refuse_many()`,
  );
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  expect(await em.count(WebhookDelivery, { webhookEndpoint: id })).toBe(0);
  await em.execute('drop function refuse_many cascade');
});

describe('replaying failed deliveries', () => {
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const sinceSecondsAgo = (seconds: number) => ({ since: Math.floor(Date.now() / 1_000) - seconds });

  it('a replay since a time replays each failed event once, and none that was delivered or is pending', async () => {
    const { id } = await makeEndpoint();
    const other = await makeEndpoint();
    const failed = await endedDelivery(id, 'failed', secondsAgo(60));
    await endedDelivery(id, 'failed', secondsAgo(2 * HOUR_SECONDS));
    await endedDelivery(id, 'delivered', secondsAgo(60));
    await endedDelivery(other.id, 'failed', secondsAgo(60));
    const replay = () => call('POST', `/${id}/replay`, sinceSecondsAgo(HOUR_SECONDS));
    expect((await replay()).json).toEqual({ object: 'webhook_replay', replayed: 1, has_more: false });
    expect((await replay()).json).toMatchObject({ replayed: 0 });

    const [repeated] = (await deliveriesOf(id)).filter(({ replayOf }) => replayOf !== null);
    expect(repeated).toMatchObject({ replayOf: failed.deliveryId });
    const received = await receiver.waitFor(() => true, 20_000);
    expect(received.headers['webhook-id']).toBe(failed.eventId);
    await api.temporal.client.workflow.getHandle(repeated?.id ?? '').result();
    expect((await replay()).json).toMatchObject({ replayed: 0 });
  });

  it('a replay of failed deliveries starts at once, without the sweeper', async () => {
    const { id } = await makeEndpoint();
    for (let count = 0; count < 30; count += 1) await endedDelivery(id, 'failed', secondsAgo(60));
    expect((await call('POST', `/${id}/replay`, { since: 0 })).json).toMatchObject({ replayed: 30 });
    // No sweeper runs here.
    await until(() => receiver.deliveries.length === 30, 20_000);
  });

  it('concurrent replays of failed deliveries replay each event once', async () => {
    const { id } = await makeEndpoint();
    for (let count = 0; count < 5; count += 1) await endedDelivery(id, 'failed');
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', `/${id}/replay`, { since: 0 })));
    expect(answers.map(({ json }) => json.replayed).toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 0, 5]);
  });

  it('a replay of failed deliveries is bounded and continues with the next request', async () => {
    const { id } = await makeEndpoint();
    const { deliveryId } = await endedDelivery(id, 'failed');
    await copyFailed(deliveryId, 501);
    const replay = () => call('POST', `/${id}/replay`, { since: 0 });
    expect((await replay()).json).toMatchObject({ replayed: 500, has_more: true });
    expect((await replay()).json).toMatchObject({ replayed: 2, has_more: false });
    await call('DELETE', `/${id}`);
  });

  it.each([undefined, -1, 'yesterday'])('a replay of failed deliveries since %s is refused', async (since) => {
    const { id } = await makeEndpoint();
    expect(await call('POST', `/${id}/replay`, { since })).toMatchObject({ status: 400, error: { param: 'since' } });
  });
});

/** Failed deliveries of as many events more. */
async function copyFailed(deliveryId: string, count: number): Promise<void> {
  await api.orm.em.fork().execute(
    `with copied as (
       insert into events (id, organization_id, livemode, is_staging, type, job_id, payload, created_at)
       select events.id || n, organization_id, livemode, is_staging, type, null, payload, events.created_at
       from webhook_deliveries join events on events.id = event_id, generate_series(1, ?) as n
       where webhook_deliveries.id = ?
       returning id
     )
     insert into webhook_deliveries (id, event_id, webhook_endpoint_id, status, completed_at, workflow_started_at)
     select 'whd_' || copied.id, copied.id, webhook_endpoint_id, 'failed', now(), now()
     from copied, webhook_deliveries where webhook_deliveries.id = ?`,
    [count, deliveryId, deliveryId],
  );
}
