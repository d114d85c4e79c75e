/** Statements read what is open of a ledger, and sums of the months before. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { closingCredits, type Statement } from '../../src/credits/statements.ts';
import { closeMonths, readStatement, readStatements } from '../../src/credits/statements-store.ts';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { sweepMonths } from '../../src/workers/sweep-credits.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordLog } from '../support/log-record.ts';
import { type SentStatements, watchStatements } from '../support/rows-read.ts';

const TRANSFERS = 5_000;
const MARCH = { start: new Date('2026-03-01T00:00:00Z'), end: new Date('2026-04-01T00:00:00Z') };
const NOW = new Date('2026-03-20T00:00:00Z');

let database: TestDatabase;
let orm: MikroORM;
let sent: SentStatements;
let customer: Customer;

beforeAll(async () => {
  sent = watchStatements(() => orm);
});
afterAll(() => sent.stop());
beforeEach(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  customer = await createCustomer(orm, { live: 0, test: 0 });
  await topUpOften('2026-01-10T00:00:00Z', TRANSFERS);
  await topUpOften('2026-03-10T00:00:00Z', 10);
  await query(orm.em.fork(), 'analyze credit_transfers');
});
afterEach(async () => {
  await orm.close();
  await database.drop();
});

const account = () => ({ organizationId: customer.organizationId, livemode: true });

async function topUpOften(time: string, times: number): Promise<void> {
  await book(time, times);
  await add(times);
}

async function book(time: string, times: number, em = orm.em.fork()): Promise<void> {
  await query(
    em,
    `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason, created_at)
     select $1, true, 'top_up', 'funding', 'available', 2, 'test', $2 from generate_series(1, $3)`,
    [customer.organizationId, time, times],
  );
}

async function add(times: number): Promise<void> {
  await query(
    orm.em.fork(),
    `insert into credit_accounts as known (organization_id, livemode, available) values ($1, true, $2)
     on conflict (organization_id, livemode) do update set available = known.available + excluded.available`,
    [customer.organizationId, 2 * times],
  );
}

async function closeAll(now = NOW): Promise<void> {
  await sweepMonths({ orm, logger: recordLog().logger, clock: () => now });
}

it('a statement reads no transfer of a closed month', async () => {
  const texts = ['from closed_month_lines', 'credit_transfers'];
  const read = () => sent.rowsRead(() => readStatement(orm.em.fork(), account(), MARCH), texts);
  const readAll = () => sent.rowsRead(() => readStatements(orm.em.fork(), account(), NOW), texts);
  const before = [await read(), await readAll()];
  for (const { rows } of before) expect(rows).toBeGreaterThan(TRANSFERS);
  await closeAll();
  const after = [await read(), await readAll()];
  for (const { rows } of after) expect(rows).toBeLessThan(100);
  expect(after.map(({ result }) => result)).toEqual(before.map(({ result }) => result));
  expect(closingCredits(after[0]?.result as Statement)).toBe(2 * (TRANSFERS + 10));
});

it('bookings are summed an hour after their hour, once, and later bookings are counted', async () => {
  await closeAll(new Date('2026-01-10T01:59:59Z'));
  expect(await closedLines()).toEqual([]);
  await closeAll(new Date('2026-01-10T02:00:00Z'));
  const january = { month: '2026-01', kind: 'top_up', transfers: String(TRANSFERS), credits: String(2 * TRANSFERS) };
  expect(await closedLines()).toEqual([january]);
  await closeAll(new Date('2026-01-31T12:00:00Z'));
  await topUpOften('2026-03-19T00:00:00Z', 1);
  expect(await closedLines()).toEqual([january]);
  expect(closingCredits(await readStatement(orm.em.fork(), account(), MARCH))).toBe(2 * (TRANSFERS + 11));
});

it('a month that goes on is summed where much was booked, and its statement has each line once', async () => {
  await closeAll();
  await topUpOften('2026-03-20T00:00:00Z', 501);
  const later = new Date('2026-03-20T02:00:00Z');
  await closeAll(later);
  await topUpOften('2026-03-20T02:00:00Z', 1);
  const { result, rows } = await sent.rowsRead(
    () => readStatement(orm.em.fork(), account(), MARCH),
    ['from closed_month_lines', 'credit_transfers'],
  );
  expect(rows).toBeLessThan(100);
  expect(result).toMatchObject({
    openingCredits: 2 * TRANSFERS,
    lines: [{ kind: 'top_up', endpoint: null, count: 512, credits: 1024 }],
  });
  expect(await findLedgerDrift(orm.em.fork())).toEqual([]);
});

it('the statement of a closed month reads nothing booked since', async () => {
  await topUpOften('2026-03-20T00:00:00Z', 400);
  await closeAll();
  const january = { start: new Date('2026-01-01T00:00:00Z'), end: new Date('2026-02-01T00:00:00Z') };
  const { result, rows } = await sent.rowsRead(
    () => readStatement(orm.em.fork(), account(), january),
    ['from closed_month_lines', 'credit_transfers'],
  );
  expect(rows).toBeLessThan(20);
  expect(closingCredits(result)).toBe(2 * TRANSFERS);
});

it('a booking that has its number but is not yet committed when a later one is seen is counted', async () => {
  const late = orm.em.fork();
  await late.begin();
  await book('2026-03-19T23:59:58Z', 1, late);
  await topUpOften('2026-03-19T23:59:59Z', 1);
  await closeAll();
  await late.commit();
  await add(1);
  await closeAll(new Date('2026-04-02T00:00:00Z'));
  expect(closingCredits(await readStatement(orm.em.fork(), account(), MARCH))).toBe(2 * (TRANSFERS + 12));
  expect(await findLedgerDrift(orm.em.fork())).toEqual([]);
});

it('closings that overlap count each transfer once', async () => {
  const closing = () => closeMonths(orm.em.fork(), NOW, null);
  await Promise.all([closing(), closing(), closing()]);
  expect(await findLedgerDrift(orm.em.fork())).toEqual([]);
  expect(closingCredits(await readStatement(orm.em.fork(), account(), MARCH))).toBe(2 * (TRANSFERS + 10));
});

it('a pass closes every account, and looks at a batch of them at a time', async () => {
  await query(
    orm.em.fork(),
    `with organization as (
       insert into organizations (id, name) select 'org_' || n, 'Many' from generate_series(1000, 1349) as n returning id
     ), account as (
       insert into credit_accounts (organization_id, livemode, available) select id, true, 2 from organization
     )
     insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason, created_at)
     select id, true, 'top_up', 'funding', 'available', 2, 'test', '2026-02-10T00:00:00Z' from organization`,
  );
  await query(orm.em.fork(), 'analyze');
  await closeAll();
  expect(
    await query(orm.em.fork(), 'select count(*)::integer as open from closed_accounts where closed_until < $1', [
      MARCH.start,
    ]),
  ).toEqual([{ open: 0 }]);
  expect(
    await query(orm.em.fork(), `select sum(transfers)::integer as sum from closed_month_lines where month = '2026-02'`),
  ).toEqual([{ sum: 350 }]);
  const look = () => closeMonths(orm.em.fork(), NOW, null);
  const { result, rows } = await sent.rowsRead(look, ['from closed_accounts', 'for update']);
  expect(result).toEqual({ closed: 0, last: { organizationId: expect.any(String), livemode: expect.any(Boolean) } });
  expect(rows).toBeLessThan(350);
});

it('a closing reads what it adds up, and not the ledger before', async () => {
  const book = (time: string, times: number) =>
    query(
      orm.em.fork(),
      `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason, created_at)
       select id, true, 'top_up', 'funding', 'available', 2, 'test', $1
       from generate_series(1, $2), organizations where name = 'Many'`,
      [time, times],
    );
  await query(
    orm.em.fork(),
    `with organization as (
       insert into organizations (id, name) select 'org_' || n, 'Many' from generate_series(1000, 1099) as n returning id
     )
     insert into credit_accounts (organization_id, livemode, available) select id, true, 404 from organization`,
  );
  await book('2026-02-10T00:00:00Z', 200);
  await closeAll();
  await book('2026-03-20T00:00:00Z', 2);
  await query(orm.em.fork(), 'vacuum analyze');
  const closing = () => closeMonths(orm.em.fork(), new Date('2026-04-02T00:00:00Z'), null);
  const { result, rows } = await sent.rowsRead(closing, ['insert into closed_month_lines']);
  expect(result.closed).toBe(100);
  expect(rows).toBeLessThan(2_000);
});

it('the verification of the ledger finds a closed month that does not add up', async () => {
  await closeAll();
  expect(await findLedgerDrift(orm.em.fork())).toEqual([]);
  await query(orm.em.fork(), `update closed_month_lines set credits = credits - 1 where month = '2026-01'`);
  expect(await findLedgerDrift(orm.em.fork())).toEqual([
    expect.stringMatching(
      `account ${customer.organizationId} t, 2026-01, top_up: closed at 9999 credits of 5000 transfers`,
    ),
  ]);
});

const closedLines = () =>
  query(orm.em.fork(), 'select month, kind, transfers, credits from closed_month_lines order by month, kind');
