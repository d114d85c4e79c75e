/** A balance that falls below its threshold causes one event, and the next only after it has been above it again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setLowBalanceThreshold } from '../../src/credits/credit-balances-store.ts';
import { topUp } from '../../src/credits/credit-bookings-store.ts';
import { publishLowBalanceEvents } from '../../src/credits/low-balance-events-store.ts';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishJob, SUCCESS } from '../support/jobs.ts';

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

const key = (customer: Customer) => ({ organizationId: customer.organizationId, livemode: false });

async function newCustomer(threshold: number | null): Promise<Customer> {
  const customer = await createCustomer(orm, { live: 0, test: 100 });
  await setLowBalanceThreshold(orm.em.fork(), key(customer), threshold);
  return customer;
}

async function spend(customer: Customer, credits: number, charged = credits): Promise<void> {
  const jobId = await admit(orm, customer, { reservedCredits: credits });
  await finishJob(orm, jobId, { ...SUCCESS, chargedCredits: charged });
}

/** The balances in the events, oldest first. */
async function told(customer: Customer): Promise<number[]> {
  await publishLowBalanceEvents(orm.em.fork());
  const rows = await query<{ payload: string }>(
    orm.em.fork(),
    `select payload from events where organization_id = $1 and type = 'credits.low_balance' order by id`,
    [customer.organizationId],
  );
  return rows.map(({ payload }) => JSON.parse(payload).data.object.balance);
}

describe('a threshold', () => {
  it('a threshold causes one event when charges bring the balance below it', async () => {
    const customer = await newCustomer(60);
    await spend(customer, 40);
    expect(await told(customer)).toEqual([]);
    await spend(customer, 10);
    await spend(customer, 10);
    expect(await told(customer)).toEqual([50]);
  });

  it('a threshold causes another event after the balance was above it', async () => {
    const customer = await newCustomer(60);
    await spend(customer, 50);
    await topUp(orm.em.fork(), { ...key(customer), amount: 10, reason: 'test' });
    await spend(customer, 1);
    expect(await told(customer)).toEqual([50, 59]);
  });

  it('a threshold is not crossed by a released hold', async () => {
    const customer = await newCustomer(60);
    await spend(customer, 90, 0);
    expect(await told(customer)).toEqual([]);
  });

  it('a balance without a threshold causes no event', async () => {
    const customer = await newCustomer(null);
    await spend(customer, 100);
    expect(await told(customer)).toEqual([]);
  });

  it('a threshold of the other mode causes no event', async () => {
    const customer = await newCustomer(null);
    await setLowBalanceThreshold(orm.em.fork(), { ...key(customer), livemode: true }, 60);
    await spend(customer, 100);
    expect(await told(customer)).toEqual([]);
  });
});

it('concurrent sweepers write a low-balance event once', async () => {
  const customer = await newCustomer(60);
  await spend(customer, 50);
  await Promise.all(Array.from({ length: 5 }, () => publishLowBalanceEvents(orm.em.fork())));
  expect(await told(customer)).toEqual([50]);
});
