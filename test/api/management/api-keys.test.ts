/** API keys: made, listed, changed, rotated and revoked by members. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MOST_ACTIVE_KEYS } from '../../../src/organizations/api-key-lifecycle.ts';
import { isWellFormedApiKey } from '../../../src/organizations/api-keys.ts';
import { SCOPE_CATALOGUE } from '../../../src/organizations/scopes.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { newId } from '../../../src/platform/ids.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api.ts';
import { createKey } from '../../support/customers.ts';
import { managing } from '../../support/management.ts';

interface ShownKey {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  secret: string;
  revoked_at: number | null;
  expires_at: number | null;
  rotates_at: number | null;
}

let api: TestApi;
let now: Date;
let organizationId: string;
let manage: ReturnType<typeof managing>;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now });
});
afterAll(() => api.close());
beforeEach(() => {
  now = new Date();
  organizationId = newId('organization');
  manage = managing(api, organizationId);
});

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);
const shown = (answer: Answer) => answer.json as unknown as ShownKey;
const create = (body: object = {}, options: object = {}) =>
  manage('/api-keys', { body: { name: 'Ours', livemode: false, ...body }, ...options });
const newKey = async (body: object = {}) => shown(await create(body));
/** The inference API's response to a secret. */
const use = async (secret: string) => {
  const answer = await api.call('/v1/endpoints', { key: secret });
  return answer.status === 200 ? 'works' : answer.error.code;
};
const at = async <Result>(time: Date, work: () => Promise<Result>): Promise<Result> => {
  const before = now;
  now = time;
  try {
    return await work();
  } finally {
    now = before;
  }
};

describe('creating a key', () => {
  it.each([
    ['test', { livemode: false }, 'chk_test_'],
    ['live', { livemode: true }, 'chk_live_'],
    ['staging', { livemode: true, is_staging: true }, 'chk_stg_'],
  ])('the creation of a %s key returns 201 with the working key and its secret', async (_mode, body, prefix) => {
    const userId = newId('user');
    const answer = await create(body, { userId });
    expect(answer.status).toBe(201);
    const { secret, ...key } = shown(answer);
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[1-9A-HJ-NP-Za-km-z]{22}$/),
      object: 'api_key',
      name: 'Ours',
      prefix: secret.slice(0, prefix.length + 4),
      is_staging: false,
      ...body,
      scopes: [],
      created: seconds(now),
      created_by: userId,
      last_used_at: null,
      revoked_at: null,
      expires_at: null,
      rotates_at: null,
    });
    expect(secret.startsWith(prefix) && isWellFormedApiKey(secret)).toBe(true);
    expect(await use(secret)).toBe('works');
  });

  it.each([
    ['no name', { name: undefined }, 'parameter_missing', 'name'],
    ['an empty name', { name: '' }, 'parameter_invalid', 'name'],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, 'parameter_invalid', 'name'],
    ['no mode', { livemode: undefined }, 'parameter_missing', 'livemode'],
    ['staging in test mode', { is_staging: true }, 'parameter_invalid', 'is_staging'],
    ['an unknown scope', { scopes: ['jobs:read', 'jobs:write'] }, 'parameter_invalid', 'scopes.1'],
    ['a scope that is no text', { scopes: [1] }, 'parameter_invalid', 'scopes.0'],
    ['an expiry that is over', { expires_at: 1 }, 'parameter_invalid', 'expires_at'],
    ['an expiry in milliseconds', { expires_at: 1_800_000_000_000 }, 'parameter_invalid', 'expires_at'],
    ['an unknown field', { secret: 'mine' }, 'parameter_unknown', 'secret'],
  ])('the creation of a key with %s is refused', async (_name, body, code, param) => {
    expect((await create(body)).error).toMatchObject({ code, param });
    expect((await manage('/api-keys')).json).toMatchObject({ data: [] });
  });

  it('the creation of a key accepts names of 1 and 128 characters', async () => {
    for (const name of ['x', 'x'.repeat(128)]) expect(await newKey({ name })).toMatchObject({ name });
  });

  it.each([
    ['none where they are left out', undefined, []],
    ['none where there are none', [], []],
    [
      'each once, in the order of the catalogue',
      ['money:write', 'jobs:read', 'money:write'],
      ['jobs:read', 'money:write'],
    ],
    [
      'reading with writing',
      ['storage:write', 'sdk:player:write'],
      ['storage:read', 'storage:write', 'sdk:player:read', 'sdk:player:write'],
    ],
    ['a wildcard without any of the SDKs', ['*'], ['*']],
    ['all of the catalogue', [...SCOPE_CATALOGUE].reverse(), SCOPE_CATALOGUE],
  ])('the creation of a key grants scopes: %s', async (_name, scopes, granted) => {
    const key = await newKey({ scopes });
    expect(key.scopes).toEqual(granted);
    expect((await manage(`/api-keys/${key.id}`)).json).toMatchObject({ scopes: granted });
  });

  it('the secret of a new key is in no other response and not in the database', async () => {
    const { id, secret } = await newKey();
    const answers = [await manage(`/api-keys/${id}`), await manage('/api-keys'), await manage('/audit-log')];
    for (const answer of answers) expect(answer.text).not.toContain(secret);
    const [row] = await query<{ text: string }>(
      api.orm.em.fork(),
      'select row_to_json(known)::text as text from api_keys as known where id = $1',
      [id],
    );
    expect(row?.text).toContain(id);
    expect(row?.text).not.toContain(secret);
  });

  it('a repeated creation returns the same bytes, secret included, and creates no second key', async () => {
    const idempotencyKey = randomUUID();
    const first = await create({}, { idempotencyKey });
    const second = await create({}, { idempotencyKey });
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(first.headers.has('Idempotent-Replayed')).toBe(false);
    expect((await manage('/api-keys')).json).toMatchObject({ data: [{ id: shown(first).id }] });
    expect((await create({ name: 'Other' }, { idempotencyKey })).error.code).toBe('idempotency_key_reuse');
  });

  it('concurrent repetitions of a creation create one key and return it to all', async () => {
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({}, { idempotencyKey })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await manage('/api-keys')).json.data).toHaveLength(1);
  });

  it('another user with the same Idempotency-Key and body does not get the secret of the first', async () => {
    const idempotencyKey = randomUUID();
    const first = shown(await create({}, { idempotencyKey, userId: newId('user') }));
    const second = shown(await create({}, { idempotencyKey, userId: newId('user') }));
    expect(second.id).not.toBe(first.id);
    expect(second.secret).not.toBe(first.secret);
  });

  it('concurrent creations cannot exceed the limit of active keys', async () => {
    await newKey();
    await Promise.all(Array.from({ length: MOST_ACTIVE_KEYS - 4 }, () => createKey(api.orm, organizationId, 'live')));
    await createKey(api.orm, organizationId, 'live', { revokedAt: now });
    await createKey(api.orm, organizationId, 'live', { expiresAt: now });
    const answers = await Promise.all(Array.from({ length: 8 }, () => create()));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(3);
    for (const { status, text } of answers.filter((answer) => answer.status !== 201)) {
      expect([status, JSON.parse(text).error.code]).toEqual([409, 'api_key_limit_reached']);
    }
    await manage(`/api-keys/${shown(made[0] as Answer).id}/revoke`, { body: {} });
    expect((await create()).status).toBe(201);
  });
});

describe('the list of keys', () => {
  it('the list of keys has pages from the newest to the oldest', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await newKey()).id);
    const idsOf = (answer: Answer) => (answer.json.data as ShownKey[]).map(({ id }) => id);
    const first = await manage('/api-keys?limit=2');
    expect([idsOf(first), first.json.has_more]).toEqual([ids.slice(0, 2), true]);
    const second = await manage(`/api-keys?limit=2&starting_after=${ids[1]}`);
    expect([idsOf(second), second.json.has_more]).toEqual([ids.slice(2), false]);
    expect(idsOf(await manage(`/api-keys?limit=1&ending_before=${ids[2]}`))).toEqual([ids[1]]);
  });

  it('the list of keys can be filtered by mode and by revocation', async () => {
    const live = await newKey({ livemode: true });
    const test = await newKey();
    await manage(`/api-keys/${test.id}/revoke`, { body: {} });
    const listed = async (filter: string) =>
      ((await manage(`/api-keys?${filter}`)).json.data as ShownKey[]).map(({ id }) => id);
    expect(await listed('livemode=true')).toEqual([live.id]);
    expect(await listed('livemode=false')).toEqual([test.id]);
    expect(await listed('revoked=true')).toEqual([test.id]);
    expect(await listed('revoked=false')).toEqual([live.id]);
    expect((await manage('/api-keys?revoked=maybe')).error).toMatchObject({ param: 'revoked' });
  });

  it('the list of keys shows no key of another organisation', async () => {
    await newKey();
    expect((await managing(api, newId('organization'))('/api-keys')).json).toMatchObject({ data: [], has_more: false });
  });
});

describe('changing a key', () => {
  const change = (id: string, body: object, options: object = {}) =>
    manage(`/api-keys/${id}`, { method: 'PATCH', body, ...options });

  it('a change of a key changes the given fields and leaves the rest', async () => {
    const { secret, ...key } = await newKey({ scopes: ['jobs:read'] });
    const named = shown(await change(key.id, { name: 'Renamed' }));
    expect(named).toEqual({ ...key, name: 'Renamed' });
    const granted = shown(await change(key.id, { scopes: ['storage:write'] }));
    expect(granted).toEqual({ ...named, scopes: ['storage:read', 'storage:write'] });
    expect(await use(secret)).toBe('works');
  });

  it('a change of a key removes scopes with immediate effect', async () => {
    const { id, secret } = await newKey({ scopes: ['jobs:read'] });
    expect((await api.call('/v1/jobs', { key: secret })).status).toBe(200);
    await change(id, { scopes: [] });
    expect((await api.call('/v1/jobs', { key: secret })).error.code).toBe('scope_not_granted');
  });

  it('a change of a key sets, moves and removes the expiry', async () => {
    const { id, secret } = await newKey();
    const expiry = new Date((seconds(now) + 60) * 1000);
    expect(shown(await change(id, { expires_at: seconds(expiry) })).expires_at).toBe(seconds(expiry));
    expect(await at(new Date(expiry.getTime() - 1), () => use(secret))).toBe('works');
    expect(await at(expiry, () => use(secret))).toBe('api_key_expired');
    expect(shown(await change(id, { expires_at: null })).expires_at).toBeNull();
    expect(await at(expiry, () => use(secret))).toBe('works');
  });

  it('a change of an expired or revoked key is refused', async () => {
    await newKey();
    const expired = await createKey(api.orm, organizationId, 'test', { expiresAt: now });
    expect((await change(expired.id, { expires_at: null })).error.code).toBe('api_key_inactive');
    const { id } = await newKey();
    await manage(`/api-keys/${id}/revoke`, { body: {} });
    expect((await change(id, { name: 'Again' })).error.code).toBe('api_key_inactive');
    expect((await manage(`/api-keys/${id}/rotate`, { body: {} })).error.code).toBe('api_key_inactive');
  });
});

describe('rotating a key', () => {
  const rotate = (id: string, body: object = {}, options: object = {}) =>
    manage(`/api-keys/${id}/rotate`, { body, ...options });

  it('a rotation gives a key a new secret under the same id, and the old one a day of grace', async () => {
    const before = await newKey({ livemode: true, scopes: ['jobs:read'] });
    const answer = await rotate(before.id);
    expect(answer.status).toBe(200);
    const after = shown(answer);
    expect(after).toEqual({
      ...before,
      secret: after.secret,
      prefix: after.secret.slice(0, before.prefix.length),
      rotates_at: seconds(now) + 86_400,
    });
    expect(after.secret.startsWith('chk_live_') && after.secret !== before.secret).toBe(true);

    const graceEnds = new Date((after.rotates_at as number) * 1000);
    const lastMoment = new Date(graceEnds.getTime() - 1);
    expect(await at(lastMoment, () => Promise.all([use(before.secret), use(after.secret)]))).toEqual([
      'works',
      'works',
    ]);
    expect(await at(graceEnds, () => Promise.all([use(before.secret), use(after.secret)]))).toEqual([
      'api_key_expired',
      'works',
    ]);
  });

  it('a rotation without a grace period ends the old secret at once', async () => {
    const before = await newKey();
    const after = shown(await rotate(before.id, { grace_seconds: 0 }));
    expect([await use(before.secret), await use(after.secret)]).toEqual(['api_key_expired', 'works']);
  });

  it('a rotated secret says that it was rotated, once its grace period is over', async () => {
    const before = await newKey();
    await rotate(before.id, { grace_seconds: 0 });
    expect(await api.call('/v1/endpoints', { key: before.secret })).toMatchObject({
      status: 401,
      error: { code: 'api_key_expired', message: expect.stringContaining('rotated') },
    });
  });

  it('a rotation never lets the old secret outlive the key, even when its expiry is brought forward', async () => {
    const expiry = seconds(now) + 100;
    const { id } = await newKey({ expires_at: expiry });
    expect(shown(await rotate(id)).rotates_at).toBe(expiry);
    const moved = await manage(`/api-keys/${id}`, { method: 'PATCH', body: { expires_at: expiry - 50 } });
    expect(shown(moved).rotates_at).toBe(expiry - 50);
  });

  it('two rotations leave the two newest secrets only', async () => {
    const first = await newKey();
    const second = shown(await rotate(first.id));
    const third = shown(await rotate(first.id));
    expect(await Promise.all([first, second, third].map(({ secret }) => use(secret)))).toEqual([
      'invalid_api_key',
      'works',
      'works',
    ]);
  });

  it('a hundred concurrent rotations leave two working secrets', async () => {
    const before = await newKey();
    const answers = await Promise.all(Array.from({ length: 100 }, () => rotate(before.id)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const secrets = [before, ...answers.map(shown)].map(({ secret }) => secret);
    expect(new Set(secrets).size).toBe(101);
    const uses = await Promise.all(secrets.map(use));
    expect(uses.filter((found) => found === 'works')).toHaveLength(2);
  });

  it('a rotation repeated with its Idempotency-Key returns the same secret and rotates once', async () => {
    const { id } = await newKey();
    const idempotencyKey = randomUUID();
    const first = await rotate(id, {}, { idempotencyKey });
    const second = await rotate(id, {}, { idempotencyKey });
    expect(second.text).toBe(first.text);
    expect(await use(shown(first).secret)).toBe('works');
  });

  it.each([-1, 604_801, 0.5, '60'])('a rotation with a grace period of %j is refused', async (grace_seconds) => {
    const { id } = await newKey();
    expect((await rotate(id, { grace_seconds })).error).toMatchObject({
      code: 'parameter_invalid',
      param: 'grace_seconds',
    });
  });
});

describe('revoking a key', () => {
  it('a revocation ends a key and its previous secret at once, and can be repeated', async () => {
    const before = await newKey();
    const after = shown(await manage(`/api-keys/${before.id}/rotate`, { body: {} }));
    const first = await manage(`/api-keys/${before.id}/revoke`, { method: 'POST' });
    expect(first).toMatchObject({ status: 200, json: { revoked_at: seconds(now) } });
    expect(await Promise.all([use(before.secret), use(after.secret)])).toEqual(['api_key_revoked', 'api_key_revoked']);
    const later = await at(new Date(now.getTime() + 60_000), () =>
      manage(`/api-keys/${before.id}/revoke`, { method: 'POST' }),
    );
    expect(later.text).toBe(first.text);
  });
});

describe('a member', () => {
  const member = { role: 'member' } as const;

  it('a member creates, changes, rotates and revokes test keys', async () => {
    const made = await create({}, member);
    expect(made.status).toBe(201);
    const path = `/api-keys/${shown(made).id}`;
    expect((await manage(path, { method: 'PATCH', body: { name: 'x' }, ...member })).status).toBe(200);
    expect((await manage(`${path}/rotate`, { body: {}, ...member })).status).toBe(200);
    expect((await manage(`${path}/revoke`, { body: {}, ...member })).status).toBe(200);
  });

  it('a member reads live keys and cannot change them', async () => {
    const { id } = await newKey({ livemode: true });
    const path = `/api-keys/${id}`;
    expect((await manage(path, member)).status).toBe(200);
    const refused = [
      await create({ livemode: true }, member),
      await create({ livemode: true, is_staging: true }, member),
      await manage(path, { method: 'PATCH', body: { name: 'x' }, ...member }),
      await manage(`${path}/rotate`, { body: {}, ...member }),
      await manage(`${path}/revoke`, { body: {}, ...member }),
    ];
    for (const { status, error } of refused) expect([status, error.code]).toEqual([403, 'role_not_permitted']);
    expect((await manage(path)).json).toMatchObject({ name: 'Ours', revoked_at: null, rotates_at: null });
  });

  it('a member who was an administrator gets no live secret by repeating an earlier request', async () => {
    const keys = { create: randomUUID(), rotate: randomUUID() };
    const made = await create({ livemode: true }, { idempotencyKey: keys.create });
    const rotate = `/api-keys/${shown(made).id}/rotate`;
    const rotated = await manage(rotate, { body: {}, idempotencyKey: keys.rotate });
    expect([made.status, rotated.status]).toEqual([201, 200]);
    const repeated = [
      await create({ livemode: true }, { idempotencyKey: keys.create, ...member }),
      await manage(rotate, { body: {}, idempotencyKey: keys.rotate, ...member }),
    ];
    for (const { status, text } of repeated) {
      expect([status, JSON.parse(text).error?.code]).toEqual([403, 'role_not_permitted']);
      expect(text).not.toContain('chk_live_');
    }
    expect((await manage(rotate, { body: {}, idempotencyKey: keys.rotate })).text).toBe(rotated.text);
  });
});
