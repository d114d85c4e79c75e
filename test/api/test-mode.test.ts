/** Test mode through the whole pipeline: HTTP, Temporal, the fixture backend, settlement, ledger, events. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { Event } from '../../src/jobs/entities.ts';
import { WebhookDelivery } from '../../src/webhooks/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createQuickFixtureBackend } from '../support/backends.ts';
import { type Customer, createCustomer, createWebhookEndpoint, readAccount } from '../support/customers.ts';
import { transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { png } from '../support/pictures.ts';
import { expectRefusal, filePart, type ReadRequest, read, upload } from '../support/requests.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

/** Scenarios that create no job. */
const REFUSED = 'insufficient_credits';
const scenarios = Object.keys(endpointBySlug('dashboard.read').scenarios).filter((name) => name !== REFUSED);

let api: TestApi;
let workers: TestWorkers;
let customer: Customer;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, createQuickFixtureBackend(api.store)),
  ]);
});
afterAll(async () => {
  await workers.stop();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});
beforeEach(async () => {
  customer = await createCustomer(api.orm, { test: 1_000 });
  key = customer.keys.test;
});

/** Submits and waits. The response is validated against the OpenAPI document on the way. */
async function settle(request: ReadRequest = {}) {
  const answer = await read(api, { key, query: '?wait=true', ...request });
  expect(answer.status).toBe(200);
  return answer.job;
}

describe('the scenario', () => {
  it.each(scenarios)('the scenario %s settles the job, which carries the scenario', async (scenario) => {
    const job = await settle({ scenario });
    const fails = ['model_error', 'input_unreadable'].includes(scenario);
    expect(job).toMatchObject({
      status: fails ? 'failed' : 'succeeded',
      livemode: false,
      is_staging: false,
      test_scenario: scenario,
      credits: { reserved: 20, charged: fails ? 0 : 20 },
      result: fails ? null : expect.any(Object),
      error: fails ? expect.any(Object) : null,
    });
    expect(job.started_at).not.toBeNull();
    expect(job.completed_at).not.toBeNull();
    expect(job.model_version).toMatch(/^[\w-]+@\d{4}-\d{2}-\d{2}$/);
  });

  it('the scenario input_unreadable fails as a damaged file does', async () => {
    const job = await settle({ scenario: 'input_unreadable' });
    expect(job).toMatchObject({ status: 'failed', error: { type: 'processing_error', code: 'input_unreadable' } });
  });

  it('the scenario model_error fails like a real model, and the whole hold is released', async () => {
    const job = await settle({ scenario: 'model_error' });
    expect(job.error).toEqual({
      type: 'processing_error',
      code: 'model_inference_failed',
      message: expect.any(String),
    });
    expect(await transfersOf(api.orm, job.id)).toEqual([
      ['hold', 20],
      ['release', 20],
    ]);
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual({
      available: 1_000,
      held: 0,
      openJobs: 0,
    });
  });

  it('the scenario insufficient_credits creates no job, whatever the balance', () =>
    expectRefusal(api, () => read(api, { key, query: '?wait=true', scenario: REFUSED }), { code: REFUSED }));

  it('a test job without a scenario has a deterministic result and no test_scenario', async () => {
    const [first, second] = [await settle(), await settle({ image: png })];
    expect(first.result).toEqual(second.result);
    expect(first).not.toHaveProperty('test_scenario');
  });
});

describe('a truncated file', () => {
  const truncated = png.subarray(0, -20);

  it('a truncated file ends its job as a dry run says and as a live job ends: input_unreadable, uncharged', async () => {
    const input_ref = await upload(api, key, truncated);
    for (const request of [{ image: truncated }, { json: { input_ref } }]) {
      const { error: refusal } = await read(api, { key, query: '?dry_run=true', ...request });
      const { status, credits, result, error } = await settle(request);
      expect({ status, credits, result }).toEqual({
        status: 'failed',
        credits: { reserved: 20, charged: 0 },
        result: null,
      });
      expect(error).toEqual({ type: refusal.type, code: 'input_unreadable', message: refusal.message });
    }
  });

  it('a truncated file ends the job of a bundle too', async () => {
    const body = new FormData();
    for (const image of [png, truncated]) body.append('images', filePart(image), 'picture.png');
    const answer = await api.call('/v1/vehicle/analyze', { method: 'POST', key, body });
    expect(answer.status).toBe(202);
    await api.temporal.client.workflow.getHandle(answer.job.id).result();
    expect((await api.call(`/v1/jobs/${answer.job.id}`, { key })).job).toMatchObject({
      status: 'failed',
      credits: { charged: 0 },
      error: { code: 'input_unreadable' },
    });
  });
});

describe('multipart and JSON', () => {
  it.each([
    { unit_hint: 'mi', scenario: 'unit_unknown', expected: { odometer: expect.objectContaining({ unit: 'mi' }) } },
    { read_warning_lights: false, expected: { warning_lights: null } },
    { expected: { cluster_lit: true } },
  ])('multipart and JSON are the same operation: %j', async ({ scenario, expected, ...parameters }) => {
    const fields = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
    const steered = scenario === undefined ? {} : { scenario };
    const direct = await settle({ fields, ...steered });
    const referring = await settle({ json: { input_ref: await upload(api, key), ...parameters }, ...steered });
    expect(direct.result).toMatchObject(expected);
    expect(referring.result).toEqual(direct.result);
    expect(referring.credits).toEqual(direct.credits);
  });
});

describe('the event of a job', () => {
  async function eventOf(jobId: string) {
    const em = api.orm.em.fork();
    const event = await em.findOneOrFail(Event, { jobId });
    return { event, deliveries: await em.find(WebhookDelivery, { event: event.id }) };
  }

  it('the event of a job is delivered to the subscribed endpoints of its mode, each by its own workflow', async () => {
    const wanting = await createWebhookEndpoint(api.orm, customer.organizationId, { events: ['job.succeeded'] });
    await createWebhookEndpoint(api.orm, customer.organizationId, { events: ['job.failed'] });
    await createWebhookEndpoint(api.orm, customer.organizationId, { livemode: true });
    const job = await settle();
    const { event, deliveries } = await eventOf(job.id);
    expect(event.type).toBe('job.succeeded');
    expect(JSON.parse(event.payload).data.object).toEqual(job);
    expect(deliveries.map(({ webhookEndpoint }) => webhookEndpoint.id)).toEqual([wanting.id]);
    await api.temporal.client.workflow.getHandle(job.id).result();
    const delivery = await api.temporal.client.workflow.getHandle(deliveries[0]?.id ?? '').describe();
    expect(delivery.type).toBe('deliverWebhook');
  });

  it('the event of a failed job is job.failed', async () => {
    const { event } = await eventOf((await settle({ scenario: 'model_error' })).id);
    expect(event.type).toBe('job.failed');
  });

  it('the cancellation of a job causes no event', async () => {
    await createWebhookEndpoint(api.orm, customer.organizationId);
    await workers.stop();
    const { job } = await read(api, { key });
    const canceled = await api.call(`/v1/jobs/${job.id}/cancel`, { method: 'POST', key });
    expect(canceled.job).toMatchObject({
      status: 'canceled',
      credits: { reserved: 20, charged: 0 },
      result: null,
      error: null,
    });
    expect(await api.orm.em.fork().count(Event, { jobId: job.id })).toBe(0);
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual({
      available: 1_000,
      held: 0,
      openJobs: 0,
    });
    workers = await startTestWorkers(api.temporal, [
      await orchestrationWorker(api.orm),
      ...inferenceWorkers(api.orm, createQuickFixtureBackend()),
    ]);
  });
});
