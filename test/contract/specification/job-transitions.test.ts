/** The specification's table of a job's states and transitions, by HTTP and with the workers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi } from '../../support/api.ts';
import { createCustomer, readAccount } from '../../support/customers.ts';
import { read } from '../../support/requests.ts';
import { until } from '../../support/until.ts';
import { expectMet, getJob, run, settle, startIdle, startTestMode } from '../service.ts';

const TRANSITIONS = [
  { from: null, to: 'queued', also: 'credits reserved are held' },
  { from: 'queued', to: 'processing', also: 'started_at set' },
  { from: 'processing', to: 'succeeded', also: 'completed_at set, charged the real cost' },
  { from: 'processing', to: 'partial', also: 'completed_at set, charged the real cost, unused credits released' },
  { from: 'processing', to: 'failed', also: 'completed_at set, unused credits released' },
  { from: 'queued', to: 'expired', also: 'error populated' },
  { from: 'queued', to: 'canceled', also: 'cancelled before starting' },
] as const;

const ERROR = { type: expect.any(String), code: expect.any(String), message: expect.any(String) };
/** Longer than a test looks at a job. */
const SLOW_MS = 3_600_000;

let api: TestApi;
/** Where nobody picks a job up. */
let idle: TestApi;

beforeAll(async () => {
  [api, idle] = await Promise.all([startTestMode({ slowScenarioMs: SLOW_MS }), startIdle()]);
});
afterAll(async () => {
  await Promise.all([api.close(), idle.close()]);
});

const ENTERED: Record<(typeof TRANSITIONS)[number]['to'], () => Promise<void>> = {
  queued: async () => {
    const { keys, organizationId } = await createCustomer(idle.orm, { test: 100 });
    const { job } = await read(idle, { key: keys.test });
    expect(job).toMatchObject({ status: 'queued', credits: { reserved: 20, charged: 0 } });
    expect(await readAccount(idle.orm, organizationId, false)).toMatchObject({ available: 80, held: 20 });
  },

  processing: async () => {
    const { keys } = await createCustomer(api.orm);
    const { id } = (await read(api, { key: keys.test, scenario: 'slow' })).job;
    await until(async () => (await getJob(api, id, keys.test)).status !== 'queued');
    expect(await getJob(api, id, keys.test)).toMatchObject({
      status: 'processing',
      started_at: expect.any(Number),
      completed_at: null,
    });
  },

  succeeded: async () => {
    const { job } = await settle(api, await createCustomer(api.orm));
    expect(job).toMatchObject({
      completed_at: expect.any(Number),
      credits: { reserved: 20, charged: 20 },
      error: null,
    });
  },

  partial: async () => {
    const customer = await createCustomer(api.orm);
    const job = await run(api, 'inspections', customer, 'partial_inspection');
    expect(job).toMatchObject({ status: 'partial', completed_at: expect.any(Number), result: expect.any(Object) });
    expect(job.credits.charged).toBeLessThan(job.credits.reserved);
    expect(await readAccount(api.orm, customer.organizationId, false)).toMatchObject({
      available: 10_000 - job.credits.charged,
      held: 0,
    });
  },

  failed: async () => {
    const { job } = await settle(api, await createCustomer(api.orm), { scenario: 'model_error' });
    expect(job).toMatchObject({ status: 'failed', completed_at: expect.any(Number), credits: { charged: 0 } });
    expect(job.error).toEqual(ERROR);
  },

  expired: async () => {
    const { keys } = await createCustomer(idle.orm);
    const { job } = await read(idle, { key: keys.test, headers: { 'Cancel-After': '5s' } });
    await idle.temporal.client.workflow.getHandle(job.id).result();
    expect(await getJob(idle, job.id, keys.test)).toMatchObject({
      status: 'expired',
      result: null,
      error: ERROR,
      credits: { charged: 0 },
    });
  },

  canceled: async () => {
    const { keys } = await createCustomer(idle.orm);
    const { job } = await read(idle, { key: keys.test });
    const canceled = await idle.call(`/v1/jobs/${job.id}/cancel`, { method: 'POST', key: keys.test });
    expect(canceled.job).toMatchObject({ status: 'canceled', started_at: null, credits: { charged: 0 } });
  },
};

describe('Transition', () => {
  it.each(TRANSITIONS)('a job goes from $from to $to: $also', ({ to }) => expectMet(ENTERED[to], undefined));
});
