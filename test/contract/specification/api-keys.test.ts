/** The specification's tables of API keys, of their identity and their prefixes, on real responses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKeySecret } from '../../../src/organizations/api-keys.ts';
import { newId } from '../../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { createCustomer, createKey, readAccount } from '../../support/customers.ts';
import { installEndpoints } from '../../support/jobs.ts';
import { managing } from '../../support/management.ts';
import { read } from '../../support/requests.ts';
import { type BodyField, expectFieldIn, type Field, type Fields, namesOf, valuesOf } from './fields.ts';

const API_KEY_FIELDS: readonly Field[] = [
  { field: 'id', types: ['string'], pattern: '^key_[1-9A-HJ-NP-Za-km-z]{8,32}$' },
  { field: 'object', types: ['string'], values: ['api_key'] },
  { field: 'name', types: ['string'] },
  { field: 'prefix', types: ['string'], pattern: '^chk_(?:live|stg|test)_' },
  { field: 'livemode', types: ['boolean'] },
  { field: 'is_staging', types: ['boolean'] },
  { field: 'scopes', types: ['array'] },
  { field: 'created', types: ['integer'] },
  { field: 'last_used_at', types: ['integer', 'null'] },
  { field: 'revoked_at', types: ['integer', 'null'] },
  { field: 'created_by', types: ['string'], pattern: '^usr_' },
  { field: 'expires_at', types: ['integer', 'null'] },
  { field: 'rotates_at', types: ['integer', 'null'] },
];

const KEY_IDENTITY_FIELDS: readonly Field[] = [
  { field: 'id', types: ['string'] },
  { field: 'organization_id', types: ['string'] },
  { field: 'livemode', types: ['boolean'] },
  { field: 'is_staging', types: ['boolean'] },
  { field: 'permissions', types: ['array'] },
  { field: 'scopes', types: ['array'] },
  { field: 'expires_at', types: ['integer', 'null'] },
  { field: 'rotates_at', types: ['integer', 'null'] },
];

/** What scopes grant, as `scopes` of a key and as `permissions` of its identity. */
const SCOPES = [
  { rule: 'each is kept once', scopes: ['jobs:read', 'jobs:read'], granted: ['jobs:read'] },
  { rule: 'none grant no business access', scopes: [], granted: [] },
  {
    rule: 'SDK write implies SDK read',
    scopes: ['sdk:player:write'],
    granted: ['sdk:player:read', 'sdk:player:write'],
  },
  { rule: 'storage write implies storage read', scopes: ['storage:write'], granted: ['storage:read', 'storage:write'] },
] as const;

/** Body of `POST /mgmt/v1/api-keys`. */
const API_KEY_BODY: readonly BodyField[] = [
  { field: 'name', accepts: ['x', 'x'.repeat(128)], refuses: ['', 'x'.repeat(129), 1, null] },
  { field: 'livemode', accepts: [true, false], refuses: ['true', 1, null] },
  { field: 'is_staging', accepts: [true, false], refuses: ['true', 1, null] },
  {
    field: 'scopes',
    accepts: [[], ['jobs:read', 'jobs:read']],
    refuses: ['jobs:read', ['jobs:write'], ['sdk:*'], null],
  },
];

const PREFIXES = [
  { prefix: 'chk_live_', balance: 'live', livemode: true, is_staging: false },
  { prefix: 'chk_stg_', balance: 'live', livemode: true, is_staging: true },
  { prefix: 'chk_test_', balance: 'test', livemode: false, is_staging: false },
] as const;

const TAKEN = { name: 'Contract', livemode: true, is_staging: false, scopes: [] };

let api: TestApi;
let manage: ReturnType<typeof managing>;

beforeAll(async () => {
  api = await startTestApi();
  await installEndpoints(api.orm);
  manage = managing(api, newId('organization'));
});
afterAll(() => api.close());

const create = (body: Fields = {}) => manage('/api-keys', { body: { ...TAKEN, ...body } });
const identityOf = async (key: string) => (await api.call('/v1/api-keys/self', { key })).json;

describe('API key', () => {
  let keys: Fields[];

  beforeAll(async () => {
    const later = Math.floor(Date.now() / 1000) + 3600;
    const { id, secret } = (await create({ expires_at: later })).json as { id: string; secret: string };
    await api.call('/v1/endpoints', { key: secret });
    await api.keyUse.flush();
    await manage(`/api-keys/${id}/rotate`, { body: {} });
    await manage(`/api-keys/${id}/revoke`, { body: {} });
    await create({ livemode: false });
    keys = (await manage('/api-keys')).json.data as Fields[];
    expect(keys).toHaveLength(2);
  });

  it.each(API_KEY_FIELDS)('the field $field of an API key is as specified', (row) => expectFieldIn(keys, row));

  it('an API key has no other field except the secret in the creating response', async () => {
    const names = namesOf(API_KEY_FIELDS);
    for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(names);
    expect(Object.keys((await create()).json).toSorted()).toEqual([...names, 'secret'].toSorted());
  });

  it.each(SCOPES)('the scopes of an API key follow the specification: $rule', async ({ scopes, granted }) => {
    const key = (await create({ scopes })).json as { secret: string };
    expect(key).toMatchObject({ scopes: granted });
    expect(await identityOf(key.secret)).toMatchObject({ permissions: granted });
  });

  it('the wildcard scope of an API key grants no SDK permission', async () => {
    const { secret } = (await create({ scopes: ['*'] })).json as { secret: string };
    const { permissions } = await identityOf(secret);
    expect(permissions).toContain('jobs:read');
    expect(permissions).not.toContainEqual(expect.stringMatching(/^sdk:/));
  });
});

describe('Key identity', () => {
  let answers: Fields[];

  beforeAll(async () => {
    const { organizationId, keys } = await createCustomer(api.orm);
    const later = new Date(Date.now() + 3_600_000);
    const dates = { expiresAt: later, rotatesAt: later, previousSecretHash: newApiKeySecret('live').hash };
    const rotated = await createKey(api.orm, organizationId, 'live', { ...dates, scopes: [] });
    answers = await Promise.all([...Object.values(keys), rotated.secret].map(identityOf));
  });

  it.each(KEY_IDENTITY_FIELDS)('the field $field of a key identity is as specified', (row) =>
    expectFieldIn(answers, row),
  );

  it('a key identity has no other field than those specified', () => {
    for (const answer of answers) expect(Object.keys(answer).toSorted()).toEqual(namesOf(KEY_IDENTITY_FIELDS));
  });
});

describe('Key prefix', () => {
  it.each(PREFIXES)(
    'a key with the prefix $prefix is of its mode, and draws on the $balance credits',
    async ({ prefix, balance, ...mode }) => {
      const { organizationId } = await createCustomer(api.orm);
      const body = { ...TAKEN, ...mode, scopes: ['*'] };
      const made = await managing(api, organizationId)('/api-keys', { body });
      const key = made.json as { secret: string; prefix: string };
      expect(key).toMatchObject(mode);
      expect([key.secret.startsWith(prefix), key.prefix.startsWith(prefix)]).toEqual([true, true]);

      const { job } = await read(api, { key: key.secret });
      expect(job).toMatchObject(mode);
      const held = async (livemode: boolean) => (await readAccount(api.orm, organizationId, livemode)).held;
      expect({ live: await held(true), test: await held(false) }).toEqual({
        live: balance === 'live' ? job.credits.reserved : 0,
        test: balance === 'test' ? job.credits.reserved : 0,
      });
    },
  );
});

describe('Body of POST /mgmt/v1/api-keys', () => {
  it.each(valuesOf(API_KEY_BODY, 'accepts'))(
    'POST /mgmt/v1/api-keys accepts $field: $value',
    async ({ field, value }) => {
      expect((await create({ [field]: value })).status).toBe(201);
    },
  );

  it.each(valuesOf(API_KEY_BODY, 'refuses'))(
    'POST /mgmt/v1/api-keys refuses $field: $value',
    async ({ field, value }) => {
      const { status, error } = await create({ [field]: value });
      expect([status, error.param?.split('.')[0]]).toEqual([400, field]);
    },
  );

  it('POST /mgmt/v1/api-keys requires live mode for is_staging', async () => {
    const { status, error } = await create({ livemode: false, is_staging: true });
    expect([status, error.code, error.param]).toEqual([400, 'parameter_invalid', 'is_staging']);
  });
});
