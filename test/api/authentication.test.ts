import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashApiKeySecret, newApiKeySecret } from '../../src/organizations/api-keys.ts';
import { ApiKey } from '../../src/organizations/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { expectRefusal, read } from '../support/requests.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');

let api: TestApi;
let customer: Customer;
let now: Date;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now });
  customer = await createCustomer(api.orm);
});
afterAll(() => api.close());
beforeEach(() => {
  now = NOON;
});

describe('refused credentials', () => {
  it('a request without a key is refused with instructions on how to send one', async () => {
    const refused = await expectRefusal(api, () => read(api, {}), { code: 'missing_api_key' });
    expect(refused.headers.get('WWW-Authenticate')).toBe('Bearer');
  });

  it.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'Bearer two words'])(
    'a request with "Authorization: %s", which carries no key, is refused',
    async (authorization) => {
      await expectRefusal(api, () => read(api, { headers: { Authorization: authorization } }), {
        code: 'missing_api_key',
      });
    },
  );

  it('a request with an unknown key is refused', () =>
    expectRefusal(api, () => read(api, { key: newApiKeySecret('test').secret }), { code: 'invalid_api_key' }));

  it('a request with a key whose checksum does not match is refused', () => {
    const { test: key } = customer.keys;
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    return expectRefusal(api, () => read(api, { key: mistyped }), { code: 'invalid_api_key' });
  });

  it('a request with a JWT is refused, and the refusal says that it is not a key', async () => {
    const { error } = await expectRefusal(api, () => read(api, { key: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln' }), {
      code: 'invalid_api_key',
    });
    expect(error.message).toContain('JSON Web Token');
  });

  it('a request with a revoked key is refused at once', async () => {
    const { id, secret } = await createKey(api.orm, customer.organizationId, 'test');
    expect((await read(api, { key: secret })).status).toBe(202);
    await api.orm.em.fork().nativeUpdate(ApiKey, { id }, { revokedAt: NOON });
    await expectRefusal(api, () => read(api, { key: secret }), { code: 'api_key_revoked' });
  });

  it('a request with an expired key is refused from the instant of its expiry', async () => {
    const { secret } = await createKey(api.orm, customer.organizationId, 'test', { expiresAt: NOON });
    now = new Date(NOON.getTime() - 1);
    expect((await read(api, { key: secret })).status).toBe(202);
    now = NOON;
    await expectRefusal(api, () => read(api, { key: secret }), { code: 'api_key_expired' });
  });
});

describe('a rotated key', () => {
  async function rotatedKey(expiresAt: Date | null) {
    const previous = newApiKeySecret('test').secret;
    const { secret } = await createKey(api.orm, customer.organizationId, 'test', {
      previousSecretHash: hashApiKeySecret(previous),
      rotatesAt: NOON,
      expiresAt,
    });
    return { previous, secret };
  }

  it('the new secret of a rotated key works before and after the grace period', async () => {
    const { secret } = await rotatedKey(null);
    expect((await read(api, { key: secret })).status).toBe(202);
    now = new Date(NOON.getTime() + 1);
    expect((await read(api, { key: secret })).status).toBe(202);
  });

  it('the old secret of a rotated key works until the last millisecond of the grace period', async () => {
    const { previous } = await rotatedKey(null);
    now = new Date(NOON.getTime() - 1);
    expect((await read(api, { key: previous })).status).toBe(202);
    now = NOON;
    await expectRefusal(api, () => read(api, { key: previous }), { code: 'api_key_expired' });
  });

  it('the grace period of a rotation never outlives the expiry of the key', async () => {
    const { previous, secret } = await rotatedKey(new Date(NOON.getTime() - 10));
    now = new Date(NOON.getTime() - 10);
    await expectRefusal(api, () => read(api, { key: previous }), { code: 'api_key_expired' });
    await expectRefusal(api, () => read(api, { key: secret }), { code: 'api_key_expired' });
  });
});

describe('scopes', () => {
  async function keyWith(...scopes: string[]): Promise<string> {
    return (await createKey(api.orm, customer.organizationId, 'test', { scopes })).secret;
  }

  it.each([{ scopes: [] }, { scopes: ['damage:write'] }, { scopes: ['jobs:read', 'storage:write'] }])(
    'a key with $scopes cannot run dashboard.read',
    async ({ scopes }) => {
      const key = await keyWith(...scopes);
      const answer = await expectRefusal(api, () => read(api, { key }), { code: 'scope_not_granted' });
      expect(answer.status).toBe(403);
    },
  );

  it.each(['understand:write', '*'])('a key with "%s" runs dashboard.read and reads the job', async (scope) => {
    const key = await keyWith(scope);
    const answer = await read(api, { key });
    expect(answer.status).toBe(202);
    expect((await api.call(`/v1/jobs/${answer.job.id}`, { key })).status).toBe(200);
  });

  it('a key that may only run SDKs cannot read jobs', async () => {
    const job = await read(api, { key: customer.keys.test });
    const key = await keyWith('sdk:player:write');
    await expectRefusal(api, () => api.call(`/v1/jobs/${job.job.id}`, { key }), { code: 'scope_not_granted' });
  });

  it('a key that may only read the storage cannot upload', async () => {
    const key = await keyWith('storage:read');
    await expectRefusal(api, () => api.call('/v1/uploads', { method: 'POST', key, body: new FormData() }), {
      code: 'scope_not_granted',
    });
  });
});
