/** What a report of prices holds, whichever format it gets. Pure. */
import type { ExchangeRate } from '../../contracts/vocabulary/pricing.ts';
import { minorDigits } from '../../price-books/row-fields.ts';

export interface Report {
  title: string;
  /** Below the title, each a line. */
  lines: readonly string[];
  sections: readonly Section[];
}

export type Section =
  | { kind: 'table'; title: string; table: Table }
  | { kind: 'waterfall'; title: string; bars: Waterfall };

export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** Share of the width of each column; they add up to 1. */
  widths: readonly number[];
  /** Columns of amounts, from 0: set flush right. */
  amounts: readonly number[];
  /** Whether the last row is the sum of the others. */
  hasTotal: boolean;
}

/** Amounts that lead from one total to another. */
export interface Waterfall {
  currency: string;
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  /** In minor units; a total reaches from 0. */
  from: number;
  to: number;
  kind: 'total' | 'rise' | 'fall';
}

/** @param steps in minor units, in order; those of 0 are left out */
export function waterfall(
  first: { label: string; amount: number } | null,
  steps: readonly { label: string; amount: number }[],
  last: string,
  currency: string,
): Waterfall {
  const bars: Bar[] = first ? [{ label: first.label, from: 0, to: first.amount, kind: 'total' }] : [];
  let sum = first?.amount ?? 0;
  for (const { label, amount } of steps) {
    if (amount === 0) continue;
    bars.push({ label, from: sum, to: sum + amount, kind: amount > 0 ? 'rise' : 'fall' });
    sum += amount;
  }
  return { currency, bars: [...bars, { label: last, from: 0, to: sum, kind: 'total' }] };
}

/** What an estimate in another currency was converted at. More digits than a bank quotes say nothing. */
export const conversion = ({ base, quote, rate, rated_on }: ExchangeRate) =>
  `Converted at ${Number(rate.toPrecision(6))} ${quote} for 1 ${base} on ${rated_on}.`;

export const words = (name: string) => name.replaceAll('_', ' ');

/** From minor units; their number depends on the currency. */
export function money(amount: number, currency: string): string {
  const digits = minorDigits(currency);
  const text = (amount / 10 ** digits).toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${text} ${currency}`;
}

/** The amount of a bar; of a step with its sign. */
export function amountOf({ from, to, kind }: Bar, currency: string): string {
  return kind === 'total' ? money(to, currency) : `${to > from ? '+' : ''}${money(to - from, currency)}`;
}

/**
 * In points of the PDF and in pixels of the page. Each bar lies below its label and amount, which share a line: beside it a
 * sentence would be cut.
 */
export const CHART = { width: 511, amountWidth: 96, lineHeight: 29, textHeight: 13, barHeight: 9 } as const;

export const COLOURS = {
  total: '#3b4a5a',
  rise: '#2e7d4f',
  fall: '#b3423a',
  line: '#bfbfbf',
  note: '#5a5a5a',
} as const;

export interface DrawnBar extends Bar {
  x: number;
  /** Top of the line of the label; the bar begins `textHeight` below. */
  y: number;
  width: number;
}

/** Steps that take less of the scale from 0 are hardly seen: the bars of totals are then cut off. */
const LEAST_SHARE = 0.25;

/** Where the bars begin, in minor units: 0, or more where the steps are small beside the totals. */
export function scaleStart({ bars }: Waterfall): number {
  const ends = bars.map(({ to }) => to);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const spread = most - least;
  if (least <= 0 || spread === 0 || spread >= LEAST_SHARE * most) return Math.min(0, least);
  // Two digits are enough for a beginning.
  const start = most - spread / LEAST_SHARE;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(most)) - 1);
  return Math.max(0, Math.floor(start / unit) * unit);
}

/** Where each bar lies in the chart, from its top left. */
export function drawBars(chart: Waterfall): DrawnBar[] {
  const { bars } = chart;
  const least = scaleStart(chart);
  const most = Math.max(...bars.flatMap(({ from, to }) => [from, to]), least + 1);
  const placeOf = (value: number) => (CHART.width * (Math.max(least, value) - least)) / (most - least);
  return bars.map((bar, index) => {
    const [start, end] = [placeOf(Math.min(bar.from, bar.to)), placeOf(Math.max(bar.from, bar.to))];
    // A step of a few cents is seen too.
    return { ...bar, x: start, y: index * CHART.lineHeight, width: Math.max(1, end - start) };
  });
}

/** What a reader must know of a chart whose bars do not begin at 0; null otherwise. */
export function noteOn(chart: Waterfall): string | null {
  const start = scaleStart(chart);
  return start > 0 ? `The bars begin at ${money(start, chart.currency)}.` : null;
}
