/** Monthly statement of a balance. The balance is available and held credits together. */
import type { TransferKind } from '../contracts/credits.ts';
import { creditsInUsd } from './money.ts';

export interface StatementLine {
  /** Holds and releases do not change the balance. */
  kind: Exclude<TransferKind, 'hold' | 'release'>;
  /** The endpoint of captures. */
  endpoint: string | null;
  /** Number of transfers. */
  count: number;
  /** Credits; negative when they left the balance. */
  credits: number;
}

export interface Statement {
  /** In UTC, `2026-11`. */
  month: string;
  livemode: boolean;
  openingCredits: number;
  lines: StatementLine[];
}

/** In the order of the lines. */
export const STATEMENT_KINDS: readonly StatementLine['kind'][] = [
  'top_up',
  'promotion',
  'adjustment',
  'expiry',
  'capture',
];

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** The first moments of a month and of the next, or null when the text is not a month. */
export function monthBounds(month: string): { start: Date; end: Date } | null {
  const [, year, number] = MONTH.exec(month) ?? [];
  if (year === undefined || number === undefined || Number(year) < 1970) return null;
  return {
    start: new Date(Date.UTC(Number(year), Number(number) - 1, 1)),
    end: new Date(Date.UTC(Number(year), Number(number), 1)),
  };
}

export function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}

export function closingCredits({ openingCredits, lines }: Statement): number {
  return lines.reduce((sum, { credits }) => sum + credits, openingCredits);
}

/** Comma-separated values (RFC 4180). No field can contain a comma or a quote. */
export function renderStatementCsv(statement: Statement, creditsPerUsd: number): string {
  const closing = closingCredits(statement);
  const row = (line: string, endpoint: string, count: number | string, credits: number) =>
    [
      statement.month,
      statement.livemode ? 'live' : 'test',
      line,
      endpoint,
      count,
      credits,
      creditsInUsd(credits, creditsPerUsd),
    ].join(',');
  return [
    'month,mode,line,endpoint,count,credits,usd',
    row('opening_balance', '', '', statement.openingCredits),
    ...statement.lines.map(({ kind, endpoint, count, credits }) => row(kind, endpoint ?? '', count, credits)),
    row('closing_balance', '', '', closing),
    '',
  ].join('\r\n');
}
