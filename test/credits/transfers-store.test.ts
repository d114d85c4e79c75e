/** Pages of the ledger by the time of booking, in a ledger that is booked by several at once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findTransfers } from '../../src/credits/transfers-store.ts';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SentStatements, watchStatements } from '../support/rows-read.ts';

const TRANSFERS = 5_000;
const START_SECONDS = Date.parse('2026-01-01T00:00:00Z') / 1000;
/** From one transfer to the next. */
const STEP_SECONDS = 60;
/** Transactions that take so long book under numbers of later ones. */
const LONG_SECONDS = 50 * 60;

let database: TestDatabase;
let orm: MikroORM;
let sent: SentStatements;
let customer: Customer;
let other: Customer;

beforeAll(async () => {
  sent = watchStatements(() => orm);
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
  customer = await createCustomer(orm, { live: 0, test: 0 });
  other = await createCustomer(orm, { live: 0, test: 0 });
  // Every seventh began long before it was booked, and every third is of the other account.
  await query(
    orm.em.fork(),
    `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason, created_at)
     select case when n % 3 = 0 then $2 else $1 end, n % 2 = 0, 'top_up', 'funding', 'available', n, 'test',
       to_timestamp($3 + $4 * n - case when n % 7 = 0 then $5 else 0 end)
     from generate_series(1, $6) as n order by n`,
    [customer.organizationId, other.organizationId, START_SECONDS, STEP_SECONDS, LONG_SECONDS, TRANSFERS],
  );
  await query(orm.em.fork(), 'analyze credit_transfers');
});
afterAll(async () => {
  await orm.close();
  await database.drop();
  sent.stop();
});

it.each([
  { 'created[gte]': START_SECONDS + 100_000 },
  { 'created[gt]': START_SECONDS + 100_020, 'created[lte]': START_SECONDS + 160_020 },
  { 'created[lt]': START_SECONDS + 100_000 },
  { 'created[gte]': START_SECONDS + 250_000, 'created[lt]': START_SECONDS + 250_061 },
  { 'created[lt]': START_SECONDS - LONG_SECONDS },
  { 'created[gte]': START_SECONDS + STEP_SECONDS * TRANSFERS + 1 },
  { 'created[gte]': 0 },
])('the filter %j selects what a scan of the ledger selects', async (bounds) => {
  const { rows } = await findTransfers(orm.em.fork(), customer.organizationId, { limit: TRANSFERS, ...bounds });
  const all = await query<{ id: string; seconds: number }>(
    orm.em.fork(),
    `select id, extract(epoch from created_at)::int as seconds from credit_transfers
     where organization_id = $1 order by id desc`,
    [customer.organizationId],
  );
  const holds = {
    'created[gte]': (seconds: number, bound: number) => seconds >= bound,
    'created[gt]': (seconds: number, bound: number) => seconds > bound,
    'created[lte]': (seconds: number, bound: number) => seconds <= bound,
    'created[lt]': (seconds: number, bound: number) => seconds < bound,
  };
  const wanted = all.filter(({ seconds }) =>
    Object.entries(bounds).every(([bound, value]) => holds[bound as keyof typeof holds](seconds, value)),
  );
  expect(rows.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
});

it('a page of transfers of long ago reads some rows around it, and not the ledger since', async () => {
  const bounds = { 'created[gte]': START_SECONDS + 100_000, 'created[lt]': START_SECONDS + 103_000 };
  const { rows } = await sent.rowsRead(
    () => findTransfers(orm.em.fork(), customer.organizationId, { limit: 20, livemode: true, ...bounds }),
    ['from "credit_transfers"', 'limit'],
  );
  expect(rows).toBeLessThan(200);
});

it('an empty ledger has no page', async () => {
  const empty = await createTestDatabase();
  const its = await openDatabase({ url: empty.url, poolSize: 1 });
  const page = await findTransfers(its.em.fork(), customer.organizationId, {
    limit: 20,
    'created[gte]': START_SECONDS,
  });
  expect(page).toEqual({ rows: [], hasMore: false });
  await its.close();
  await empty.drop();
});
