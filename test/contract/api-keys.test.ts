/** The specification's rows of API keys and their scopes: each under its own name, on real answers. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/domain/ids.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { managing } from '../support/management.ts';
import { API_KEY_BODY, API_KEY_FIELDS, API_KEY_PREFIXES, SDK_NAMES } from './specification-tables.ts';

type Fields = Record<string, unknown>;

const TAKEN = { name: 'Contract', livemode: true, is_staging: false, scopes: [] };

let api: TestApi;
let manage: ReturnType<typeof managing>;

beforeAll(async () => {
  api = await startTestApi();
  manage = managing(api, newId('organization'));
});
afterAll(() => api.close());

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

const create = (body: Fields = {}) => manage('/api-keys', { body: { ...TAKEN, ...body } });
const names = API_KEY_FIELDS.map(({ field }) => field).toSorted();

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

  it.each(API_KEY_FIELDS)('$field', ({ field, types, values, pattern }) => {
    const found = keys.map((key) => key[field]);
    expect(new Set(found.map(typeOf))).toEqual(new Set(types));
    for (const value of found) {
      if (values) expect(values).toContain(value);
      if (pattern !== undefined) expect(value).toMatch(new RegExp(pattern));
    }
  });

  it('has no field beside these, but for the secret in the answer that makes it', async () => {
    for (const key of keys) expect(Object.keys(key).toSorted()).toEqual(names);
    expect(Object.keys((await create()).json).toSorted()).toEqual([...names, 'secret'].toSorted());
  });

  it.each(API_KEY_PREFIXES)('$prefix', async ({ prefix, body }) => {
    const key = (await create(body)).json as { secret: string; prefix: string };
    expect(key).toMatchObject(body);
    expect([key.secret.startsWith(prefix), key.prefix.startsWith(prefix)]).toEqual([true, true]);
  });
});

describe('Body of POST /mgmt/v1/api-keys', () => {
  it.each(API_KEY_BODY.flatMap(({ field, accepts }) => accepts.map((value) => ({ field, value }))))(
    '$field: $value is taken',
    async ({ field, value }) => {
      expect((await create({ [field]: value })).status).toBe(201);
    },
  );

  it.each(API_KEY_BODY.flatMap(({ field, refuses }) => refuses.map((value) => ({ field, value }))))(
    '$field: $value is refused',
    async ({ field, value }) => {
      const { status, error } = await create({ [field]: value });
      expect([status, error.param?.split('.')[0]]).toEqual([400, field]);
    },
  );
});

describe('Catalogue of scopes', () => {
  it('is in the form {data: [string]}', async () => {
    const { status, json } = await manage('/api-key-scopes');
    expect([status, Object.keys(json)]).toEqual([200, ['data']]);
    for (const scope of json.data as unknown[]) expect(scope).toEqual(expect.any(String));
  });

  it('has the scopes of every SDK, and each of the catalogue can be given to a key', async () => {
    const scopes = (await manage('/api-key-scopes')).json.data as string[];
    for (const sdk of SDK_NAMES)
      expect(scopes).toEqual(expect.arrayContaining([`sdk:${sdk}:read`, `sdk:${sdk}:write`]));
    expect((await create({ scopes })).json).toMatchObject({ scopes });
  });
});
