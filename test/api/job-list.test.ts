import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Job } from '../../src/jobs/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { admit, countRows, readJob, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';

let api: TestApi;
let customer: Customer;
let jobIds: string[];

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
  jobIds = [];
  for (let count = 0; count < 5; count += 1) jobIds.unshift(await admit(api.orm, customer, { livemode: true }));
});

afterAll(() => api.close());

async function list(query = '', key = customer.keys.live) {
  const answer = await api.call(`/v1/jobs${query}`, { key });
  const { data, has_more: hasMore } = answer.json as unknown as { data: { id: string }[]; has_more: boolean };
  return { ids: data.map(({ id }) => id), hasMore };
}

describe('the list of jobs', () => {
  it('the list of jobs runs from newest to oldest, page by page, without gaps', async () => {
    const first = await list('?limit=2');
    expect(first).toEqual({ ids: jobIds.slice(0, 2), hasMore: true });
    const second = await list(`?limit=2&starting_after=${jobIds[1]}`);
    expect(second).toEqual({ ids: jobIds.slice(2, 4), hasMore: true });
    expect(await list(`?limit=2&starting_after=${jobIds[3]}`)).toEqual({ ids: jobIds.slice(4), hasMore: false });
  });

  it('the list of jobs pages backwards with ending_before', async () => {
    expect(await list(`?limit=2&ending_before=${jobIds[3]}`)).toEqual({ ids: jobIds.slice(1, 3), hasMore: true });
  });

  it('the list of jobs shows only jobs of the same organisation and mode', async () => {
    const stranger = await createCustomer(api.orm);
    expect((await list('', stranger.keys.live)).ids).toEqual([]);
    expect((await list('', customer.keys.test)).ids).toEqual([]);
    expect((await list('', customer.keys.staging)).ids).toEqual(jobIds);
  });

  it('the list of jobs filters by status, endpoint and time', async () => {
    expect((await list('?status=succeeded')).ids).toEqual([]);
    expect((await list('?status=queued&endpoint=dashboard.read')).ids).toEqual(jobIds);
    const now = Math.floor(Date.now() / 1000);
    expect((await list(`?created[gte]=${now - 600}&created[lt]=${now + 600}`)).ids).toEqual(jobIds);
    expect((await list(`?created[gt]=${now + 600}`)).ids).toEqual([]);
  });

  it('the list of jobs accepts the latest documented time and refuses a later one', async () => {
    for (const bound of ['gte', 'gt', 'lte', 'lt']) {
      const isBefore = bound.startsWith('l');
      expect((await list(`?created[${bound}]=253402214399`)).ids).toEqual(isBefore ? jobIds : []);
      const answer = await api.call(`/v1/jobs?created[${bound}]=253402214400`, { key: customer.keys.live });
      expect(answer.error).toMatchObject({ code: 'parameter_invalid', param: `created[${bound}]` });
    }
  });

  it.each([0, 3_599])('the list of jobs shows what is newer than second %s, which no id can be', async (second) => {
    for (const bound of ['gte', 'gt']) expect((await list(`?created[${bound}]=${second}`)).ids).toEqual(jobIds);
    for (const bound of ['lte', 'lt']) expect((await list(`?created[${bound}]=${second}`)).ids).toEqual([]);
  });

  it('the list of jobs compares time filters in whole seconds, as jobs show them', async () => {
    const { created } = (await api.call(`/v1/jobs/${jobIds[0]}`, { key: customer.keys.live })).json as {
      created: number;
    };
    expect((await list(`?created[gte]=${created}&created[lte]=${created}`)).ids).toContain(jobIds[0]);
    expect((await list(`?created[gt]=${created}`)).ids).not.toContain(jobIds[0]);
    expect((await list(`?created[lt]=${created}`)).ids).not.toContain(jobIds[0]);
  });

  it.each([
    ['?limit=0', 'parameter_invalid', 'limit'],
    ['?limit=101', 'parameter_invalid', 'limit'],
    ['?limit=two', 'parameter_invalid', 'limit'],
    ['?status=done', 'parameter_invalid', 'status'],
    ['?endpoint=nothing.read', 'parameter_invalid', 'endpoint'],
    ['?created[gte]=yesterday', 'parameter_invalid', 'created[gte]'],
    ['?colour=red', 'parameter_unknown', 'colour'],
    ['?starting_after=foo', 'parameter_invalid', 'starting_after'],
    ['?starting_after=', 'parameter_invalid', 'starting_after'],
    ['?starting_after=evt_1CoTsd5kMvWzrNbUoFgrYo', 'parameter_invalid', 'starting_after'],
    ['?ending_before=job_0', 'parameter_invalid', 'ending_before'],
    ['?starting_after=job_a&ending_before=job_b', 'parameter_invalid', 'ending_before'],
  ])('the list of jobs refuses %s', async (query, code, param) => {
    const answer = await api.call(`/v1/jobs${query}`, { key: customer.keys.live });
    expect(answer.error).toMatchObject({ code, param });
  });
});

describe('cancellations', () => {
  const cancel = (id: string, key = customer.keys.live) => api.call(`/v1/jobs/${id}/cancel`, { method: 'POST', key });

  it('a cancellation ends a queued job, releases its hold, emits no event, and is idempotent', async () => {
    const id = await admit(api.orm, customer, { livemode: true });
    const first = await cancel(id);
    expect(first.json).toMatchObject({ status: 'canceled', error: null, credits: { charged: 0 } });
    expect((await cancel(id)).text).toBe(first.text);
    expect((await transfersOf(api.orm, id)).map(([kind]) => kind).sort()).toEqual(['hold', 'release']);
    expect(await countRows(api.orm, 'events', customer.organizationId)).toBe(0);
    await expectLedgerToBalance(api.databaseUrl);
  });

  it('a cancellation is refused for a job that was picked up', async () => {
    const id = await admit(api.orm, customer, { livemode: true });
    await api.orm.em.fork().nativeUpdate(Job, { id }, { status: 'processing' });
    expect((await cancel(id)).error.code).toBe('job_not_cancelable');
  });

  it('a cancellation requires the scope that runs the endpoint', async () => {
    const id = await admit(api.orm, customer, { livemode: true });
    const scopes = ['jobs:read', 'damage:write'];
    const stranger = await createKey(api.orm, customer.organizationId, 'live', { scopes });
    expect((await cancel(id, stranger.secret)).error.code).toBe('resource_not_found');
    expect((await readJob(api.orm, id)).status).toBe('queued');
  });

  it("a cancellation of another organisation's job is refused as not found", async () => {
    const stranger = await createCustomer(api.orm);
    const id = await admit(api.orm, customer, { livemode: true });
    expect((await cancel(id, stranger.keys.live)).error.code).toBe('resource_not_found');
  });
});
