import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKeySecret } from '../../src/organizations/api-keys.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { expectRefusal } from '../support/requests.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');
const LATER = new Date('2026-12-02T12:00:00.000Z');

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ clock: () => NOON });
  customer = await createCustomer(api.orm);
});
afterAll(() => api.close());

const self = (key?: string, query = '') => api.call(`/v1/api-keys/self${query}`, key === undefined ? {} : { key });
const keyWith = (scopes: string[], mode: 'live' | 'staging' | 'test' = 'live') =>
  createKey(api.orm, customer.organizationId, mode, { scopes });

describe('the identity of a key', () => {
  it.each([
    { mode: 'live', livemode: true, is_staging: false },
    { mode: 'staging', livemode: true, is_staging: true },
    { mode: 'test', livemode: false, is_staging: false },
  ] as const)('a $mode key learns who it is, without any scope', async ({ mode, livemode, is_staging }) => {
    const { id, secret } = await keyWith([], mode);
    expect((await self(secret)).json).toEqual({
      id,
      organization_id: customer.organizationId,
      livemode,
      is_staging,
      permissions: [],
      scopes: [],
      expires_at: null,
      rotates_at: null,
    });
  });

  it.each([
    { scopes: ['sdk:player:write'], permissions: ['sdk:player:read', 'sdk:player:write'] },
    { scopes: ['storage:write'], permissions: ['storage:read', 'storage:write'] },
    { scopes: ['render:write', 'storage:read'], permissions: ['jobs:read', 'storage:read', 'render:write'] },
    {
      scopes: ['*'],
      permissions: [
        'jobs:read',
        'storage:read',
        'storage:write',
        'understand:write',
        'damage:write',
        'parts:write',
        'money:write',
        'render:write',
      ],
    },
  ])('a key with $scopes learns what they allow, including what they imply', async ({ scopes, permissions }) => {
    const { secret } = await keyWith(scopes);
    expect((await self(secret)).json).toMatchObject({ scopes, permissions });
  });

  it('a key learns when it expires, and how long its previous secret works', async () => {
    const previous = newApiKeySecret('live');
    const dates = { expiresAt: LATER, rotatesAt: LATER, previousSecretHash: previous.hash };
    const { secret } = await createKey(api.orm, customer.organizationId, 'live', dates);
    const told = { expires_at: LATER.getTime() / 1_000, rotates_at: LATER.getTime() / 1_000 };
    const answer = await self(secret);
    expect(answer.json).toMatchObject(told);
    expect((await self(previous.secret)).json).toEqual(answer.json);
    expect(answer.text).not.toContain(secret);
  });
});

describe('refused requests for the identity of a key', () => {
  it('a request for the identity is refused without a key', () =>
    expectRefusal(api, () => self(), { code: 'missing_api_key' }));

  it('a request for the identity is refused with a key that was revoked', async () => {
    const { secret } = await createKey(api.orm, customer.organizationId, 'live', { revokedAt: NOON });
    await expectRefusal(api, () => self(secret), { code: 'api_key_revoked' });
  });

  it('a request for the identity is refused with a key or organisation as a parameter', async () => {
    const { secret } = await keyWith([]);
    for (const param of ['id', 'organization_id']) {
      await expectRefusal(api, () => self(secret, `?${param}=x`), { code: 'parameter_unknown', param });
    }
  });
});

it('a request for the identity of a key counts as a read', async () => {
  // Of an organisation whose minute begins with this request.
  const { organizationId } = await createCustomer(api.orm);
  const { secret } = await createKey(api.orm, organizationId, 'live', { scopes: ['jobs:read'] });
  const first = await self(secret);
  const second = await api.call('/v1/jobs', { key: secret });
  const [before, after] = [first, second].map(({ headers }) => Number(headers.get('RateLimit-Remaining')));
  expect([first.headers.get('RateLimit-Limit'), (before ?? 0) - (after ?? 0)]).toEqual(['3000', 1]);
});
