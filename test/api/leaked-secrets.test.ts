/** No secret reaches the log or the database, whether sent in its proper place or by mistake elsewhere. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newApiKeySecret } from '../../src/organizations/api-keys.ts';
import { query } from '../../src/platform/database/orm.ts';
import { newWebhookSecret } from '../../src/webhooks/signing.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { managing } from '../support/management.ts';
import { read } from '../support/requests.ts';

const IDEMPOTENCY_KEY = 'idempotency-key-of-the-scan-for-leaks';
const JSON_BODY = { 'Content-Type': 'application/json' };

let api: TestApi;
let customer: Customer;
/** Secrets to search for, by kind. */
const secrets: Record<string, string> = {};
let requests = 0;

const call: TestApi['call'] = (path, options) => {
  requests += 1;
  return api.call(path, options);
};

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
  const { organizationId, keys } = customer;
  const manage = managing(api, organizationId);
  const token = await api.identity.token({ organizationId });
  Object.assign(secrets, {
    'live key': keys.live,
    'test key': keys.test,
    'key of nobody': newApiKeySecret('live').secret,
    'token of a member': token,
    'token without signature': token.replace(/[^.]+$/, ''),
    'webhook secret of nobody': newWebhookSecret(),
  });
  for (const secret of Object.values(secrets)) await plant(encodeURIComponent(secret), secret);
  Object.assign(secrets, {
    'sealing key': 'sealing key of the tests',
    'signing key of links': 'signing key of the tests',
    'password of the database': new URL(api.databaseUrl).password,
  });
  await useProperly(manage);
});
afterAll(() => api.close());

/** Places where a caller may put a secret by mistake. */
async function plant(inAddress: string, secret: string): Promise<void> {
  const { keys } = customer;
  const token = await api.identity.token({ organizationId: customer.organizationId });
  for (const [key, path] of [
    [keys.test, '/v1/jobs'],
    [token, '/mgmt/v1/api-keys'],
    [keys.test, '/nowhere'],
  ] as const) {
    await call(`${path}/${inAddress}`, { key });
    await call(`${path}?api_key=${inAddress}`, { key });
    await call(path, {
      key,
      headers: { 'Request-Id': secret.slice(0, 128), 'X-Api-Key': secret, 'User-Agent': secret },
    });
    await call(path, { headers: { Authorization: secret } });
    await call(path, { headers: { Authorization: `Basic ${secret}` } });
    await call(path, { key: secret });
  }
  for (const body of [JSON.stringify({ [secret]: secret }), JSON.stringify({ livemode: secret }), `{"${secret}`]) {
    await call('/mgmt/v1/api-keys', { method: 'POST', key: token, headers: JSON_BODY, body });
    await call('/v1/dashboard/read', { method: 'POST', key: keys.test, headers: JSON_BODY, body });
  }
}

/** Proper use: secrets are created, shown and replayed. */
async function useProperly(manage: ReturnType<typeof managing>): Promise<void> {
  const replayed = async (what: string, path: string, body: object) => {
    const first = await manage(path, { body, idempotencyKey: IDEMPOTENCY_KEY });
    const second = await manage(path, { body, idempotencyKey: IDEMPOTENCY_KEY });
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(second.text).toBe(first.text);
    const { secret, id } = first.json as { secret: string; id: string };
    expect(secret.length).toBeGreaterThan(30);
    secrets[what] = secret;
    return id;
  };
  const id = await replayed('new key', '/api-keys', { name: 'Scan', livemode: false, scopes: ['*'] });
  await replayed('rotated key', `/api-keys/${id}/rotate`, {});
  const endpoint = await createWebhookEndpoint(api.orm, customer.organizationId);
  secrets['webhook secret'] = endpoint.secret;
  await replayed('rotated webhook secret', `/webhook-endpoints/${endpoint.id}/rotate-secret`, {});
  await read(api, { key: secrets['rotated key'] ?? '', idempotencyKey: IDEMPOTENCY_KEY });
  await manage('/audit-log');
  await api.keyUse.flush();
}

it('no log line contains a secret, wherever it was sent', () => {
  expect(requests).toBeGreaterThan(100);
  expect(api.log.lines.length).toBeGreaterThan(requests);
  const log = api.log.lines.join('');
  expect(Object.entries(secrets).filter(([, secret]) => log.includes(secret))).toEqual([]);
  expect(log).not.toContain(IDEMPOTENCY_KEY);
});

it('no database row contains a secret: keys are hashed, and recoverable secrets are sealed', async () => {
  const em = api.orm.em.fork();
  const tables = await query<{ name: string }>(
    em,
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  let dump = '';
  for (const { name } of tables) {
    const rows = await query<{ row: string }>(em, `select row_to_json(known)::text as row from ${name} as known`);
    dump += rows.map(({ row }) => row).join('\n');
  }
  expect(Object.entries(secrets).filter(([, secret]) => dump.includes(secret))).toEqual([]);
  // Proves that the scan covers the created rows.
  expect(dump).toContain(IDEMPOTENCY_KEY);
  expect(dump.match(/"response_body":"sealed1\./g)).toHaveLength(3);
});
