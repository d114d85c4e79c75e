/** Monthly statements: sums of closed months, and the ledger since. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import { CLOSING_BATCH, type ClosedBatch } from './closing.ts';
import type { BalanceKey } from './credit-accounts-store.ts';
import { monthBounds, monthOf, STATEMENT_KINDS, type Statement, type StatementLine } from './statements.ts';

/** SQL: how a transfer changes the balance; holds and releases do not. */
export const CHANGE = `case when from_account = 'funding' then amount when to_account in ('funding', 'revenue') then -amount end`;
export const MOVES_BALANCE = `kind not in ('hold', 'release')`;

/** What was booked in an hour is summed when it has been over for this long: it is committed by then. */
const CLOSED_AFTER_MS = 60 * 60_000;
/** Transfers that a statement may read before they are summed, in the month that has not ended. */
const OPEN_TRANSFERS = 500;
const HOUR_MS = 60 * 60_000;

interface LineRow {
  month: string;
  kind: StatementLine['kind'];
  endpoint: string | null;
  count: string;
  credits: string;
}

/** What an account's transfers before $3 add up to, by month, kind and, from $4 on, endpoint. What is summed is not read again. */
const LINES = `
  select month, kind, endpoint, transfers as count, credits from closed_month_lines
  where organization_id = $1 and livemode = $2
  union all
  select to_char(transfer.created_at at time zone 'UTC', 'YYYY-MM'), kind, endpoint, count(*), sum(${CHANGE})
  from (
    select coalesce(max(closed_until), '-infinity') as closed_until, coalesce(max(open_from_id), 0) as open_from_id
    from closed_accounts where organization_id = $1 and livemode = $2
  ) as account
  -- The ledger since is not read for a month that is closed.
  join credit_transfers as transfer on account.closed_until < $3 and transfer.id >= account.open_from_id
    and transfer.created_at >= account.closed_until and transfer.created_at < $3
    and transfer.organization_id = $1 and transfer.livemode = $2 and ${MOVES_BALANCE}
  left join jobs on jobs.id = transfer.job_id and transfer.created_at >= $4
  group by 1, 2, 3`;

const MERGED = `select month, kind, endpoint, sum(count) as count, sum(credits) as credits from (${LINES}) as line group by 1, 2, 3`;

/** Reads the statement of the month from `start` to just before `end`. */
export async function readStatement(
  em: EntityManager,
  { organizationId, livemode }: BalanceKey,
  { start, end }: { start: Date; end: Date },
): Promise<Statement> {
  const rows = await query<LineRow>(em, MERGED, [organizationId, livemode, end, start]);
  const month = monthOf(start);
  return {
    month,
    livemode,
    openingCredits: sumOf(rows.filter((row) => row.month < month)),
    lines: linesOf(rows.filter((row) => row.month === month)),
  };
}

/** Reads the statements of all months since the first transfer, newest first. Captures are summed over endpoints. */
export async function readStatements(
  em: EntityManager,
  { organizationId, livemode }: BalanceKey,
  now: Date,
): Promise<Statement[]> {
  const rows = await query<Omit<LineRow, 'endpoint'>>(
    em,
    `select month, kind, sum(count) as count, sum(credits) as credits from (${LINES}) as line group by 1, 2 order by 1`,
    [organizationId, livemode, new Date(now.getTime() + 1), new Date(now.getTime() + 1)],
  );
  const byMonth = Map.groupBy(rows, ({ month }) => month);
  const statements: Statement[] = [];
  let openingCredits = 0;
  for (const month of monthsFrom(rows[0]?.month, now)) {
    const found = (byMonth.get(month) ?? []).map((row) => ({ ...row, endpoint: null }));
    statements.push({ month, livemode, openingCredits, lines: linesOf(found) });
    openingCredits += sumOf(found);
  }
  return statements.reverse();
}

/**
 * Adds up what the next accounts after `after` have booked since the last time, so that statements need not read it again: where a
 * month is over, or much was booked, and at most to the end of one month each. Concurrent callers take different accounts.
 */
export function closeMonths(em: EntityManager, now: Date, after: BalanceKey | null): Promise<ClosedBatch<BalanceKey>> {
  const hour = new Date(Math.floor((now.getTime() - CLOSED_AFTER_MS) / HOUR_MS) * HOUR_MS);
  return em.transactional(async (em) => {
    const accounts = await query<BalanceKey>(
      em,
      `with account as (
         select organization_id, livemode from credit_accounts where (organization_id, livemode) > ($1, $2)
         order by organization_id, livemode limit $3
       ), added as (
         insert into closed_accounts (organization_id, livemode, closed_until, open_from_id)
         select organization_id, livemode, '-infinity', 0 from account
         where not exists (
           select from closed_accounts as known
           where known.organization_id = account.organization_id and known.livemode = account.livemode
         )
         on conflict do nothing
       )
       select organization_id as "organizationId", livemode from account order by organization_id, livemode`,
      [after?.organizationId ?? '', after?.livemode ?? false, CLOSING_BATCH],
    );
    const due = await lockDue(em, hour, accounts);
    // A separate statement, so that it sees what was closed before the locks were acquired.
    if (due.length > 0) await query(em, CLOSE, [hour, ...columnsOf(due)]);
    return { closed: due.length, last: accounts.at(-1) ?? null };
  });
}

/** Locks those of the accounts that have something to add up, except for what another caller is adding up. */
function lockDue(em: EntityManager, hour: Date, accounts: readonly BalanceKey[]): Promise<BalanceKey[]> {
  const month = monthBounds(monthOf(hour));
  if (!month) throw new Error('every time is in a month');
  return query<BalanceKey>(
    em,
    `select organization_id as "organizationId", livemode from closed_accounts as account
     where (organization_id, livemode) in (select * from unnest($4::text[], $5::boolean[]))
       and closed_until < $1 and (closed_until < $2 or exists (
         select from credit_transfers as transfer
         where transfer.organization_id = account.organization_id and transfer.livemode = account.livemode
           and transfer.id >= open_from_id
         order by id offset $3 limit 1
       ))
     order by organization_id, livemode for update skip locked`,
    [hour, month.start, OPEN_TRANSFERS, ...columnsOf(accounts)],
  );
}

const columnsOf = (accounts: readonly BalanceKey[]) => [
  accounts.map(({ organizationId }) => organizationId),
  accounts.map(({ livemode }) => livemode),
];

/** Of the accounts $2 and $3, up to $1. */
const CLOSE = `
  with due as (
    select * from closed_accounts
    where (organization_id, livemode) in (select * from unnest($2::text[], $3::boolean[]))
  ),
  closing as (
    select due.*, least($1::timestamptz, (
      select (date_trunc('month', created_at at time zone 'UTC') + interval '1 month') at time zone 'UTC'
      from credit_transfers as transfer
      where transfer.organization_id = due.organization_id and transfer.livemode = due.livemode
        and transfer.id >= due.open_from_id and created_at >= due.closed_until
      order by transfer.id limit 1
    )) as closes_until
    from due
  ),
  booked as (
    select closing.organization_id, closing.livemode, line.*
    from closing
    -- For each account on its own: together they might seem to be worth a scan of the whole ledger.
    cross join lateral (
      select to_char(transfer.created_at at time zone 'UTC', 'YYYY-MM') as month, kind, endpoint, count(*) as transfers,
        sum(${CHANGE}) as credits, max(transfer.id) as last_id
      from credit_transfers as transfer left join jobs on jobs.id = transfer.job_id
      where transfer.organization_id = closing.organization_id and transfer.livemode = closing.livemode
        and transfer.id >= closing.open_from_id and transfer.created_at >= closing.closed_until
        and transfer.created_at < closing.closes_until and ${MOVES_BALANCE}
      group by 1, 2, 3
    ) as line
  ),
  lines as (
    insert into closed_month_lines as known (organization_id, livemode, month, kind, endpoint, transfers, credits)
    select organization_id, livemode, month, kind, endpoint, transfers, credits from booked
    on conflict (organization_id, livemode, month, kind, endpoint) do update
      set transfers = known.transfers + excluded.transfers, credits = known.credits + excluded.credits
  )
  -- Not beyond what was added up: a transfer with a smaller id than the first that is to be seen may still be about to commit.
  update closed_accounts as account set closed_until = closes_until, open_from_id = least(
    (select min(id) from credit_transfers as transfer
     where transfer.organization_id = closing.organization_id and transfer.livemode = closing.livemode
       and id >= closing.open_from_id and created_at >= closes_until),
    coalesce(
      (select max(last_id) + 1 from booked
       where booked.organization_id = closing.organization_id and booked.livemode = closing.livemode),
      closing.open_from_id))
  from closing
  where account.organization_id = closing.organization_id and account.livemode = closing.livemode`;

const sumOf = (rows: readonly { credits: string }[]) => rows.reduce((sum, { credits }) => sum + Number(credits), 0);

const linesOf = (rows: readonly Omit<LineRow, 'month'>[]): StatementLine[] =>
  rows
    .map(({ kind, endpoint, count, credits }) => ({ kind, endpoint, count: Number(count), credits: Number(credits) }))
    .toSorted(inOrder);

function monthsFrom(first: string | undefined, now: Date): string[] {
  if (first === undefined) return [];
  const months: string[] = [];
  const [year = 0, number = 1] = first.split('-').map(Number);
  for (let offset = 0; ; offset += 1) {
    const month = monthOf(new Date(Date.UTC(year, number - 1 + offset, 1)));
    if (month > monthOf(now)) return months;
    months.push(month);
  }
}

function inOrder(one: StatementLine, other: StatementLine): number {
  return (
    STATEMENT_KINDS.indexOf(one.kind) - STATEMENT_KINDS.indexOf(other.kind) ||
    (one.endpoint ?? '').localeCompare(other.endpoint ?? '', 'en')
  );
}
