/** The statement that admits the job checks a known caller; the responses are the same. */
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { ApiKey } from '../../src/organizations/entities.ts';
import { query } from '../../src/platform/database/orm.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { installEndpoints } from '../support/jobs.ts';
import { gif, jpeg } from '../support/pictures.ts';
import { everythingKept, expectRefusal, expectReplay, type ReadRequest, read } from '../support/requests.ts';
import { until } from '../support/until.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');
const dashboard: EndpointContract = { ...endpointBySlug('dashboard.read'), rateLimitPerMinute: 20 };

let api: TestApi;
let customer: Customer;
let now: Date;
let key: { id: string; secret: string };

beforeAll(async () => {
  api = await startTestApi({ endpoints: [dashboard, endpointBySlug('tire.read')], clock: () => now });
  await installEndpoints(api.orm);
});
afterAll(() => api.close());
beforeEach(async () => {
  now = NOON;
  customer = await createCustomer(api.orm);
  key = await createKey(api.orm, customer.organizationId, 'live');
  expect((await send()).status).toBe(202);
});

const send = (request: ReadRequest = {}): Promise<Answer> => read(api, { key: key.secret, ...request });
const change = (changes: Partial<ApiKey>) => api.orm.em.fork().nativeUpdate(ApiKey, { id: key.id }, changes);
const remaining = ({ headers }: Answer): number => Number(headers.get('RateLimit-Remaining'));

const BODIES = {
  'a good body': {},
  'a parameter that is wrong': { fields: { unknown: 'x' } },
  'a file that is no picture': { image: gif },
  'a dry run': { query: '?dry_run=true' },
} satisfies Record<string, ReadRequest>;

describe.each(Object.entries(BODIES))('a request with %s', (_, request) => {
  it('a key revoked meanwhile is refused as revoked and leaves no trace', async () => {
    await change({ revokedAt: NOON });
    await expectRefusal(api, () => send(request), { code: 'api_key_revoked' });
  });

  it('a key is refused from the instant of its expiry', async () => {
    await change({ expiresAt: new Date(NOON.getTime() + 1) });
    expect((await send()).status).toBe(202);
    now = new Date(NOON.getTime() + 1);
    await expectRefusal(api, () => send(request), { code: 'api_key_expired' });
  });

  it('a key that lost its scope meanwhile is refused for that', async () => {
    await change({ scopes: ['jobs:read'] });
    await expectRefusal(api, () => send(request), { code: 'scope_not_granted' });
  });

  it('a deleted key is unknown', async () => {
    await query(api.orm.em.fork(), 'update api_keys set secret_hash = id::bytea where id = $1', [key.id]);
    await expectRefusal(api, () => send(request), { code: 'invalid_api_key' });
  });

  it('every request counts once', async () => {
    const first = remaining(await send(request));
    expect(remaining(await send(request))).toBe(first - 1);
    expect(remaining(await send())).toBe(first - 2);
  });

  it('a request over the rate limit is refused for that', async () => {
    for (let sent = 1; sent < 20; sent += 1) await send();
    await expectRefusal(api, () => send(request), { code: 'rate_limit_exceeded' });
    await expectRefusal(api, () => send(request), { code: 'rate_limit_exceeded' });
  });
});

it('an endpoint whose last model was removed meanwhile refuses requests', async () => {
  await query(api.orm.em.fork(), "delete from installed_endpoints where endpoint = 'dashboard.read'");
  try {
    await expectRefusal(api, () => send(), { code: 'endpoint_unavailable' });
    await expectRefusal(api, () => send({ idempotencyKey: 'first of its kind' }), { code: 'endpoint_unavailable' });
  } finally {
    await installEndpoints(api.orm);
  }
});

it('a replayed request counts once, and so does one that misuses its Idempotency-Key', async () => {
  const first = await send({ idempotencyKey: 'repeated' });
  const replay = await send({ idempotencyKey: 'repeated' });
  expectReplay(replay, first);
  expect(remaining(replay)).toBe(remaining(first) - 1);
  const reuse = await send({ idempotencyKey: 'repeated', fields: { read_warning_lights: 'false' } });
  expect(reuse.error.code).toBe('idempotency_key_reuse');
  expect(remaining(reuse)).toBe(remaining(replay) - 1);
  expect(remaining(await send())).toBe(remaining(reuse) - 1);
});

it('a request without enough credits counts once', async () => {
  const poor = await createCustomer(api.orm, { live: dashboard.priceCredits });
  const as = { key: poor.keys.live };
  expect((await send(as)).status).toBe(202);
  const refused = await expectRefusal(api, () => send(as), { code: 'insufficient_credits' });
  expect(remaining(refused)).toBe(18);
  expect(remaining(await send({ ...as, image: gif }))).toBe(17);
});

it('a key is checked by its current scopes', async () => {
  await change({ scopes: ['understand:write'] });
  expect((await send()).status).toBe(202);
  const tires = await createKey(api.orm, customer.organizationId, 'live', { scopes: ['damage:write'] });
  expect((await read(api, { key: tires.secret })).error.code).toBe('scope_not_granted');
});

it('a caller known on one endpoint is refused on another without its scope', async () => {
  const limited = await createKey(api.orm, customer.organizationId, 'live', { scopes: ['understand:write'] });
  expect((await send({ key: limited.secret })).status).toBe(202);
  const form = new FormData();
  form.append('image', new Blob([new Uint8Array(gif)]), 'tire.jpg');
  const answer = await api.call('/v1/tire/read', { method: 'POST', key: limited.secret, body: form });
  expect(answer.error.code).toBe('scope_not_granted');
});

describe('a key that changes while the body is still being received', () => {
  const CHANGES = {
    revoked: { apply: () => change({ revokedAt: NOON }), code: 'api_key_revoked' },
    expired: {
      apply: async () => {
        await change({ expiresAt: new Date(NOON.getTime() + 1_000) });
        now = new Date(NOON.getTime() + 1_000);
      },
      code: 'api_key_expired',
    },
    'deprived of the scope': { apply: () => change({ scopes: ['jobs:read'] }), code: 'scope_not_granted' },
  } as const;

  it.each(
    Object.keys(CHANGES).flatMap((name) => [
      { name, caller: 'known', first: 1 },
      { name, caller: 'new', first: 0 },
    ]),
  )(
    'a job of a $caller caller is refused and leaves nothing when its key is $name while the body is received',
    async ({ name, first }) => {
      key = await createKey(api.orm, customer.organizationId, 'live');
      for (let sent = 0; sent < first; sent += 1) expect((await send()).status).toBe(202);
      const { apply, code } = CHANGES[name as keyof typeof CHANGES];
      const picture = new PassThrough();
      const boundary = 'slow';
      picture.write(`--${boundary}\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n`);
      picture.write(jpeg.subarray(0, 100));
      const before = await everythingKept(api);
      const counted = await requestsCounted();
      const answer = fetch(`${api.url}/v1/dashboard/read`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key.secret}`,
          'Content-Type': `multipart/form-data; boundary=${boundary}`,
        },
        body: Readable.toWeb(picture) as ReadableStream,
        duplex: 'half',
      });
      if (first === 0) await until(async () => (await requestsCounted()) > counted);
      else await until(async () => (await api.storedFiles()).length > (before.files as string[]).length);
      await apply();
      picture.end(Buffer.concat([jpeg.subarray(100), Buffer.from(`\r\n--${boundary}--\r\n`)]));
      expect(await (await answer).json()).toMatchObject({ error: { code } });
      expect(await everythingKept(api)).toEqual(before);
    },
  );

  async function requestsCounted(): Promise<number> {
    const [row] = await query<{ sum: number }>(
      api.orm.em.fork(),
      'select coalesce(sum(requests), 0)::integer as sum from rate_limits where key like $1',
      [`${customer.organizationId}:%`],
    );
    return row?.sum ?? 0;
  }
});

it('an endpoint without a model refuses before reading the body, even for callers known elsewhere', async () => {
  await query(api.orm.em.fork(), "delete from installed_endpoints where endpoint = 'tire.read'");
  const form = new FormData();
  form.append('zz', 'unknown');
  const answer = await api.call('/v1/tire/read', { method: 'POST', key: key.secret, body: form });
  expect(answer.error.code).toBe('endpoint_unavailable');
});

it('a 401 discloses no limits, as for an unknown caller', async () => {
  await change({ revokedAt: NOON });
  const { headers } = await send();
  expect([...headers.keys()].filter((name) => /^(?:ratelimit|concurrency)-/.test(name))).toEqual([]);
});

it('the use of a refused key is not recorded', async () => {
  await api.keyUse.flush();
  const before = await api.orm.em.fork().findOneOrFail(ApiKey, key.id);
  await change({ revokedAt: NOON });
  now = new Date(NOON.getTime() + 60_000);
  await send();
  await api.keyUse.flush();
  expect((await api.orm.em.fork().findOneOrFail(ApiKey, key.id)).lastUsedAt).toEqual(before.lastUsedAt);
});
