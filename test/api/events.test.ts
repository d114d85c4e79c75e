/** `GET /v1/events`: the events of the last 30 days, delivered to webhooks or not. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Event } from '../../src/jobs/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { admit, finishJob, SUCCESS } from '../support/jobs.ts';
import { expectRefusal } from '../support/requests.ts';

const DAY_MS = 24 * 60 * 60_000;

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
});

/** Settles a test-mode job and returns the id of its event. */
async function endJob(status: 'succeeded' | 'partial' | 'failed' = 'succeeded'): Promise<string> {
  const jobId = await admit(api.orm, customer);
  await finishJob(api.orm, jobId, { ...SUCCESS, status });
  return (await api.orm.em.fork().findOneOrFail(Event, { jobId })).id;
}

async function list(query = '', key = customer.keys.test) {
  const { data, has_more: hasMore } = (await api.call(`/v1/events${query}`, { key })).json as unknown as {
    data: { id: string; type: string }[];
    has_more: boolean;
  };
  return { ids: data.map(({ id }) => id), types: data.map(({ type }) => type), hasMore };
}

it('an event reads byte for byte as signed and delivered', async () => {
  const id = await endJob();
  const { payload } = await api.orm.em.fork().findOneOrFail(Event, { id });
  const answer = await api.call(`/v1/events/${id}`, { key: customer.keys.test });
  expect(answer.status).toBe(200);
  expect(answer.text).toBe(payload);
});

describe('the list of events', () => {
  it('the list of events runs from newest to oldest, page by page', async () => {
    const ids = [await endJob(), await endJob(), await endJob()].reverse();
    expect(await list('?limit=2')).toMatchObject({ ids: ids.slice(0, 2), hasMore: true });
    expect(await list(`?limit=2&starting_after=${ids[1]}`)).toMatchObject({ ids: ids.slice(2), hasMore: false });
  });

  it('the list of events is in the order in which jobs ended, whichever was admitted first, in both directions', async () => {
    const early = await admit(api.orm, customer);
    const later = [await endJob(), await endJob()];
    await finishJob(api.orm, early);
    const { id: last } = await api.orm.em.fork().findOneOrFail(Event, { jobId: early });
    const ids = [last, ...later.toReversed()];
    expect((await list()).ids).toEqual(ids);
    expect(await list(`?limit=1&ending_before=${later[1]}`)).toMatchObject({ ids: [last], hasMore: false });
    expect(await list(`?limit=1&starting_after=${last}`)).toMatchObject({ ids: [later[1]], hasMore: true });
    expect((await list(`?starting_after=${later[0]}`)).ids).toEqual([]);
  });

  it('the list of events continues after a cursor whose event has been deleted', async () => {
    const [old, deleted, young] = [await endJob(), await endJob(), await endJob()];
    await api.orm.em.fork().nativeDelete(Event, { id: deleted });
    expect((await list(`?starting_after=${deleted}`)).ids).toEqual([old]);
    expect((await list(`?ending_before=${deleted}`)).ids).toEqual([young]);
  });

  it('the list of events filters by type', async () => {
    await endJob('failed');
    await endJob('partial');
    await endJob();
    expect((await list()).types).toEqual(['job.succeeded', 'job.partial', 'job.failed']);
    expect((await list('?type=job.partial')).types).toEqual(['job.partial']);
  });

  it('the list of events goes back 30 days', async () => {
    const [young, old] = [await endJob(), await endJob()];
    const em = api.orm.em.fork();
    await em.nativeUpdate(Event, { id: young }, { createdAt: new Date(Date.now() - 29.9 * DAY_MS) });
    await em.nativeUpdate(Event, { id: old }, { createdAt: new Date(Date.now() - 30.1 * DAY_MS) });
    expect((await list()).ids).toEqual([young]);
  });

  it('the list of events shows only events of the same organisation and mode', async () => {
    const id = await endJob();
    const stranger = await createCustomer(api.orm);
    for (const key of [stranger.keys.test, customer.keys.live]) {
      expect((await list('', key)).ids).toEqual([]);
      await expectRefusal(api, () => api.call(`/v1/events/${id}`, { key }), {
        code: 'resource_not_found',
        param: 'id',
      });
    }
  });

  it.each([
    { query: '?limit=0', code: 'parameter_invalid', param: 'limit' },
    { query: '?limit=101', code: 'parameter_invalid', param: 'limit' },
    { query: '?type=job.canceled', code: 'parameter_invalid', param: 'type' },
    { query: '?status=failed', code: 'parameter_unknown', param: 'status' },
    { query: '?created[gte]=yesterday', code: 'parameter_invalid', param: 'created[gte]' },
    { query: '?starting_after=job_1CoTsd5kMvWzrNbUoFgrYo', code: 'parameter_invalid', param: 'starting_after' },
    { query: '?ending_before=', code: 'parameter_invalid', param: 'ending_before' },
    { query: '?starting_after=evt_1&ending_before=evt_2', code: 'parameter_invalid', param: 'ending_before' },
  ] as const)('the list of events refuses $query', async ({ query, code, param }) => {
    await expectRefusal(api, () => api.call(`/v1/events${query}`, { key: customer.keys.test }), { code, param });
  });

  it('the list of events requires the scope jobs:read', async () => {
    const { secret } = await createKey(api.orm, customer.organizationId, 'test', { scopes: ['storage:write'] });
    await expectRefusal(api, () => api.call('/v1/events', { key: secret }), { code: 'scope_not_granted' });
  });
});
