/** No secret and no image content is logged or returned, whatever fails. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey, createWebhookEndpoint } from '../support/customers.ts';
import { jpeg } from '../support/pictures.ts';
import { BOUNDARY, MULTIPART } from '../support/raw-request.ts';
import { DASHBOARD_READ, form, read } from '../support/requests.ts';

/** Marks customer data that must not be written anywhere. */
const PRIVATE = 'Erika-Mustermann-W-OB-1234';

let api: TestApi;
let customer: Customer;
const answers: string[] = [];

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
});
afterAll(() => api.close());

describe('after requests of every kind', () => {
  let signingSecret: string;
  let expired: string;

  beforeAll(async () => {
    const { organizationId, keys } = customer;
    signingSecret = (await createWebhookEndpoint(api.orm, organizationId)).secret;
    expired = (await createKey(api.orm, organizationId, 'test', { expiresAt: new Date(0) })).secret;
    const post = (headers: Record<string, string>, body: RequestInit['body']) =>
      api.call(DASHBOARD_READ, { method: 'POST', key: keys.test, headers, body });
    const sent = [
      () => read(api, { key: keys.test, idempotencyKey: PRIVATE }),
      () => read(api, { key: keys.live }),
      () => read(api, { key: expired }),
      () => read(api, { key: `${keys.test}x` }),
      () => read(api, { key: keys.test, fields: { [PRIVATE]: PRIVATE } }),
      () => read(api, { key: keys.test, query: `?wait=${PRIVATE}` }),
      () => read(api, { key: keys.test, image: Buffer.from(PRIVATE) }),
      () => post({ 'Content-Type': 'application/json' }, `{"${PRIVATE}`),
      () => post(MULTIPART, `--${BOUNDARY}\r\n${PRIVATE}`),
      () => api.call(`/v1/jobs/job_11111111?access_token=${keys.test}`, { key: keys.test }),
      () => api.call('/v1/endpoints', { headers: { Authorization: `Basic ${keys.test}` } }),
      () => api.call('/v1/uploads', { method: 'POST', key: keys.test, body: form({ image: jpeg }) }),
      () => api.call('/unknown', { key: keys.test, headers: { Cookie: PRIVATE, 'X-Secret': keys.live } }),
    ];
    for (const send of sent) answers.push((await send()).text);
  });

  it('the log contains no key, signing secret or database password', () => {
    const log = api.log.lines.join('');
    expect(api.log.lines.length).toBeGreaterThanOrEqual(13);
    for (const secret of [...Object.values(customer.keys), expired, signingSecret, new URL(api.databaseUrl).password]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(log).not.toContain(secret);
    }
  });

  it('the log contains nothing from a body, a query or a header', () => {
    expect(api.log.lines.join('')).not.toContain(PRIVATE);
  });

  it('no response repeats a key', () => {
    for (const key of [...Object.values(customer.keys), expired]) {
      for (const answer of answers) expect(answer).not.toContain(key);
    }
  });
});

it('a database failure reveals nothing about the database to the caller and no statement parameter to the log', async () => {
  const { secret } = await createKey(api.orm, customer.organizationId, 'test');
  await api.orm.em.getConnection().execute('alter table api_keys rename to api_keys_away');
  try {
    const answer = await api.call('/v1/endpoints', { key: secret });
    expect(answer.status).toBe(500);
    expect(answer.error.code).toBe('internal_error');
    expect(answer.text).not.toMatch(/api_keys|relation|select/i);
    await api.log.waitFor((line) => line.msg === 'unexpected error');
    expect(api.log.lines.join('')).not.toContain(secret);
  } finally {
    await api.orm.em.getConnection().execute('alter table api_keys_away rename to api_keys');
  }
});
