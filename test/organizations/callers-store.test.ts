/** The one statement that every request with an API key begins with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { hashApiKeySecret, newApiKeySecret } from '../../src/organizations/api-keys.ts';
import { type Caller, type CallerLookup, countRequest, findCaller } from '../../src/organizations/callers-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { type Customer, createCustomer, createKey } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const NOW = new Date('2026-12-01T12:00:00.000Z');
const BEFORE = new Date(NOW.getTime() - 1);
const AFTER = new Date(NOW.getTime() + 1);

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 10 });
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

function find(secret: string, changes: Partial<CallerLookup> = {}): Promise<Caller | null> {
  return findCaller(orm.em.fork(), {
    secretHash: hashApiKeySecret(secret),
    now: NOW,
    rateName: newId('request'),
    endpoint: null,
    ...changes,
  });
}

/** A key that has been rotated: both of its secrets are known. */
async function rotatedKey(changes: Parameters<typeof createKey>[3]) {
  const previous = newApiKeySecret('test').secret;
  const previousSecretHash = hashApiKeySecret(previous);
  const { secret } = await createKey(orm, customer.organizationId, 'test', { ...changes, previousSecretHash });
  return { current: secret, previous };
}

describe('the state of a key', () => {
  it.each([
    { given: 'nothing', changes: {}, state: 'usable' },
    { given: 'an expiry one millisecond ahead', changes: { expiresAt: AFTER }, state: 'usable' },
    { given: 'an expiry now', changes: { expiresAt: NOW }, state: 'expired' },
    { given: 'an expiry in the past', changes: { expiresAt: BEFORE }, state: 'expired' },
    { given: 'a revocation', changes: { revokedAt: BEFORE }, state: 'revoked' },
    { given: 'a revocation and an expiry', changes: { revokedAt: BEFORE, expiresAt: BEFORE }, state: 'revoked' },
    { given: 'a rotation long over', changes: { rotatesAt: BEFORE }, state: 'usable' },
  ])('a key with $given is $state for the current secret', async ({ changes, state }) => {
    expect(await find((await rotatedKey(changes)).current)).toMatchObject({ state });
  });

  it.each([
    { given: 'a grace period that ends in a millisecond', changes: { rotatesAt: AFTER }, state: 'usable' },
    { given: 'a grace period that ends now', changes: { rotatesAt: NOW }, state: 'rotated' },
    { given: 'no grace period', changes: {}, state: 'rotated' },
    { given: 'a grace period past its expiry', changes: { rotatesAt: AFTER, expiresAt: NOW }, state: 'expired' },
    { given: 'a revocation in its grace period', changes: { rotatesAt: AFTER, revokedAt: BEFORE }, state: 'revoked' },
  ])('a key with $given is $state for the previous secret', async ({ changes, state }) => {
    expect(await find((await rotatedKey(changes)).previous)).toMatchObject({ state });
  });

  it('a secret that does not exist is unknown', async () => {
    expect(await find(newApiKeySecret('test').secret)).toBeNull();
  });
});

describe('the count of requests', () => {
  it('a request is counted by organisation, mode and name, whichever key it uses', async () => {
    const rateName = 'shared';
    const { secret: other } = await createKey(orm, customer.organizationId, 'live');
    const stranger = await createCustomer(orm);
    const requests = async (secret: string, name = rateName) =>
      (await find(secret, { rateName: name }))?.rate?.requests;
    expect(await requests(customer.keys.live)).toBe(1);
    expect(await requests(customer.keys.staging)).toBe(2);
    expect(await requests(other)).toBe(3);
    expect(await requests(customer.keys.test)).toBe(1);
    expect(await requests(customer.keys.live, 'another')).toBe(1);
    expect(await requests(stranger.keys.live)).toBe(1);
  });

  it('each of many concurrent requests is counted exactly once', async () => {
    const found = await Promise.all(
      Array.from({ length: 40 }, () => find(customer.keys.test, { rateName: 'at once' })),
    );
    const counts = found.map((caller) => caller?.rate?.requests);
    expect(counts.toSorted((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  });

  it('requests are counted from zero after a minute', async () => {
    const count = () => countRequest(orm.em.fork(), 'a minute');
    expect([(await count()).requests, (await count()).requests]).toEqual([1, 2]);
    await query(orm.em.fork(), `update rate_limits set resets_at = now() where key = 'a minute'`);
    const { requests, resetSeconds } = await count();
    expect(requests).toBe(1);
    expect(resetSeconds).toBeGreaterThan(50);
    expect(resetSeconds).toBeLessThanOrEqual(60);
  });

  it('a request with a revoked or expired key is not counted against its organisation', async () => {
    const rateName = 'lost key';
    const [revoked, expired] = [await rotatedKey({ revokedAt: BEFORE }), await rotatedKey({ expiresAt: BEFORE })];
    const attempts = [revoked.current, revoked.previous, expired.current].map((secret) => find(secret, { rateName }));
    for (const caller of await Promise.all(attempts)) expect(caller?.rate).toBeNull();
    expect((await find(customer.keys.test, { rateName }))?.rate?.requests).toBe(1);
  });
});

it('the look-up of a caller reports whether the called endpoint has a model', async () => {
  await query(orm.em.fork(), `insert into installed_endpoints (endpoint, model_version) values ('vin.read', 'vin@1')`);
  const isInstalled = async (endpoint: string | null) =>
    (await find(customer.keys.live, { endpoint }))?.isEndpointInstalled;
  expect(await isInstalled('vin.read')).toBe(true);
  expect(await isInstalled('plate.read')).toBe(false);
  expect(await isInstalled(null)).toBe(false);
});
