/** The quota of SDK licences under concurrent requests, in any order of events. */

import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { ensureOrganization } from '../../src/organizations/organizations-store.ts';
import { SDKS } from '../../src/organizations/scopes.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import type { Sdk } from '../../src/sdk-licenses/sdk-licenses.ts';
import { issueSdkLicense, readSdkEntitlements, type SignLicense } from '../../src/sdk-licenses/sdk-licenses-store.ts';
import { cancelSubscription, readSubscription, setPaidPeriod } from '../../src/sdk-licenses/sdk-subscriptions-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const DAY_MS = 24 * 60 * 60_000;
const START = new Date('2027-01-01T00:00:00.000Z');
const day = (days: number) => new Date(START.getTime() + days * DAY_MS);

let database: TestDatabase;
let orm: MikroORM;
let signatures = 0;

/** Tells two signatures apart. */
const sign: SignLicense = async ({ id }) => {
  signatures += 1;
  return `${id} ${signatures}`;
};

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 12 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

async function newOrganization(): Promise<string> {
  const id = newId('organization');
  await ensureOrganization(orm.em.fork(), id);
  return id;
}

async function createSubscriber(maxSdks: number): Promise<string> {
  const organizationId = await newOrganization();
  await pay(organizationId, maxSdks);
  return organizationId;
}

const pay = (organizationId: string, maxSdks: number, from = 0, until = 30) =>
  setPaidPeriod(orm.em.fork(), organizationId, { paidFrom: day(from), paidUntil: day(until), maxSdks });

interface Asked {
  regenerate?: boolean;
  now?: Date;
}

/** Answers the proof, or the code of the refusal. */
async function issue(organizationId: string, sdk: Sdk, { regenerate = false, now = day(1) }: Asked = {}) {
  try {
    const { license } = await orm.em
      .fork()
      .transactional((em) => issueSdkLicense(em, { organizationId, sdk, regenerate, now }, sign));
    return license?.proof;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

describe('concurrent requests', () => {
  it.each([0, 1, 2, 3, 4])('concurrent requests license %i SDKs when that many are paid for', async (maxSdks) => {
    const organizationId = await createSubscriber(maxSdks);
    const asked = Array.from({ length: 10 }, () => SDKS).flat();
    const answers = await Promise.all(asked.map((sdk) => issue(organizationId, sdk)));
    const licensed = new Set(answers.filter((answer) => answer !== 'sdk_quota_exceeded'));
    expect(licensed.size).toBe(maxSdks);
    expect(answers.filter((answer) => answer !== 'sdk_quota_exceeded')).toHaveLength(10 * maxSdks);
    const [entitlement] = await readSdkEntitlements(orm.em.fork(), organizationId, day(1));
    expect(entitlement?.consumed).toBe(maxSdks);
  });

  it('concurrent requests of many organisations do not affect each other', async () => {
    const subscribers = await Promise.all(Array.from({ length: 25 }, () => createSubscriber(1)));
    const answers = await Promise.all(
      subscribers.flatMap((organizationId) => SDKS.map((sdk) => issue(organizationId, sdk))),
    );
    expect(answers.filter((answer) => answer !== 'sdk_quota_exceeded')).toHaveLength(25);
  });

  it('concurrent requests sign a first licence once, and each regeneration once', async () => {
    const organizationId = await createSubscriber(1);
    const before = signatures;
    const first = await Promise.all(Array.from({ length: 100 }, () => issue(organizationId, 'player')));
    expect([new Set(first).size, signatures - before]).toEqual([1, 1]);
    const again = await Promise.all(
      Array.from({ length: 20 }, () => issue(organizationId, 'player', { regenerate: true })),
    );
    expect([new Set(again).size, signatures - before]).toEqual([20, 21]);
    expect(new Set([...first, ...again].map((proof) => proof?.split(' ')[0])).size).toBe(1);
  });

  it('concurrent requests during an upgrade lose no slot and take none twice', async () => {
    const organizationId = await createSubscriber(1);
    await Promise.all([...SDKS.map((sdk) => issue(organizationId, sdk)), pay(organizationId, 3)]);
    const answers = await Promise.all(SDKS.map((sdk) => issue(organizationId, sdk)));
    expect(answers.filter((answer) => answer === 'sdk_quota_exceeded')).toHaveLength(1);
    const [entitlement] = await readSdkEntitlements(orm.em.fork(), organizationId, day(1));
    expect(entitlement?.consumed).toBe(3);
  });
});

describe('a renewal under load', () => {
  const ORDERS: Sdk[][] = [
    ['report', 'player', 'review', 'capture'],
    ['capture', 'review', 'player', 'report'],
    ['review', 'report', 'capture', 'player'],
  ];

  it.each(ORDERS)(
    'a renewal under load gives its two slots to %s and %s, which came before %s and %s',
    async (...order) => {
      const organizationId = await createSubscriber(4);
      for (const sdk of SDKS) await issue(organizationId, sdk);
      await pay(organizationId, 2, 30, 60);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        // Everybody has to queue while somebody else has the subscription.
        await client.query('begin');
        await client.query('select from sdk_subscriptions where organization_id = $1 for update', [organizationId]);
        const answers: Promise<string | undefined>[] = [];
        for (const sdk of order) {
          answers.push(issue(organizationId, sdk, { now: day(31) }));
          await until(async () => (await waitingSessions(client)) === answers.length);
        }
        await client.query('commit');
        const refused = (await Promise.all(answers)).map((answer) => answer === 'sdk_quota_exceeded');
        expect(refused).toEqual([false, false, true, true]);
      } finally {
        await client.end();
      }
    },
  );
});

async function waitingSessions(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ waiting: number }>(
    `select count(*)::integer as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}

it('an issue that fails after signing leaves neither slot nor licence', async () => {
  const organizationId = await createSubscriber(1);
  const failing = orm.em.fork().transactional(async (em) => {
    await issueSdkLicense(em, { organizationId, sdk: 'player', regenerate: false, now: day(1) }, sign);
    throw new Error('the connection was lost');
  });
  await expect(failing).rejects.toThrow('the connection was lost');
  const [player] = await readSdkEntitlements(orm.em.fork(), organizationId, day(1));
  expect(player).toMatchObject({ consumed: 0, holdsSlot: false, license: null });
});

describe('a subscription', () => {
  it('a subscription has periods that cannot overlap but may adjoin', async () => {
    const organizationId = await createSubscriber(1);
    await pay(organizationId, 1, 30, 60);
    await expect(pay(organizationId, 1, 59, 61)).rejects.toThrow(
      'The period overlaps the paid one from 2027-01-31T00:00:00.000Z until 2027-03-02T00:00:00.000Z',
    );
    await expect(pay(organizationId, 1, 0, 31)).rejects.toThrow('overlaps');
    const subscription = await readSubscription(orm.em.fork(), organizationId);
    expect(subscription?.periods.map(({ paidUntil }) => paidUntil)).toEqual([day(30), day(60)]);
  });

  it('a subscription keeps the first cancellation time until it is paid again', async () => {
    const organizationId = await createSubscriber(1);
    const em = orm.em.fork();
    expect(await cancelSubscription(em, organizationId, day(2))).toBe(true);
    await cancelSubscription(em, organizationId, day(3));
    expect((await readSubscription(em, organizationId))?.canceledAt).toEqual(day(2));
    await pay(organizationId, 1, 30, 60);
    expect((await readSubscription(em, organizationId))?.canceledAt).toBeNull();
    expect(await cancelSubscription(em, newId('organization'), day(2))).toBe(false);
  });

  it('a subscription begins with the second of its payment', async () => {
    const organizationId = await newOrganization();
    const paidFrom = new Date(START.getTime() + 900);
    await setPaidPeriod(orm.em.fork(), organizationId, { paidFrom, paidUntil: day(1), maxSdks: 1 });
    expect(await issue(organizationId, 'player', { now: paidFrom })).toMatch(/^[0-9a-f-]{36} /);
  });
});

type Step =
  | { kind: 'issue' | 'regenerate'; sdk: Sdk }
  | { kind: 'upgrade'; by: number }
  | { kind: 'wait'; days: number }
  | { kind: 'cancel' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('issue', 'regenerate'), sdk: fc.constantFrom(...SDKS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('upgrade'), by: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), days: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel') }) },
);

/** Periods of 30 days, and a gap of 30 after every second of them. */
const PERIODS = [0, 30, 90, 120, 180, 210];

describe('any sequence of events', () => {
  it('each period licenses its quota of SDKs, first come first served, and every licence is valid until its end', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3 }), fc.array(step, { maxLength: 25 }), async (maxSdks, steps) => {
        const organizationId = await newOrganization();
        for (const from of PERIODS) await pay(organizationId, maxSdks, from, from + 30);
        const quotas = new Map(PERIODS.map((from) => [from, maxSdks]));
        const slots = new Map(PERIODS.map((from) => [from, new Set<Sdk>()]));
        const ids = new Map<Sdk, string>();
        let at = 0;
        for (const taken of steps) {
          const period = PERIODS.find((from) => from <= at && at < from + 30);
          const holders = slots.get(period ?? -1);
          const quota = quotas.get(period ?? -1) ?? 0;
          if (taken.kind === 'wait') at += taken.days;
          else if (taken.kind === 'cancel') await cancelSubscription(orm.em.fork(), organizationId, day(at));
          else if (taken.kind === 'upgrade') {
            if (period === undefined) continue;
            quotas.set(period, quota + taken.by);
            await pay(organizationId, quota + taken.by, period, period + 30);
          } else {
            const { sdk } = taken;
            const regenerate = taken.kind === 'regenerate';
            const answer = await issue(organizationId, sdk, { regenerate, now: day(at) });
            if (!holders) expect(answer).toBe('subscription_unpaid');
            else if (regenerate && !holders.has(sdk)) expect(answer).toBe('sdk_license_not_current');
            else if (!holders.has(sdk) && holders.size >= quota) expect(answer).toBe('sdk_quota_exceeded');
            else {
              holders.add(sdk);
              const id = answer?.split(' ')[0] ?? '';
              expect(ids.get(sdk) ?? id).toBe(id);
              ids.set(sdk, id);
            }
          }
        }
        const now = PERIODS.find((from) => from <= at && at < from + 30);
        for (const { sdk, consumed, license } of await readSdkEntitlements(orm.em.fork(), organizationId, day(at))) {
          expect(consumed).toBe(slots.get(now ?? -1)?.size ?? 0);
          const last = PERIODS.findLast((from) => slots.get(from)?.has(sdk));
          expect(license?.expiresAt).toEqual(last === undefined ? undefined : day(last + 30));
        }
      }),
      { numRuns: 40 },
    ));
});

it('every slot belongs to a licence', async () => {
  const [counted] = await query<{ stray: number }>(
    orm.em.fork(),
    `select count(*)::integer as stray from sdk_license_slots as slot
     where not exists (select from sdk_licenses where organization_id = slot.organization_id and sdk = slot.sdk)`,
  );
  expect(counted?.stray).toBe(0);
});
