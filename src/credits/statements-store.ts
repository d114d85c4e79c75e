/** Monthly statements: sums of closed months, and the ledger since. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { BalanceKey } from './credit-accounts-store.ts';
import { monthBounds, monthOf, STATEMENT_KINDS, type Statement, type StatementLine } from './statements.ts';

/** SQL: how a transfer changes the balance; holds and releases do not. */
export const CHANGE = `case when from_account = 'funding' then amount when to_account in ('funding', 'revenue') then -amount end`;
export const MOVES_BALANCE = `kind not in ('hold', 'release')`;

/** A month is summed when it has been over for this long: what was booked in it is committed by then. */
const CLOSED_AFTER_MS = 24 * 60 * 60_000;
/** Accounts of a batch, one month each. */
const BATCH = 100;

interface LineRow {
  month: string;
  kind: StatementLine['kind'];
  endpoint: string | null;
  count: string;
  credits: string;
}

/** What an account's transfers before $3 add up to, by month, kind and, from $4 on, endpoint. Closed months are not read again. */
const LINES = `
  select month, kind, endpoint, transfers as count, credits from closed_month_lines
  where organization_id = $1 and livemode = $2
  union all
  select to_char(transfer.created_at at time zone 'UTC', 'YYYY-MM'), kind, endpoint, count(*), sum(${CHANGE})
  from (
    select coalesce(max(closed_until), '-infinity') as closed_until, coalesce(max(open_from_id), 0) as open_from_id
    from closed_accounts where organization_id = $1 and livemode = $2
  ) as account
  join credit_transfers as transfer on transfer.id >= account.open_from_id
    and transfer.created_at >= account.closed_until and transfer.created_at < $3
    and transfer.organization_id = $1 and transfer.livemode = $2 and ${MOVES_BALANCE}
  left join jobs on jobs.id = transfer.job_id and transfer.created_at >= $4
  group by 1, 2, 3`;

/** Reads the statement of the month from `start` to just before `end`. */
export async function readStatement(
  em: EntityManager,
  { organizationId, livemode }: BalanceKey,
  { start, end }: { start: Date; end: Date },
): Promise<Statement> {
  const rows = await query<LineRow>(em, LINES, [organizationId, livemode, end, start]);
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
 * Sums the oldest open month of some accounts, so that statements need not read its transfers again. Safe to repeat: of two that
 * overlap, one fails as a whole.
 */
export async function closeMonths(em: EntityManager, now: Date): Promise<{ rows: number; hasMore: boolean }> {
  const month = monthBounds(monthOf(new Date(now.getTime() - CLOSED_AFTER_MS)));
  if (!month) throw new Error('every time is in a month');
  const [closed] = await query<{ accounts: number }>(
    em,
    `with due as (
       select account.organization_id, account.livemode, coalesce(known.open_from_id, 0) as open_from_id,
         coalesce(known.closed_until, '-infinity') as closed_until
       from credit_accounts as account left join closed_accounts as known using (organization_id, livemode)
       where known.closed_until is null or known.closed_until < $1
       order by account.organization_id, account.livemode limit $2
     ),
     closing as (
       select due.*, least($1, (
         select (date_trunc('month', created_at at time zone 'UTC') + interval '1 month') at time zone 'UTC'
         from credit_transfers as transfer
         where transfer.organization_id = due.organization_id and transfer.livemode = due.livemode
           and transfer.id >= due.open_from_id and created_at >= due.closed_until
         order by transfer.id limit 1
       )) as closes_until
       from due
     ),
     lines as (
       insert into closed_month_lines (organization_id, livemode, month, kind, endpoint, transfers, credits)
       select closing.organization_id, closing.livemode, to_char(transfer.created_at at time zone 'UTC', 'YYYY-MM'), kind,
         endpoint, count(*), sum(${CHANGE})
       from closing
       join credit_transfers as transfer on transfer.organization_id = closing.organization_id
         and transfer.livemode = closing.livemode and transfer.id >= closing.open_from_id
         and transfer.created_at >= closing.closed_until and transfer.created_at < closing.closes_until and ${MOVES_BALANCE}
       left join jobs on jobs.id = transfer.job_id
       group by 1, 2, 3, 4, 5
     ),
     accounts as (
       insert into closed_accounts (organization_id, livemode, closed_until, open_from_id)
       select organization_id, livemode, closes_until, coalesce(
         (select min(id) from credit_transfers as transfer
          where transfer.organization_id = closing.organization_id and transfer.livemode = closing.livemode
            and id >= open_from_id and created_at >= closes_until),
         (select max(id) + 1 from credit_transfers as transfer
          where transfer.organization_id = closing.organization_id and transfer.livemode = closing.livemode),
         0)
       from closing
       on conflict (organization_id, livemode) do update
         set closed_until = excluded.closed_until, open_from_id = excluded.open_from_id
       returning 1
     )
     select count(*)::int as accounts from accounts`,
    [month.start, BATCH],
  );
  const rows = closed?.accounts ?? 0;
  // Accounts that have further months are due again.
  return { rows, hasMore: rows > 0 };
}

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
