/** I1 and I2 hold whatever happens in whatever order, and the verifier sees when they do not. */

import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { topUp } from '../../src/credits/credit-bookings-store.ts';
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

const drift = () => findLedgerDrift(orm.em.fork());

type Step =
  | { act: 'admit'; credits: number; livemode: boolean }
  | { act: 'settle'; job: number; charged: number }
  | { act: 'fail'; job: number }
  | { act: 'expire'; job: number }
  | { act: 'pick up'; job: number }
  | { act: 'top up'; amount: number; livemode: boolean };

const job = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('admit' as const), credits: fc.nat(60), livemode: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('settle' as const), job, charged: fc.nat(80) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('fail' as const), job }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('expire' as const), job }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('pick up' as const), job }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('top up' as const),
      amount: fc.integer({ min: 1, max: 50 }),
      livemode: fc.boolean(),
    }),
  },
);

/** Jobs of one run, admitted so far. A step on a job that is not there does nothing. */
class Run {
  readonly customer: Customer;
  readonly jobs: string[] = [];
  private readonly settlement = createSettlementActivities({ orm });

  constructor(customer: Customer) {
    this.customer = customer;
  }

  async take(step: Step): Promise<unknown> {
    switch (step.act) {
      case 'admit':
        return admit(orm, this.customer, { reservedCredits: step.credits, livemode: step.livemode }).then((id) =>
          this.jobs.push(id),
        );
      case 'top up':
        return topUp(orm.em.fork(), { organizationId: this.customer.organizationId, reason: 'test', ...step });
      case 'settle':
        return this.onJob(step.job, async (jobId) => {
          await finishInference(orm, jobId, { ...SUCCESS, chargedCredits: step.charged });
          return this.settlement.settleJob({ jobId, failure: null });
        });
      case 'fail':
        return this.onJob(step.job, (jobId) => this.settlement.settleJob({ jobId, failure: 'inference_timeout' }));
      case 'expire':
        return this.onJob(step.job, (jobId) => this.settlement.settleJob({ jobId, failure: 'job_expired' }));
      case 'pick up':
        return this.onJob(step.job, (jobId) => finishInference(orm, jobId, { ...SUCCESS, chargedCredits: 1 }));
    }
  }

  private onJob<Result>(index: number, act: (jobId: string) => Promise<Result>): Promise<Result | undefined> {
    const jobId = this.jobs[index];
    return jobId === undefined ? Promise.resolve(undefined) : act(jobId);
  }
}

/** Only what the rules refuse may fail: a balance too low, or a transition that another one overtook. */
const isRefusal = (error: unknown) =>
  error instanceof Error && /credits are|are available|while it was being settled/.test(error.message);

async function refused(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}

describe('the invariants I1 and I2', () => {
  const options = { numRuns: 25, endOnFailure: true };

  it('I1 and I2 hold after any sequence of admissions, settlements, expiries and top-ups', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const run = new Run(await createCustomer(orm, { test: 100, live: 100 }));
        for (const step of steps) await refused(run.take(step));
        expect(await drift()).toEqual([]);
      }),
      options,
    );
  }, 240_000);

  it('I1 and I2 hold when admissions, settlements, expiries and top-ups run concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const run = new Run(await createCustomer(orm, { test: 100, live: 100 }));
        for (let job = 0; job < 4; job += 1) await run.take({ act: 'admit', credits: 20, livemode: job % 2 === 0 });
        await Promise.all(steps.map((step) => refused(run.take(step))));
        expect(await drift()).toEqual([]);
      }),
      options,
    );
  }, 240_000);
});

describe('the ledger verifier', () => {
  let customer: Customer;
  let jobId: string;
  let undo: string[];

  beforeEach(async () => {
    customer = await createCustomer(orm, { test: 100 });
    jobId = await admit(orm, customer);
    undo = [];
    expect(await drift()).toEqual([]);
  });
  afterEach(async () => {
    for (const statement of undo) await change(statement);
    expect(await drift()).toEqual([]);
  });

  const change = (statement: string) => query(orm.em.fork(), statement);
  const account = () => `organization_id = '${customer.organizationId}' and not livemode`;

  it('the ledger verifier reports a balance changed without a transfer', async () => {
    await change(`update credit_accounts set available = available + 5 where ${account()}`);
    undo = [`update credit_accounts set available = available - 5 where ${account()}`];
    expect(await drift()).toEqual([expect.stringMatching(`${customer.organizationId} f: available 85, replayed 80`)]);
  });

  it('the ledger verifier reports a transfer without a balance', async () => {
    const stranger = 'org_without_account';
    await change(
      `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount)
       values ('${stranger}', true, 'top_up', 'funding', 'available', 7)`,
    );
    undo = [`delete from credit_transfers where organization_id = '${stranger}'`];
    expect(await drift()).toEqual([expect.stringMatching(stranger)]);
  });

  it('the ledger verifier reports a wrong count of open jobs', async () => {
    await change(`update credit_accounts set open_jobs = 3 where ${account()}`);
    undo = [`update credit_accounts set open_jobs = 1 where ${account()}`];
    expect(await drift()).toEqual([expect.stringMatching('counts 3 open jobs, there are 1')]);
  });

  it('the ledger verifier reports a job whose hold differs from its reservation', async () => {
    await change(`update jobs set reserved_credits = 21 where id = '${jobId}'`);
    undo = [`update jobs set reserved_credits = 20 where id = '${jobId}'`];
    expect(await drift()).toEqual([expect.stringMatching(`${jobId} .*reserved 21, held 20`)]);
  });

  it('the ledger verifier reports an ended job whose hold was never moved', async () => {
    await change(`update jobs set status = 'failed', completed_at = now() where id = '${jobId}'`);
    await change(`update credit_accounts set open_jobs = 0 where ${account()}`);
    undo = [
      `update jobs set status = 'queued', completed_at = null where id = '${jobId}'`,
      `update credit_accounts set open_jobs = 1 where ${account()}`,
    ];
    expect(await drift()).toEqual([expect.stringMatching(`${jobId} \\(failed\\)`)]);
  });

  it('the ledger verifier reports a job charged without a capture', async () => {
    await finishInference(orm, jobId);
    await createSettlementActivities({ orm }).settleJob({ jobId, failure: null });
    await change(`update jobs set charged_credits = 19 where id = '${jobId}'`);
    undo = [`update jobs set charged_credits = 20 where id = '${jobId}'`];
    expect(await drift()).toEqual([expect.stringMatching('captured 20, released 0, charged 19')]);
  });
});

describe('the constraints of the ledger', () => {
  it('the database itself refuses a negative balance, and a second hold, capture or release of a job', async () => {
    const customer = await createCustomer(orm, { test: 100 });
    const jobId = await admit(orm, customer);
    const em = orm.em.fork();
    const where = `organization_id = '${customer.organizationId}' and not livemode`;
    await expect(query(em, `update credit_accounts set available = -1 where ${where}`)).rejects.toThrow(/check/);
    await expect(query(em, `update credit_accounts set held = -1 where ${where}`)).rejects.toThrow(/check/);
    await expect(
      query(
        em,
        `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, job_id)
         values ('${customer.organizationId}', false, 'hold', 'available', 'held', 20, '${jobId}')`,
      ),
    ).rejects.toThrow(/credit_transfers_once/);
    await expect(query(em, `update jobs set charged_credits = 21 where id = '${jobId}'`)).rejects.toThrow(/check/);
    expect(await readAccount(orm, customer.organizationId, false)).toEqual({ available: 80, held: 20, openJobs: 1 });
  });
});

it.each([0, -10, 0.5, 2 ** 53])('a top-up of %d credits is refused and books nothing', async (amount) => {
  const { organizationId } = await createCustomer(orm, { live: 0, test: 10 });
  const booking = { organizationId, livemode: false, amount, reason: 'test' };
  await expect(topUp(orm.em.fork(), booking)).rejects.toThrow('is refused');
  expect(await readAccount(orm, organizationId, false)).toMatchObject({ available: 10 });
  expect(await drift()).toEqual([]);
});
