/** A key reads the jobs and events of the families that it may run; `*` reads all. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setLowBalanceThreshold } from '../../src/credits/credit-balances-store.ts';
import { publishLowBalanceEvents } from '../../src/credits/low-balance-events-store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { admit, finishJob } from '../support/jobs.ts';
import { expectRefusal } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;
/** Ids of settled jobs and of their events, by endpoint. */
const jobs: Record<string, string> = {};
const events: Record<string, string> = {};

const ENDPOINTS = ['dashboard.read', 'damage.detect', 'pricing.repair'];

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
  for (const endpoint of ENDPOINTS) {
    const jobId = await admit(api.orm, customer, { endpoint });
    await finishJob(api.orm, jobId);
    jobs[endpoint] = jobId;
  }
  const { json } = await api.call('/v1/events', { key: customer.keys.test });
  for (const { id, data } of json.data as { id: string; data: { object: { endpoint: string } } }[]) {
    events[data.object.endpoint] = id;
  }
});
afterAll(() => api.close());

const keyWith = async (...scopes: string[]) =>
  (await createKey(api.orm, customer.organizationId, 'test', { scopes })).secret;
const list = async (path: string, key: string) => {
  const { json } = await api.call(path, { key });
  return (json.data as { id: string }[]).map(({ id }) => id).sort();
};

describe.each([
  { scopes: ['damage:write'], readable: ['damage.detect'] },
  { scopes: ['jobs:read', 'damage:write'], readable: ['damage.detect'] },
  { scopes: ['damage:write', 'money:write'], readable: ['damage.detect', 'pricing.repair'] },
  { scopes: ['jobs:read', '*'], readable: ENDPOINTS },
  { scopes: ['*'], readable: ENDPOINTS },
  { scopes: ['jobs:read'], readable: [] },
])('a key with $scopes', ({ scopes, readable }) => {
  it(`a key with ${scopes.join(', ')} lists the jobs and events of ${readable.join(', ') || 'no endpoint'}`, async () => {
    const key = await keyWith(...scopes);
    expect(await list('/v1/jobs', key)).toEqual(readable.map((endpoint) => String(jobs[endpoint])).sort());
    expect(await list('/v1/events', key)).toEqual(readable.map((endpoint) => String(events[endpoint])).sort());
  });

  it.each(ENDPOINTS)(
    `a key with ${scopes.join(', ')} reads, follows and cancels jobs of %s, or learns nothing of them`,
    async (endpoint) => {
      const key = await keyWith(...scopes);
      const requests = [
        { path: `/v1/jobs/${jobs[endpoint]}`, param: 'id' },
        { path: `/v1/jobs/${jobs[endpoint]}/events`, param: 'id' },
        { path: `/v1/events/${events[endpoint]}`, param: 'id' },
      ];
      for (const { path, param } of requests) {
        if (readable.includes(endpoint)) expect((await api.call(path, { key })).status).toBe(200);
        else await expectRefusal(api, () => api.call(path, { key }), { code: 'resource_not_found', param });
      }
      const cancel = () => api.call(`/v1/jobs/${jobs[endpoint]}/cancel`, { method: 'POST', key });
      if (readable.includes(endpoint)) await expectRefusal(api, cancel, { code: 'job_not_cancelable' });
      else await expectRefusal(api, cancel, { code: 'resource_not_found', param: 'id' });
    },
  );
});

it('a key filters and pages among the jobs that it reads', async () => {
  const key = await keyWith('damage:write', 'money:write');
  expect(await list('/v1/jobs?endpoint=pricing.repair', key)).toEqual([jobs['pricing.repair']]);
  expect(await list('/v1/jobs?endpoint=dashboard.read', key)).toEqual([]);
  const first = await api.call('/v1/events?limit=1', { key });
  expect(first.json).toMatchObject({ has_more: true, data: [{ id: events['pricing.repair'] }] });
  const rest = await api.call(`/v1/events?limit=1&starting_after=${events['pricing.repair']}`, { key });
  expect(rest.json).toMatchObject({ has_more: false, data: [{ id: events['damage.detect'] }] });
});

describe('a job named by a parameter', () => {
  const price = (key: string) =>
    api.call('/v1/pricing/repair', {
      method: 'POST',
      key,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ job_id: jobs['damage.detect'] }),
    });

  it('a job named by a parameter must be one that the key reads', async () => {
    const key = await keyWith('money:write');
    await expectRefusal(api, () => price(key), { code: 'resource_not_found', param: 'job_id' });
    expect((await price(await keyWith('money:write', 'damage:write'))).status).toBe(202);
  });
});

it('an event of credits belongs to no family: every key that reads jobs lists it', async () => {
  const poor = await createCustomer(api.orm, { live: 0, test: 30 });
  const { organizationId } = poor;
  const em = api.orm.em.fork();
  await setLowBalanceThreshold(em, { organizationId, livemode: false }, 20);
  const jobId = await admit(api.orm, poor);
  await finishJob(api.orm, jobId);
  await publishLowBalanceEvents(em);
  const { secret } = await createKey(api.orm, organizationId, 'test', { scopes: ['render:write'] });
  const { json } = await api.call('/v1/events', { key: secret });
  expect(json).toMatchObject({ data: [{ type: 'credits.low_balance' }] });
});
