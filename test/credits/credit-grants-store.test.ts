/** Promotional credits: used first, the earliest expiry first, taken back when their time is over, never below zero. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { readCreditBalances } from '../../src/credits/credit-balances-store.ts';
import { adjustCredits, topUp } from '../../src/credits/credit-bookings-store.ts';
import { expireGrants, findBalancesWithExpiredGrants, grantPromotion } from '../../src/credits/credit-grants-store.ts';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishInference, SUCCESS } from '../support/jobs.ts';

let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 10 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const day = (number: number) => new Date(BEGIN + number * 86_400_000);
const drift = () => findLedgerDrift(orm.em.fork());

/** The test balance of a new customer, and what can happen to it. */
class Balance {
  readonly customer: Customer;
  private readonly settlement = createSettlementActivities({ orm });

  constructor(customer: Customer) {
    this.customer = customer;
  }

  get key() {
    return { organizationId: this.customer.organizationId, livemode: false };
  }

  grant = (amount: number, expiresOn: number) =>
    grantPromotion(orm.em.fork(), { ...this.key, amount, reason: 'welcome', expiresAt: day(expiresOn), now: day(0) });
  expire = (on: number) => expireGrants(orm.em.fork(), this.key, day(on));
  topUp = (amount: number) => topUp(orm.em.fork(), { ...this.key, amount, reason: 'test' });
  adjust = (change: number) => adjustCredits(orm.em.fork(), { ...this.key, change, reason: 'test' });
  hold = (reservedCredits: number) => admit(orm, this.customer, { reservedCredits });

  async settle(jobId: string, chargedCredits: number): Promise<void> {
    await finishInference(orm, jobId, { ...SUCCESS, chargedCredits });
    await this.settlement.settleJob({ jobId, failure: null });
  }

  async spend(credits: number): Promise<void> {
    await this.settle(await this.hold(credits), credits);
  }

  /** What is left of each grant that has something left, the earliest expiry first. */
  async grants(): Promise<number[]> {
    const balances = await readCreditBalances(orm.em.fork(), this.customer.organizationId);
    const test = balances.find(({ livemode }) => !livemode);
    return test?.grants.map(({ amount, consumed, expired }) => amount - consumed - expired) ?? [];
  }

  available = async () => (await readAccount(orm, this.customer.organizationId, false)).available;
}

async function newBalance(test = 0): Promise<Balance> {
  return new Balance(await createCustomer(orm, { live: 0, test }));
}

describe('promotional credits', () => {
  it('promotional credits are used before paid credits, earliest expiry first', async () => {
    const balance = await newBalance(100);
    await balance.grant(30, 20);
    await balance.grant(10, 10);
    await balance.spend(15);
    expect(await balance.grants()).toEqual([25]);
    await balance.spend(30);
    expect(await balance.grants()).toEqual([]);
    expect(await balance.available()).toBe(95);
    expect(await drift()).toEqual([]);
  });

  it('promotional credits are not used by charges from before the grant', async () => {
    const balance = await newBalance(100);
    await balance.spend(40);
    await balance.grant(30, 10);
    expect(await balance.grants()).toEqual([30]);
  });

  it('promotional credits leave the balance when they expire, not before', async () => {
    const balance = await newBalance(100);
    await balance.grant(30, 10);
    await balance.spend(12);
    expect(await balance.expire(9)).toBe(0);
    expect(await balance.expire(10)).toBe(18);
    expect(await balance.expire(11)).toBe(0);
    expect(await balance.available()).toBe(100);
    expect(await drift()).toEqual([]);
  });

  it('promotional credits covered by open holds stay until the holds have ended', async () => {
    const balance = await newBalance(100);
    await balance.grant(30, 10);
    const used = await balance.hold(12);
    const released = await balance.hold(8);
    expect(await balance.expire(10)).toBe(10);
    await balance.settle(used, 12);
    await balance.settle(released, 0);
    expect(await balance.expire(11)).toBe(8);
    expect(await balance.available()).toBe(100);
    expect(await drift()).toEqual([]);
  });

  it('promotional credits are looked up by the sweeper only while some may be left', async () => {
    const balance = await newBalance();
    await balance.grant(30, 10);
    const found = async (on: number) =>
      (await findBalancesWithExpiredGrants(orm.em.fork(), day(on))).filter(
        ({ organizationId }) => organizationId === balance.customer.organizationId,
      );
    expect(await found(9)).toEqual([]);
    expect(await found(10)).toEqual([balance.key]);
    await balance.expire(10);
    expect(await found(10)).toEqual([]);
  });

  it('promotional credits pay for an adjustment only when paid credits do not suffice', async () => {
    const balance = await newBalance(20);
    await balance.grant(30, 10);
    await balance.adjust(-15);
    expect(await balance.grants()).toEqual([30]);
    await balance.adjust(-15);
    expect(await balance.grants()).toEqual([20]);
    expect(await balance.expire(10)).toBe(20);
    expect(await balance.available()).toBe(0);
    expect(await drift()).toEqual([]);
  });

  it('promotional credits with one reference are granted once, even by concurrent requests', async () => {
    const balance = await newBalance();
    const grant = () =>
      grantPromotion(orm.em.fork(), {
        ...balance.key,
        amount: 30,
        reason: 'welcome',
        expiresAt: day(10),
        now: day(0),
        externalReference: `campaign:${balance.customer.organizationId}`,
      });
    const ids = await Promise.all(Array.from({ length: 10 }, grant));
    expect(ids.filter((id) => id !== null)).toHaveLength(1);
    expect(await balance.available()).toBe(30);
  });
});

describe('a top-up', () => {
  it('a top-up with one reference is booked once, even by concurrent requests, for its own organisation', async () => {
    const [one, other] = [await newBalance(), await newBalance()];
    const externalReference = `test:${one.customer.organizationId}`;
    const book = ({ key }: Balance) =>
      topUp(orm.em.fork(), { ...key, amount: 50, reason: 'payment', externalReference });
    const booked = await Promise.all(Array.from({ length: 20 }, () => book(one)));
    expect(booked.filter(Boolean)).toHaveLength(1);
    expect(await book(other)).toBe(false);
    expect(await one.available()).toBe(50);
    expect(await drift()).toEqual([]);
  });
});

describe('an adjustment', () => {
  it('an adjustment cannot take more than is available', async () => {
    const balance = await newBalance(20);
    await balance.hold(15);
    await expect(balance.adjust(-6)).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await balance.adjust(-5)).toBe(true);
    expect(await balance.available()).toBe(0);
  });
});

describe('the grant verifier', () => {
  const change = (statement: string) => query(orm.em.fork(), statement);

  it('the grant verifier reports a grant that disagrees with the ledger, a lost one, and one without a promotion', async () => {
    const balance = await newBalance(100);
    const id = await balance.grant(30, 10);
    await balance.spend(12);
    await balance.expire(9);
    expect(await drift()).toEqual([]);

    await change(`update credit_grants set consumed = 11 where id = '${id}'`);
    expect(await drift()).toEqual([
      expect.stringMatching(`${id} .*30 given, 11 used, 0 expired, replayed 30 given, 12 used, 0 expired`),
    ]);
    await change(`update credit_grants set consumed = 12, id = 'grt_other' where id = '${id}'`);
    expect((await drift()).toSorted()).toEqual([
      expect.stringMatching(`grant ${id} .*missing, replayed`),
      expect.stringMatching('grant grt_other .*replayed missing'),
    ]);
    await change(`update credit_grants set id = '${id}' where id = 'grt_other'`);
    expect(await drift()).toEqual([]);
  });
});

it('an adjustment with one reference is booked once, even if it emptied the balance', async () => {
  const balance = await newBalance(20);
  const take = () =>
    adjustCredits(orm.em.fork(), {
      ...balance.key,
      change: -20,
      reason: 'a mistake',
      externalReference: `mistake:${balance.customer.organizationId}`,
    });
  expect(await take()).toBe(true);
  expect(await take()).toBe(false);
  expect(await balance.available()).toBe(0);
});

describe('the ledger verifier', () => {
  it.each([
    ['an adjustment without a reason', "kind = 'adjustment', reason = null"],
    ['a top-up that takes', "from_account = 'available', to_account = 'funding'"],
    ['a promotion without a grant', "kind = 'promotion'"],
  ])('the ledger verifier reports %s', async (_name, change) => {
    const balance = await newBalance(20);
    const ofBalance = `organization_id = '${balance.customer.organizationId}'`;
    const em = orm.em.fork();
    await query(em, `update credit_transfers set ${change} where ${ofBalance}`);
    expect(await drift()).toContainEqual(expect.stringMatching(/^transfer \d+: /));
    await query(
      em,
      `update credit_transfers set kind = 'top_up', reason = 'test', from_account = 'funding', to_account = 'available'
       where ${ofBalance}`,
    );
    expect(await drift()).toEqual([]);
  });
});

type Step =
  | { act: 'grant'; amount: number; days: number }
  | { act: 'top up'; amount: number }
  | { act: 'adjust'; change: number }
  | { act: 'hold'; credits: number }
  | { act: 'settle'; job: number; charged: number }
  | { act: 'let days pass'; days: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('grant' as const),
      amount: fc.integer({ min: 1, max: 40 }),
      days: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('top up' as const), amount: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('adjust' as const),
      change: fc.integer({ min: -40, max: 20 }).filter((change) => change !== 0),
    }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('hold' as const), credits: fc.nat(30) }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('settle' as const), job: fc.nat(7), charged: fc.nat(30) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('let days pass' as const), days: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** The rules again, credit by credit: each credit of a balance is paid for (null) or of a grant. */
class Model {
  private grants: { id: number; expiresOn: number }[] = [];
  /** The credits of the balance, by the index of their grant. */
  private credits: (number | null)[] = [];
  readonly jobs: { reserved: number; isOpen: boolean }[] = [];

  get held(): number {
    return this.jobs.reduce((sum, { reserved, isOpen }) => sum + (isOpen ? reserved : 0), 0);
  }
  get available(): number {
    return this.credits.length - this.held;
  }

  grant(amount: number, expiresOn: number): void {
    const id = this.grants.push({ id: this.grants.length, expiresOn }) - 1;
    this.credits.push(...Array.from({ length: amount }, () => id));
  }
  topUp(amount: number): void {
    this.credits.push(...Array.from({ length: amount }, () => null));
  }
  /** Paid credits first, then the earliest expiry. */
  takeAway(amount: number): void {
    this.sort();
    const paid = this.credits.filter((credit) => credit === null);
    const promotional = this.credits.filter((credit) => credit !== null);
    this.credits = [...promotional.slice(Math.max(0, amount - paid.length)), ...paid.slice(amount)];
  }
  settle(job: number, charged: number): void {
    const settled = this.jobs[job];
    if (!settled?.isOpen) return;
    settled.isOpen = false;
    this.sort();
    this.credits.splice(0, Math.min(charged, settled.reserved));
  }
  expire(today: number): void {
    this.sort();
    // The first credits in the order of use are the held ones.
    const { held } = this;
    this.credits = this.credits.filter(
      (credit, position) => position < held || credit === null || (this.grants[credit]?.expiresOn ?? 0) > today,
    );
  }
  left(): number[] {
    const counts = this.grants
      .toSorted((one, other) => one.expiresOn - other.expiresOn || one.id - other.id)
      .map(({ id }) => this.credits.filter((credit) => credit === id).length);
    return counts.filter((count) => count > 0);
  }

  private sort(): void {
    const rank = (credit: number | null) =>
      credit === null ? Number.POSITIVE_INFINITY : (this.grants[credit]?.expiresOn ?? 0) * 1000 + credit;
    this.credits.sort((one, other) => (one === other ? 0 : rank(one) - rank(other)));
  }
}

const REFUSALS = /credits are|are available|while it was being settled/;
async function refused(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof Error && REFUSALS.test(error.message))) throw error;
  });
}

describe('any sequence of bookings', () => {
  const options = { numRuns: 20, endOnFailure: true };
  const timeoutMs = 180_000;

  it(
    'any sequence of bookings leaves the balances and grants that counting credit by credit gives',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
          const balance = await newBalance(50);
          const model = new Model();
          model.topUp(50);
          const jobs: string[] = [];
          let today = 0;
          for (const step of steps) {
            switch (step.act) {
              case 'grant':
                await balance.grant(step.amount, today + step.days);
                model.grant(step.amount, today + step.days);
                break;
              case 'top up':
                await balance.topUp(step.amount);
                model.topUp(step.amount);
                break;
              case 'adjust':
                if (model.available + step.change < 0) {
                  await expect(balance.adjust(step.change)).rejects.toMatchObject({ code: 'insufficient_credits' });
                  break;
                }
                await balance.adjust(step.change);
                if (step.change > 0) model.topUp(step.change);
                else model.takeAway(-step.change);
                break;
              case 'hold':
                if (model.available < step.credits) {
                  await expect(balance.hold(step.credits)).rejects.toMatchObject({ code: 'insufficient_credits' });
                  break;
                }
                jobs.push(await balance.hold(step.credits));
                model.jobs.push({ reserved: step.credits, isOpen: true });
                break;
              case 'settle': {
                const job = model.jobs[step.job];
                const jobId = jobs[step.job];
                if (!job?.isOpen || jobId === undefined) break;
                await balance.settle(jobId, Math.min(step.charged, job.reserved));
                model.settle(step.job, step.charged);
                break;
              }
              case 'let days pass':
                today += step.days;
                await balance.expire(today);
                model.expire(today);
                break;
            }
            expect({
              available: await balance.available(),
              held: (await readAccount(orm, balance.customer.organizationId, false)).held,
              grants: await balance.grants(),
            }).toEqual({ available: model.available, held: model.held, grants: model.left() });
          }
          expect(await drift()).toEqual([]);
        }),
        options,
      );
    },
    timeoutMs,
  );

  it(
    'bookings at the same time lose nothing, invent nothing and leave nothing negative',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), async (steps) => {
          const balance = await newBalance(50);
          await balance.grant(40, 2);
          const jobs = [await balance.hold(20), await balance.hold(15), await balance.hold(10)];
          const take = async (step: Step): Promise<unknown> => {
            switch (step.act) {
              case 'grant':
                return balance.grant(step.amount, step.days);
              case 'top up':
                return balance.topUp(step.amount);
              case 'adjust':
                return balance.adjust(step.change);
              case 'hold':
                return balance.hold(step.credits).then((id) => jobs.push(id));
              case 'settle': {
                const jobId = jobs[step.job];
                return jobId === undefined ? undefined : balance.settle(jobId, Math.min(step.charged, 10));
              }
              case 'let days pass':
                return balance.expire(step.days);
            }
          };
          await Promise.all(steps.map((step) => refused(take(step))));
          expect(await drift()).toEqual([]);
          await balance.expire(100);
          const { available, held } = await readAccount(orm, balance.customer.organizationId, false);
          const left = (await balance.grants()).reduce((sum, credits) => sum + credits, 0);
          // Nothing promotional outlives its time, but for what open holds cover.
          expect(left).toBeLessThanOrEqual(held);
          expect(left).toBeLessThanOrEqual(available + held);
          expect(await drift()).toEqual([]);
        }),
        options,
      );
    },
    timeoutMs,
  );
});
