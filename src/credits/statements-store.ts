/** Monthly statements, computed from the ledger. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { BalanceKey } from './credit-accounts-store.ts';
import { monthOf, STATEMENT_KINDS, type Statement, type StatementLine } from './statements.ts';

/** How a transfer changes the balance; holds and releases do not. */
const CHANGE = `case when from_account = 'funding' then amount when to_account in ('funding', 'revenue') then -amount end`;
const MOVES_BALANCE = `kind not in ('hold', 'release')`;

interface LineRow {
  isBefore: boolean;
  kind: StatementLine['kind'];
  endpoint: string | null;
  count: string;
  credits: string;
}

/** Reads the statement of the month from `start` to just before `end`. */
export async function readStatement(
  em: EntityManager,
  { organizationId, livemode }: BalanceKey,
  { start, end }: { start: Date; end: Date },
): Promise<Statement> {
  const rows = await query<LineRow>(
    em,
    `select transfer.created_at < $3 as "isBefore", kind, endpoint, count(*) as count, sum(${CHANGE}) as credits
     from credit_transfers as transfer
     left join jobs on jobs.id = transfer.job_id and transfer.created_at >= $3
     where transfer.organization_id = $1 and transfer.livemode = $2 and transfer.created_at < $4 and ${MOVES_BALANCE}
     group by 1, 2, 3`,
    [organizationId, livemode, start, end],
  );
  const before = rows.filter(({ isBefore }) => isBefore);
  const lines = rows
    .filter(({ isBefore }) => !isBefore)
    .map(({ kind, endpoint, count, credits }) => ({ kind, endpoint, count: Number(count), credits: Number(credits) }));
  return {
    month: monthOf(start),
    livemode,
    openingCredits: before.reduce((sum, { credits }) => sum + Number(credits), 0),
    lines: lines.toSorted(inOrder),
  };
}

/** Reads the statements of all months since the first transfer, newest first. Captures are summed over endpoints. */
export async function readStatements(
  em: EntityManager,
  { organizationId, livemode }: BalanceKey,
  now: Date,
): Promise<Statement[]> {
  const rows = await query<Omit<LineRow, 'isBefore' | 'endpoint'> & { month: string }>(
    em,
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM') as month, kind, count(*) as count, sum(${CHANGE}) as credits
     from credit_transfers
     where organization_id = $1 and livemode = $2 and created_at <= $3 and ${MOVES_BALANCE}
     group by 1, 2 order by 1`,
    [organizationId, livemode, now],
  );
  const linesOf = Map.groupBy(rows, ({ month }) => month);
  const statements: Statement[] = [];
  let openingCredits = 0;
  for (const month of monthsFrom(rows[0]?.month, now)) {
    const lines = (linesOf.get(month) ?? []).map(({ kind, count, credits }) => ({
      kind,
      endpoint: null,
      count: Number(count),
      credits: Number(credits),
    }));
    statements.push({ month, livemode, openingCredits, lines: lines.toSorted(inOrder) });
    openingCredits += lines.reduce((sum, { credits }) => sum + credits, 0);
  }
  return statements.reverse();
}

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
