/** Reading jobs. I6: no row is visible across organisations or modes. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { installEndpoints } from '../support/jobs.ts';
import { expectRefusal, read } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi();
  await installEndpoints(api.orm);
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
});

const get = (id: string, key: string) => api.call(`/v1/jobs/${id}`, { key });

it('a job reads the same as its creation response', async () => {
  const submitted = await read(api, { key: customer.keys.test });
  expect(submitted.job).toEqual({
    id: submitted.job.id,
    object: 'job',
    endpoint: 'dashboard.read',
    status: 'queued',
    livemode: false,
    is_staging: false,
    created: expect.any(Number),
    started_at: null,
    completed_at: null,
    model_version: null,
    credits: { reserved: 20, charged: 0 },
    result: null,
    error: null,
  });
  const found = await get(submitted.job.id, customer.keys.test);
  expect(found.status).toBe(200);
  expect(found.text).toBe(submitted.text);
});

describe('jobs reported as not found', () => {
  /** The whole response, without what differs between any two requests. */
  async function answerTo(id: string, key: string): Promise<string> {
    const answer = await expectRefusal(api, () => get(id, key), { code: 'resource_not_found', param: 'id' });
    const headers = [...answer.headers].filter(
      ([name]) => !/^(date|request-id|ratelimit-.*|content-length)$/.test(name),
    );
    const body = answer.text.replaceAll(id, '<id>').replaceAll(answer.error.request_id, '<request>');
    return JSON.stringify({ status: answer.status, headers, body });
  }

  it("another organisation's job is reported as not found", async () => {
    const stranger = await createCustomer(api.orm);
    const { job } = await read(api, { key: stranger.keys.test });
    expect(await answerTo(job.id, customer.keys.test)).toBe(await answerTo(newId('job'), customer.keys.test));
  });

  it.each([
    { of: 'live', by: 'test' },
    { of: 'test', by: 'live' },
    { of: 'staging', by: 'test' },
    { of: 'test', by: 'staging' },
  ] as const)('a job of a $of key is reported as not found to a $by key', async ({ of, by }) => {
    const { job } = await read(api, { key: customer.keys[of] });
    expect((await get(job.id, customer.keys[of])).status).toBe(200);
    expect(await answerTo(job.id, customer.keys[by])).toBe(await answerTo(newId('job'), customer.keys[by]));
  });

  it('an id of another kind is reported as a job that is not found', async () => {
    expect(await answerTo(customer.organizationId, customer.keys.test)).toBe(
      await answerTo(newId('job'), customer.keys.test),
    );
  });
});

it('another key of the same organisation and mode reads the job', async () => {
  const { job } = await read(api, { key: customer.keys.staging });
  expect((await get(job.id, customer.keys.live)).job).toMatchObject({ id: job.id, livemode: true, is_staging: true });
});
