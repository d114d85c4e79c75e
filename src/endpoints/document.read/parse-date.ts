/** Dates in the notations of vehicle documents. */
import { fold } from './folded-text.ts';

export interface Parsed<Value> {
  value: Value;
  /** The range of characters that it was parsed from. */
  start: number;
  end: number;
}

/** Whether 3/4/2022 is 4 March; null where the country is unknown. */
export type MonthFirst = boolean | null;

/** The first three letters, and more where two months share them. Folded. */
const MONTHS: readonly (readonly string[])[] = [
  ['jan', 'gen', 'ene', 'sty', 'janv'],
  ['feb', 'fev', 'fevr', 'lut'],
  ['mar', 'mars', 'marz', 'maerz', 'mrt', 'maa', 'mrz', 'maerz'],
  ['apr', 'avr', 'avril', 'abr', 'kwi'],
  ['may', 'mai', 'mag', 'mei', 'maj'],
  ['jun', 'juin', 'giu', 'cze'],
  ['jul', 'juil', 'lug', 'lip'],
  ['aug', 'aout', 'ago', 'sie'],
  ['sep', 'sept', 'set', 'wrz'],
  ['oct', 'okt', 'ott', 'paz'],
  ['nov', 'lis'],
  ['dec', 'dez', 'dic', 'gru'],
];

const NUMERIC = /(?<!\d)(\d{1,2})(?:\s?([./-])\s?|(\s))(\d{1,2})(?:\s?\2\s?|\3)(\d{4})(?!\d)/;
const SHORT = /(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{2})(?![\d.])/;
const ISO = /(?<!\d)(\d{4})([-./])(\d{1,2})\2(\d{1,2})(?!\d)/;
const DAY_FIRST = /(?<!\d)(\d{1,2})[. -]{0,2}\s?(\p{L}{3,9})[. ,-]{1,3}(\d{4})(?!\d)/u;
const MONTH_FIRST = /(?<!\p{L})(\p{L}{3,9})[. ]{1,2}(\d{1,2})(?:st|nd|rd|th)?[, ]{1,2}(\d{4})(?!\d)/iu;
/** Two digits of a year from here on are of the last century. */
const LAST_CENTURY = 70;
const YEARS = { first: 1900, last: 2099 };

/** The first date in a text, as yyyy-mm-dd; null when none is certain. */
export function parseDate(text: string, monthFirst: MonthFirst): Parsed<string> | null {
  const iso = ISO.exec(text);
  if (iso) return dated(iso, [iso[1], iso[3], iso[4]]);
  const numeric = NUMERIC.exec(text);
  if (numeric) {
    const [one, two] = [Number(numeric[1]), Number(numeric[4])];
    // A dot separates day, month and year in this order everywhere.
    const isMonthFirst =
      numeric[2] === '.' ? false : one > 12 ? false : two > 12 ? true : one === two ? false : monthFirst;
    if (isMonthFirst === null) return null;
    return dated(numeric, isMonthFirst ? [numeric[5], one, two] : [numeric[5], two, one]);
  }
  const spelled = DAY_FIRST.exec(text);
  const month = monthOf(spelled?.[2]);
  if (spelled && month !== null) return dated(spelled, [spelled[3], month, spelled[1]]);
  const american = MONTH_FIRST.exec(text);
  const named = monthOf(american?.[1]);
  if (american && named !== null) return dated(american, [american[3], named, american[2]]);
  const short = SHORT.exec(text);
  if (!short) return null;
  const year = Number(short[3]);
  return dated(short, [year + (year >= LAST_CENTURY ? 1900 : 2000), short[2], short[1]]);
}

/** Whether the dates of a document are month first, as those show that can be nothing else; null when none does. */
export function monthFirstOf(texts: readonly string[]): MonthFirst {
  const orders = texts.flatMap((text) => {
    const match = NUMERIC.exec(text);
    if (!match || match[2] === '.') return [];
    const [one, two] = [Number(match[1]), Number(match[4])];
    return one > 12 && two <= 12 ? [false] : two > 12 && one <= 12 ? [true] : [];
  });
  const [order = null] = orders;
  return orders.every((each) => each === order) ? order : null;
}

function monthOf(word: string | undefined): number | null {
  if (word === undefined) return null;
  const folded = fold(word);
  const index = MONTHS.findIndex((names) =>
    names.some((name) => folded === name || (name.length >= 3 && folded.startsWith(name))),
  );
  return index < 0 ? null : index + 1;
}

function dated(
  match: RegExpExecArray,
  [year, month, day]: readonly [year: unknown, month: unknown, day: unknown],
): Parsed<string> | null {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const date = new Date(Date.UTC(y, m - 1, d));
  const isReal = date.getUTCFullYear() === y && date.getUTCMonth() === m - 1 && date.getUTCDate() === d;
  if (!isReal || y < YEARS.first || y > YEARS.last) return null;
  return { value: date.toISOString().slice(0, 10), start: match.index, end: match.index + match[0].length };
}
