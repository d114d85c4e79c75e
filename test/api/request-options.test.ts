import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { countRows, readJob } from '../support/jobs.ts';
import { read } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ waitCeilingMs: 50 });
  customer = await createCustomer(api.orm);
});

afterAll(() => api.close());

const submit = (headers: Record<string, string>, query = '') => read(api, { key: customer.keys.test, headers, query });

describe('Prefer: wait', () => {
  it.each([
    'wait=20',
    'respond-async, wait=20',
    'WAIT=20',
    'wait = "20"',
    'wait=20; unit=s',
    'wait=20, wait=0',
    'wait=99999999999999999999999',
  ])('%s holds the connection as wait=true does, and is told the ceiling, here of one second', async (preference) => {
    const answer = await submit({ Prefer: preference });
    expect([answer.status, answer.headers.get('Preference-Applied')]).toEqual([202, 'wait=1']);
  });

  it('gives way to the parameter', async () => {
    const answer = await submit({ Prefer: 'wait=20' }, '?wait=false');
    expect([answer.status, answer.headers.get('Preference-Applied')]).toEqual([202, null]);
  });

  it('is ignored when it makes no sense, as preferences are', async () => {
    expect((await submit({ Prefer: 'wait=soon' })).status).toBe(202);
  });
});

describe('Cancel-After', () => {
  it.each([
    ['30s', 30_000],
    ['45', 45_000],
    ['5m', 300_000],
    ['1m30s', 90_000],
    ['2h', 600_000],
  ])('%s gives the job that long in the queue, never longer than the endpoint', async (given, expiryMs) => {
    const answer = await submit({ 'Cancel-After': given });
    expect((await readJob(api.orm, String(answer.json.id))).expiryMs).toBe(expiryMs);
  });

  it.each(['', '4s', '0', 'soon', '1s30m', '-5m'])('"%s" is refused', async (given) => {
    expect((await submit({ 'Cancel-After': given })).error).toMatchObject({
      code: 'parameter_invalid',
      param: 'Cancel-After',
    });
  });
});

describe('dry_run', () => {
  it('answers what the request would cost, and creates nothing', async () => {
    const other = await createCustomer(api.orm, { test: 30 });
    const answer = await read(api, { key: other.keys.test, query: '?dry_run=true' });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      object: 'dry_run',
      endpoint: 'dashboard.read',
      credits: { reserved: 20, available: 30 },
      sufficient: true,
    });
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(0);
  });

  it('says that the credits would not do where the scenario says so', async () => {
    const answer = await read(api, {
      key: customer.keys.test,
      query: '?dry_run=true',
      scenario: 'insufficient_credits',
    });
    expect(answer.json).toMatchObject({ object: 'dry_run', sufficient: false });
  });

  it('says when the credits would not do', async () => {
    const poor = await createCustomer(api.orm, { test: 10 });
    const answer = await read(api, { key: poor.keys.test, query: '?dry_run=true' });
    expect(answer.json).toMatchObject({ credits: { available: 10 }, sufficient: false });
  });

  it('refuses what the request itself would be refused for', async () => {
    const answer = await read(api, { key: customer.keys.test, query: '?dry_run=true', fields: { colour: 'red' } });
    expect(answer.error).toMatchObject({ code: 'parameter_unknown', param: 'colour' });
  });

  it('is true or false', async () => {
    expect((await submit({}, '?dry_run=perhaps')).error).toMatchObject({ code: 'parameter_invalid', param: 'dry_run' });
  });

  it('leaves no file', async () => {
    const before = await api.storedFiles();
    await submit({}, '?dry_run=true');
    expect(await api.storedFiles()).toEqual(before);
  });
});

it('a misspelt query parameter is refused, before it costs anything', async () => {
  const answer = await submit({}, '?dryrun=true');
  expect(answer.error).toMatchObject({ code: 'parameter_unknown', param: 'dryrun' });
});

it('JSON in a multipart part is held to its types as JSON is', async () => {
  const body = new FormData();
  body.append('vehicle', JSON.stringify({ make: 'Talvera', model: 'Lumo', year: '2021' }));
  const answer = await api.call('/v1/pricing/vehicle', { method: 'POST', key: customer.keys.test, body });
  expect(answer.error).toMatchObject({ code: 'parameter_invalid', param: 'vehicle.year' });
});
