/** Every rule of SDK licences, through HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SDKS, WILDCARD_SCOPE } from '../../src/organizations/scopes.ts';
import { createLicenseSigning } from '../../src/sdk-licenses/license-signing.ts';
import type { renderSdkEntitlement } from '../../src/sdk-licenses/sdk-licenses.ts';
import { cancelSubscription, setPaidPeriod } from '../../src/sdk-licenses/sdk-subscriptions-store.ts';
import { type Answer, type CallOptions, PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { newLicenseKey, verifyProof } from '../support/license-keys.ts';
import { expectRefusal, expectReplay } from '../support/requests.ts';

type View = ReturnType<typeof renderSdkEntitlement>;

const MARCH = new Date('2027-03-01T00:00:00.000Z');
const APRIL = new Date('2027-04-01T00:00:00.000Z');
const MAY = new Date('2027-05-01T00:00:00.000Z');
const IN_MARCH = new Date('2027-03-10T12:00:00.000Z');
const IN_APRIL = new Date('2027-04-10T12:00:00.000Z');

let now: Date;
let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  const licenseSigning = createLicenseSigning([newLicenseKey('one')], PUBLIC_BASE_URL);
  api = await startTestApi({ clock: () => now, licenseSigning });
});
afterAll(() => api.close());
beforeEach(async () => {
  now = IN_MARCH;
  customer = await createCustomer(api.orm);
});

const pay = (maxSdks: number, paidFrom = MARCH, paidUntil = APRIL) =>
  setPaidPeriod(api.orm.em.fork(), customer.organizationId, { paidFrom, paidUntil, maxSdks });

interface Asked extends CallOptions {
  body?: string;
}

function post(sdk: string, { body, headers, ...options }: Asked = {}): Promise<Answer> {
  return api.call(`/v1/sdk-licenses/${sdk}`, {
    method: 'POST',
    key: customer.keys.live,
    ...(body !== undefined && { body }),
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...options,
  });
}

async function view(answer: Promise<Answer>): Promise<View> {
  const { status, text } = await answer;
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as View;
}

const issue = (sdk: string, options?: Asked) => view(post(sdk, options));
const regenerate = (sdk: string) => post(sdk, { body: '{"regenerate":true}' });
const read = (sdk: string) => view(api.call(`/v1/sdk-licenses/${sdk}`, { key: customer.keys.live }));
const advance = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

describe('an issue', () => {
  it('an issue returns an active licence until the end of the paid period and consumes one slot', async () => {
    await pay(2);
    expect(await issue('player')).toEqual({
      sdk: 'player',
      state: 'active',
      max_sdks: 2,
      consumed: 1,
      available: 1,
      license: {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        organization_id: customer.organizationId,
        sdk: 'player',
        created_at: IN_MARCH.toISOString(),
        issued_at: IN_MARCH.toISOString(),
        valid_from: MARCH.toISOString(),
        expires_at: APRIL.toISOString(),
        proof: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      },
    });
  });

  it.each(['', '{}', '{"regenerate":false}'])('an issue may carry the body %j', async (body) => {
    await pay(1);
    expect((await issue('player', { body })).state).toBe('active');
  });

  it('an issue is not cacheable, nor is its refusal', async () => {
    await pay(1);
    expect((await post('player')).headers.get('Cache-Control')).toBe('no-store');
    expect((await post('capture')).headers.get('Cache-Control')).toBe('no-store');
  });

  it('a repeated issue returns the stored proof: one licence covers all installations', async () => {
    await pay(1);
    const first = await issue('player');
    advance(60_000);
    expect(await issue('player')).toEqual(first);
    expect(await issue('player', { key: customer.keys.staging })).toEqual(first);
    expect(await read('player')).toEqual(first);
  });
});

describe('the quota', () => {
  it('the quota is shared by production and staging, and by all SDKs', async () => {
    await pay(2);
    await issue('player');
    expect(await issue('capture', { key: customer.keys.staging })).toMatchObject({ consumed: 2, available: 0 });
    await expectRefusal(api, () => post('review'), { code: 'sdk_quota_exceeded' });
    await expectRefusal(api, () => post('review', { key: customer.keys.staging }), { code: 'sdk_quota_exceeded' });
    expect(await read('review')).toMatchObject({ state: 'unassigned', consumed: 2, license: null });
  });

  it('the quota grows with a paid upgrade without resetting consumption', async () => {
    await pay(1);
    const first = await issue('player');
    await pay(3);
    expect(await read('player')).toEqual({ ...first, max_sdks: 3, available: 2 });
    expect(await issue('player')).toMatchObject({ consumed: 1, license: first.license });
    expect(await issue('capture')).toMatchObject({ consumed: 2, available: 1 });
  });

  it('a lowered quota keeps issued licences, and never shows negative availability', async () => {
    await pay(2);
    const first = await issue('player');
    await issue('capture');
    await pay(1);
    expect(await issue('player')).toMatchObject({ consumed: 2, available: 0, license: first.license });
    await expectRefusal(api, () => post('review'), { code: 'sdk_quota_exceeded' });
  });

  it('the quota belongs to one organisation', async () => {
    await pay(1);
    await issue('player');
    customer = await createCustomer(api.orm);
    await pay(1);
    expect(await issue('capture')).toMatchObject({ consumed: 1 });
    expect(await read('player')).toMatchObject({ state: 'unassigned', license: null });
  });
});

describe('paid periods', () => {
  it('an organisation that never paid gets no licence', async () => {
    await expectRefusal(api, () => post('player'), { code: 'subscription_unpaid' });
    expect(await read('player')).toEqual({
      sdk: 'player',
      state: 'unassigned',
      max_sdks: 0,
      consumed: 0,
      available: 0,
      license: null,
    });
  });

  it.each([
    { when: 'just before it begins', at: new Date(MARCH.getTime() - 1) },
    { when: 'at the instant at which it ends', at: APRIL },
  ])('a period pays nothing $when', async ({ at }) => {
    await pay(1);
    now = at;
    await expectRefusal(api, () => post('player'), { code: 'subscription_unpaid' });
  });

  it.each([
    { when: 'at the instant at which it begins', at: MARCH },
    { when: 'just before it ends', at: new Date(APRIL.getTime() - 1) },
  ])('a period is paid $when', async ({ at }) => {
    await pay(1);
    now = at;
    expect((await issue('player')).state).toBe('active');
  });

  it('a licence expires at the instant at which the period ends', async () => {
    await pay(1);
    const { license } = await issue('player');
    now = new Date(APRIL.getTime() - 1);
    expect(await read('player')).toMatchObject({ state: 'active', license });
    now = APRIL;
    expect(await read('player')).toMatchObject({ state: 'expired', max_sdks: 0, consumed: 0, license });
    await expectRefusal(api, () => post('player'), { code: 'subscription_unpaid' });
  });

  it('a cancellation preserves all rights until the period ends: even another SDK may be licensed', async () => {
    await pay(2);
    const first = await issue('player');
    await cancelSubscription(api.orm.em.fork(), customer.organizationId, now);
    expect(await read('player')).toEqual(first);
    expect(await issue('player')).toEqual(first);
    expect((await issue('capture')).state).toBe('active');
    now = APRIL;
    await expectRefusal(api, () => post('player'), { code: 'subscription_unpaid' });
  });
});

describe('a renewal', () => {
  beforeEach(async () => {
    await pay(1);
    await pay(1, APRIL, MAY);
  });

  it('a renewal keeps the licence and signs it for the next period at the next issue', async () => {
    const { license: first } = await issue('player');
    now = IN_APRIL;
    expect(await read('player')).toMatchObject({ state: 'expired', consumed: 0, available: 1 });
    const { state, license } = await issue('player');
    expect(state).toBe('active');
    expect(license).toMatchObject({
      id: first?.id,
      created_at: first?.created_at,
      issued_at: IN_APRIL.toISOString(),
      valid_from: APRIL.toISOString(),
      expires_at: MAY.toISOString(),
    });
    expect(license?.proof).not.toBe(first?.proof);
  });

  it('a renewal allocates slots in request order, not to former holders', async () => {
    await issue('player');
    now = IN_APRIL;
    expect(await issue('capture')).toMatchObject({ state: 'active', consumed: 1, available: 0 });
    await expectRefusal(api, () => post('player'), { code: 'sdk_quota_exceeded' });
    expect((await read('player')).state).toBe('expired');
  });

  it('a renewal paid in advance leaves the current period unchanged', async () => {
    await issue('player');
    await expectRefusal(api, () => post('capture'), { code: 'sdk_quota_exceeded' });
    expect((await read('player')).license?.expires_at).toBe(APRIL.toISOString());
  });
});

describe('changed periods', () => {
  it('a period changed to a later end is signed at the next issue without consuming a slot', async () => {
    await pay(1);
    const { license: first } = await issue('player');
    await pay(1, MARCH, MAY);
    expect(await issue('player')).toMatchObject({
      consumed: 1,
      license: { id: first?.id, expires_at: MAY.toISOString() },
    });
  });

  it('a period changed to an earlier end leaves signed licences valid', async () => {
    await pay(1, MARCH, MAY);
    const first = await issue('player');
    await pay(1, MARCH, APRIL);
    expect(await issue('player')).toEqual(first);
  });
});

describe('regenerate', () => {
  it('regenerate signs the same licence again: a new proof, the same times, no slot consumed', async () => {
    await pay(1);
    const first = await issue('player');
    advance(60_000);
    const again = await view(regenerate('player'));
    expect(again).toEqual({
      ...first,
      license: { ...first.license, issued_at: now.toISOString(), proof: again.license?.proof },
    });
    expect(again.license?.proof).not.toBe(first.license?.proof);
    expect(await issue('player')).toEqual(again);
  });

  it('regenerate does not extend the expiry when the period was paid for longer meanwhile', async () => {
    await pay(1);
    await issue('player');
    await pay(1, MARCH, MAY);
    expect((await view(regenerate('player'))).license?.expires_at).toBe(APRIL.toISOString());
  });

  const refused = { code: 'sdk_license_not_current', param: 'regenerate' } as const;

  it('regenerate is refused without a licence', async () => {
    await pay(1);
    await expectRefusal(api, () => regenerate('player'), refused);
    expect(await read('player')).toMatchObject({ consumed: 0, license: null });
  });

  it('regenerate is refused for a licence of an earlier period although a slot is free', async () => {
    await pay(1);
    await issue('player');
    await pay(1, APRIL, MAY);
    now = IN_APRIL;
    await expectRefusal(api, () => regenerate('player'), refused);
    await issue('player');
    expect((await regenerate('player')).status).toBe(200);
  });

  it('regenerate is refused for an expired licence of a period that was paid for longer', async () => {
    await pay(1);
    await issue('player');
    await pay(1, MARCH, MAY);
    now = IN_APRIL;
    await expectRefusal(api, () => regenerate('player'), refused);
  });

  it('regenerate is refused as unpaid once the period has ended', async () => {
    await pay(1);
    await issue('player');
    now = APRIL;
    await expectRefusal(api, () => regenerate('player'), { code: 'subscription_unpaid' });
  });
});

describe('access to licences', () => {
  const keyOf = async (...scopes: string[]) =>
    (await createKey(api.orm, customer.organizationId, 'live', { scopes })).secret;

  it('a licence is issued only to a key with the write scope of the SDK', async () => {
    await pay(4);
    for (const sdk of SDKS) expect((await issue(sdk, { key: await keyOf(`sdk:${sdk}:write`) })).sdk).toBe(sdk);
    for (const scopes of [[], [WILDCARD_SCOPE], ['sdk:player:read'], ['sdk:capture:write'], ['understand:write']]) {
      const key = await keyOf(...scopes);
      await expectRefusal(api, () => post('player', { key }), { code: 'scope_not_granted' });
    }
  });

  it('a licence is read only by a key with the read or the write scope', async () => {
    const get = (key: string) => api.call('/v1/sdk-licenses/player', { key });
    for (const scope of ['sdk:player:read', 'sdk:player:write']) {
      const answer = await get(await keyOf(scope));
      expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    }
    for (const scope of [WILDCARD_SCOPE, 'sdk:capture:write']) {
      const key = await keyOf(scope);
      await expectRefusal(api, () => get(key), { code: 'scope_not_granted' });
    }
  });

  it.each(['GET', 'POST'])('a licence is refused to a test key: %s', async (method) => {
    await pay(1);
    const call = (key: string) => api.call('/v1/sdk-licenses/player', { method, key });
    await expectRefusal(api, () => call(customer.keys.test), { code: 'license_environment_forbidden' });
    const { secret } = await createKey(api.orm, customer.organizationId, 'test', { scopes: [] });
    await expectRefusal(api, () => call(secret), { code: 'scope_not_granted' });
  });

  it('a licence is refused to a caller without a key', () =>
    expectRefusal(api, () => api.call('/v1/sdk-licenses/player', { method: 'POST' }), { code: 'missing_api_key' }));
});

describe('refused requests', () => {
  beforeEach(() => pay(1));

  it.each(['players', 'x', 'constructor'])('a request for the unknown SDK %s is refused', async (sdk) => {
    await expectRefusal(api, () => post(sdk), { code: 'parameter_invalid', param: 'sdk' });
    const key = customer.keys.live;
    await expectRefusal(api, () => api.call(`/v1/sdk-licenses/${sdk}`, { key }), {
      code: 'parameter_invalid',
      param: 'sdk',
    });
  });

  it.each([
    { body: '{"regenerate":"true"}', code: 'parameter_invalid', param: 'regenerate' },
    { body: '{"regenerate":null}', code: 'parameter_invalid', param: 'regenerate' },
    { body: '{"force":true}', code: 'parameter_unknown', param: 'force' },
    { body: '[]', code: 'malformed_request' },
    { body: '{', code: 'malformed_request' },
  ] as const)('an issue with the body $body is refused', async ({ body, ...refusal }) => {
    await expectRefusal(api, () => post('player', { body }), refusal);
  });

  it('an issue with an unknown query parameter is refused', async () => {
    for (const method of ['POST', 'GET']) {
      await expectRefusal(
        api,
        () => api.call('/v1/sdk-licenses/player?regenerate=true', { method, key: customer.keys.live }),
        { code: 'parameter_unknown', param: 'regenerate' },
      );
    }
  });

  it('a request for an SDK in another spelling is refused', () =>
    expectRefusal(api, () => post('Player'), { code: 'parameter_invalid', param: 'sdk' }));

  it('an issue with a body of another type is refused', () =>
    expectRefusal(api, () => post('player', { body: 'regenerate=true', headers: { 'Content-Type': 'text/plain' } }), {
      code: 'unsupported_media_type',
    }));

  it('an issue with an Idempotency-Key that is too short is refused', () =>
    expectRefusal(api, () => post('player', { headers: { 'Idempotency-Key': 'short' } }), {
      code: 'idempotency_key_invalid',
      param: 'Idempotency-Key',
    }));
});

describe('an Idempotency-Key', () => {
  const headers = { 'Idempotency-Key': 'renewal-4711' };

  it('an issue repeated with its Idempotency-Key gets the stored response, whatever happened meanwhile', async () => {
    await pay(1);
    const first = await post('player', { headers });
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    advance(60_000);
    await regenerate('player');
    now = APRIL;
    expectReplay(await post('player', { headers }), first);
    expectReplay(await post('player', { headers, key: customer.keys.staging }), first);
  });

  it('regenerate signs once for one Idempotency-Key, however often the request is repeated', async () => {
    await pay(1);
    await issue('player');
    advance(60_000);
    const first = await post('player', { headers, body: '{"regenerate":true}' });
    advance(60_000);
    expectReplay(await post('player', { headers, body: '{"regenerate":true}' }), first);
    expect((await read('player')).license).toEqual((JSON.parse(first.text) as View).license);
  });

  it('an Idempotency-Key is refused with another payload, and is independent for another SDK', async () => {
    await pay(2);
    await post('player', { headers });
    await expectRefusal(api, () => post('player', { headers, body: '{"regenerate":true}' }), {
      code: 'idempotency_key_reuse',
    });
    const other = await post('capture', { headers });
    expect([other.status, other.headers.get('Idempotent-Replayed')]).toEqual([200, null]);
  });

  it('an Idempotency-Key stores no refusal: after the payment the same request is carried out', async () => {
    await expectRefusal(api, () => post('player', { headers }), { code: 'subscription_unpaid' });
    await pay(1);
    const answer = await post('player', { headers });
    expect([answer.status, answer.headers.get('Idempotent-Replayed')]).toEqual([200, null]);
  });
});

describe('many requests at once', () => {
  it('many requests at once license exactly the paid number of SDKs, each with one proof', async () => {
    await pay(2);
    const asked = Array.from({ length: 100 }, (_, index) => ({
      sdk: SDKS[index % SDKS.length] ?? 'player',
      key: index % 3 === 0 ? customer.keys.staging : customer.keys.live,
    }));
    const answers = await Promise.all(asked.map(({ sdk, key }) => post(sdk, { key })));
    const outcomes = SDKS.map((sdk) => {
      const own = answers.filter((_, index) => asked[index]?.sdk === sdk);
      return new Set(own.map(({ status, json }) => (status === 200 ? (json as View).license?.proof : status)));
    });
    for (const outcome of outcomes) expect(outcome.size).toBe(1);
    expect(outcomes.filter((outcome) => !outcome.has(409))).toHaveLength(2);
    expect(await read('player')).toMatchObject({ consumed: 2, available: 0 });
  });

  it('many requests at once with one Idempotency-Key get one response', async () => {
    await pay(1);
    await issue('player');
    advance(60_000);
    const headers = { 'Idempotency-Key': 'all-at-once' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post('player', { headers, body: '{"regenerate":true}' })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
  });
});

describe('GET /mgmt/v1/sdk-licenses', () => {
  const list = async (member: Parameters<TestApi['identity']['token']>[0]) =>
    api.call('/mgmt/v1/sdk-licenses', { key: await api.identity.token(member) });

  it.each(['owner', 'admin', 'member', 'billing_manager'] as const)(
    'GET /mgmt/v1/sdk-licenses shows every SDK to a %s',
    async (role) => {
      await pay(2);
      const issued = await issue('capture');
      const answer = await list({ organizationId: customer.organizationId, role });
      const none = { state: 'unassigned', max_sdks: 2, consumed: 1, available: 1, license: null };
      expect(answer.json).toEqual({
        data: SDKS.map((sdk) => (sdk === 'capture' ? issued : { sdk, ...none })),
      });
    },
  );

  it('GET /mgmt/v1/sdk-licenses shows nothing of another organisation', async () => {
    await pay(1);
    await issue('player');
    const { data } = (await list({ role: 'owner' })).json as { data: View[] };
    expect(data.map(({ state, max_sdks }) => [state, max_sdks])).toEqual(SDKS.map(() => ['unassigned', 0]));
  });

  it('GET /mgmt/v1/sdk-licenses accepts no API key', async () => {
    const answer = await api.call('/mgmt/v1/sdk-licenses', { key: customer.keys.live });
    expect([answer.status, answer.error.code]).toEqual([401, 'invalid_token']);
  });
});

describe('a proof', () => {
  const proofOf = async () => {
    await pay(1);
    const { license } = await issue('player');
    if (!license) throw new Error('there is a licence');
    return license;
  };

  it('a proof verifies with the published keys and matches the licence', async () => {
    const { id, proof } = await proofOf();
    const published = await api.call('/.well-known/jwks.json');
    const { protectedHeader, payload } = await verifyProof(proof, published.json, now);
    expect(protectedHeader).toEqual({ alg: 'EdDSA', typ: 'sdk-license+jwt', kid: 'one' });
    expect(payload).toEqual({
      iss: PUBLIC_BASE_URL,
      sub: customer.organizationId,
      jti: id,
      sdk: 'player',
      iat: IN_MARCH.getTime() / 1_000,
      nbf: MARCH.getTime() / 1_000,
      exp: APRIL.getTime() / 1_000,
    });
  });

  it('a proof is valid exactly for the paid period', async () => {
    const { proof } = await proofOf();
    const { json } = await api.call('/.well-known/jwks.json');
    await verifyProof(proof, json, MARCH);
    await verifyProof(proof, json, new Date(APRIL.getTime() - 1_000));
    await expect(verifyProof(proof, json, new Date(MARCH.getTime() - 1_000))).rejects.toThrow('"nbf"');
    await expect(verifyProof(proof, json, APRIL)).rejects.toThrow('"exp"');
  });

  it('a proof that was modified does not verify', async () => {
    const { proof } = await proofOf();
    const { json } = await api.call('/.well-known/jwks.json');
    const [header, payload = '', signature] = proof.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const forged = Buffer.from(JSON.stringify({ ...claims, sdk: 'report' })).toString('base64url');
    await expect(verifyProof(`${header}.${forged}.${signature}`, json, now)).rejects.toThrow('signature');
  });

  it('a proof is not accepted as a credential by either API', async () => {
    const { proof } = await proofOf();
    const inference = await api.call('/v1/api-keys/self', { key: proof });
    expect([inference.status, inference.error.code]).toEqual([401, 'invalid_api_key']);
    const management = await api.call('/mgmt/v1/sdk-licenses', { key: proof });
    expect([management.status, management.error.code]).toEqual([401, 'invalid_token']);
  });

  it('a proof is not in the log', async () => {
    const { proof } = await proofOf();
    await regenerate('player');
    expect(JSON.stringify(api.log)).not.toContain(proof.split('.')[2]);
  });
});
