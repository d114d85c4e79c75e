/** What a settlement writes, once, however often it runs. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import type { SettlementActivities } from '../../src/contracts/run-job.ts';
import { openDatabase } from '../../src/database.ts';
import { Event } from '../../src/jobs/entities.ts';
import { renderJob } from '../../src/jobs/job-resource.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { WebhookDelivery, WebhookEndpoint } from '../../src/webhooks/entities.ts';
import { markDeliveryStarted } from '../../src/webhooks/outbox-store.ts';
import { type Customer, createCustomer, createWebhookEndpoint, readAccount } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishInference, readJob, SUCCESS, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 10 });
});
afterAll(async () => {
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  customer = await createCustomer(orm, { test: 1_000, live: 1_000 });
});

const settleJob: SettlementActivities['settleJob'] = (input) =>
  createSettlementActivities({ orm, clock: () => NOON }).settleJob(input);
const account = () => readAccount(orm, customer.organizationId, false);
const eventsOf = (jobId: string) => orm.em.fork().find(Event, { jobId });
const deliveriesOf = (eventId: string) => orm.em.fork().find(WebhookDelivery, { event: eventId });

describe('a success', () => {
  it('a success moves the result to the job, captures its cost and releases the rest', async () => {
    const jobId = await admit(orm, customer, { reservedCredits: 50 });
    await finishInference(orm, jobId, { ...SUCCESS, chargedCredits: 20 });
    expect(await settleJob({ jobId, failure: null })).toEqual({
      status: 'succeeded',
      chargedCredits: 20,
      deliveryIds: [],
    });
    expect(await readJob(orm, jobId)).toMatchObject({
      status: 'succeeded',
      result: SUCCESS.result,
      error: null,
      chargedCredits: 20,
      completedAt: NOON,
    });
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 50],
      ['capture', 20],
      ['release', 30],
    ]);
    expect(await account()).toEqual({ available: 980, held: 0, openJobs: 0 });
  });

  it('a success never charges more than was held', async () => {
    const jobId = await admit(orm, customer, { reservedCredits: 50 });
    await finishInference(orm, jobId, { ...SUCCESS, chargedCredits: 70 });
    expect(await settleJob({ jobId, failure: null })).toMatchObject({ chargedCredits: 50 });
    expect(await account()).toEqual({ available: 950, held: 0, openJobs: 0 });
  });

  it('a success is settled even when the workflow reports a failure: the outcome takes precedence', async () => {
    const jobId = await admit(orm, customer);
    await finishInference(orm, jobId);
    expect(await settleJob({ jobId, failure: 'inference_timeout' })).toMatchObject({ status: 'succeeded' });
  });

  it('a partial success is settled as partial, with its charge', async () => {
    const jobId = await admit(orm, customer);
    await finishInference(orm, jobId, { ...SUCCESS, status: 'partial', chargedCredits: 5 });
    expect(await settleJob({ jobId, failure: null })).toMatchObject({ status: 'partial', chargedCredits: 5 });
    expect((await eventsOf(jobId))[0]?.type).toBe('job.partial');
  });
});

describe('a failure', () => {
  it.each([
    { failure: 'job_expired', pickedUp: false, status: 'expired', code: 'job_expired', type: 'expired_error' },
    {
      failure: 'job_expired',
      pickedUp: true,
      status: 'failed',
      code: 'model_unavailable',
      type: 'processing_error',
    },
    {
      failure: 'inference_timeout',
      pickedUp: true,
      status: 'failed',
      code: 'inference_timeout',
      type: 'processing_error',
    },
    {
      failure: 'model_unavailable',
      pickedUp: false,
      status: 'failed',
      code: 'model_unavailable',
      type: 'processing_error',
    },
    {
      failure: 'job_stopped',
      pickedUp: true,
      status: 'failed',
      code: 'job_stopped',
      type: 'processing_error',
    },
    { failure: null, pickedUp: true, status: 'failed', code: 'model_inference_failed', type: 'processing_error' },
  ] as const)(
    'a failure releases everything and says why: $failure, picked up: $pickedUp → $status, $code',
    async ({ failure, pickedUp, status, code, type }) => {
      const jobId = await admit(orm, customer);
      if (pickedUp) await finishInference(orm, jobId);
      if (pickedUp) await orm.em.getConnection().execute('delete from inference_outcomes where job_id = ?', [jobId]);
      expect(await settleJob({ jobId, failure })).toEqual({ status, chargedCredits: 0, deliveryIds: [], error: code });
      const job = await readJob(orm, jobId);
      expect(job).toMatchObject({ status, result: null, error: { type, code }, completedAt: NOON });
      expect(job.error?.message.length).toBeGreaterThan(5);
      expect(await transfersOf(orm, jobId)).toEqual([
        ['hold', 20],
        ['release', 20],
      ]);
      expect(await account()).toEqual({ available: 1_000, held: 0, openJobs: 0 });
      expect((await eventsOf(jobId))[0]?.type).toBe('job.failed');
    },
  );

  it('a failure drops the result of a failed outcome', async () => {
    const jobId = await admit(orm, customer);
    const error = { type: 'processing_error', code: 'input_unreadable', message: 'truncated' } as const;
    await finishInference(orm, jobId, { status: 'failed', result: { half: true }, error, chargedCredits: 0 });
    await settleJob({ jobId, failure: null });
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'failed', result: null, error });
  });
});

describe('a job that was settled', () => {
  it('a job is charged once and returns the same settlement, however often it is settled', async () => {
    const jobId = await admit(orm, customer);
    await finishInference(orm, jobId);
    const first = await settleJob({ jobId, failure: null });
    expect(await settleJob({ jobId, failure: null })).toEqual(first);
    expect(await settleJob({ jobId, failure: 'job_expired' })).toEqual(first);
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
    expect(await eventsOf(jobId)).toHaveLength(1);
  });

  it('a repeated settlement returns only the deliveries that have not started', async () => {
    await createWebhookEndpoint(orm, customer.organizationId);
    await createWebhookEndpoint(orm, customer.organizationId);
    const jobId = await admit(orm, customer);
    await finishInference(orm, jobId);
    const { deliveryIds } = await settleJob({ jobId, failure: null });
    expect(deliveryIds).toHaveLength(2);
    const again = await settleJob({ jobId, failure: null });
    expect(again.deliveryIds.toSorted()).toEqual(deliveryIds.toSorted());
    await markDeliveryStarted(orm.em.fork(), deliveryIds[0] ?? '');
    expect((await settleJob({ jobId, failure: null })).deliveryIds).toEqual([deliveryIds[1]]);
  });
});

describe('the event', () => {
  it('the event carries the job exactly as it reads afterwards', async () => {
    const jobId = await admit(orm, customer, { idempotencyKey: 'order-4711', testScenario: 'slow' });
    await finishInference(orm, jobId);
    await settleJob({ jobId, failure: null });
    const [event] = await eventsOf(jobId);
    const job = await readJob(orm, jobId);
    expect(JSON.parse(event?.payload ?? '')).toEqual({
      id: event?.id,
      object: 'event',
      type: 'job.succeeded',
      created: NOON.getTime() / 1_000,
      livemode: false,
      is_staging: false,
      api_version: '2026-10-04',
      data: { object: renderJob(job) },
      request: { id: job.requestId, idempotency_key: 'order-4711' },
    });
  });

  it('an event is delivered to every enabled endpoint of its organisation and mode that subscribes to its type', async () => {
    const endpoint = (changes = {}) => createWebhookEndpoint(orm, customer.organizationId, changes);
    const wanting = [await endpoint(), await endpoint({ events: ['job.succeeded'] })];
    await endpoint({ events: ['job.failed', 'job.partial'] });
    await endpoint({ status: 'disabled' });
    await endpoint({ livemode: true });
    await endpoint({ livemode: true, isStaging: true });
    await createWebhookEndpoint(orm, (await createCustomer(orm)).organizationId);
    const jobId = await admit(orm, customer);
    await finishInference(orm, jobId);
    const { deliveryIds } = await settleJob({ jobId, failure: null });
    const [event] = await eventsOf(jobId);
    const deliveries = await deliveriesOf(event?.id ?? '');
    expect(deliveries.map(({ id }) => id).sort()).toEqual(deliveryIds.toSorted());
    expect(deliveries.map(({ webhookEndpoint }) => webhookEndpoint.id).sort()).toEqual(
      wanting.map(({ id }) => id).sort(),
    );
    for (const delivery of deliveries) expect(delivery).toMatchObject({ status: 'pending', workflowStartedAt: null });
  });

  it('an event has no delivery to an endpoint that is disabled; the next one after it is enabled has', async () => {
    const { id } = await createWebhookEndpoint(orm, customer.organizationId, { status: 'disabled' });
    const deliveriesOfJob = async () => {
      const jobId = await admit(orm, customer);
      await finishInference(orm, jobId);
      await settleJob({ jobId, failure: null });
      const [event] = await eventsOf(jobId);
      return deliveriesOf(event?.id ?? '');
    };
    expect(await deliveriesOfJob()).toEqual([]);
    await orm.em.fork().nativeUpdate(WebhookEndpoint, { id }, { status: 'enabled' });
    expect(await deliveriesOfJob()).toMatchObject([{ webhookEndpoint: { id }, status: 'pending' }]);
  });

  it.each([
    { isStaging: false, other: true },
    { isStaging: true, other: false },
  ])(
    'the event of a live job with staging=$isStaging does not reach endpoints of staging=$other',
    async ({ isStaging, other }) => {
      const own = await createWebhookEndpoint(orm, customer.organizationId, { livemode: true, isStaging });
      await createWebhookEndpoint(orm, customer.organizationId, { livemode: true, isStaging: other });
      const jobId = await admit(orm, customer, { livemode: true, isStaging });
      await finishInference(orm, jobId);
      await settleJob({ jobId, failure: null });
      const [event] = await eventsOf(jobId);
      expect(event).toMatchObject({ livemode: true, isStaging });
      const deliveries = await deliveriesOf(event?.id ?? '');
      expect(deliveries.map(({ webhookEndpoint }) => webhookEndpoint.id)).toEqual([own.id]);
    },
  );
});
