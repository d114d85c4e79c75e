/** Reads the fields of a row of a book's file. Pure. */

/** What is wrong with a row, in words for the operator. */
export class RowProblem extends Error {}

export type RowValues<Column extends string> = Readonly<Record<Column, string>>;

export interface Range {
  least: number;
  most: number;
}

export interface Market {
  country: string;
  currency: string;
}

/** Digits after the point of a currency's amounts. */
export function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** Rows state the country and currency of their import, so that no amount is taken for another currency's. @throws RowProblem */
export function checkMarket(values: RowValues<keyof Market>, market: Market): void {
  for (const name of ['country', 'currency'] as const) {
    if (values[name] !== market[name]) throw new RowProblem(`${name} is "${values[name]}", not ${market[name]}`);
  }
}

/** A month stands for its first day. @param latest the last possible day @throws RowProblem */
export function day<Column extends string>(name: Column, values: RowValues<Column>, latest = '9999-12-31'): string {
  const text = values[name];
  const found = /^\d{4}-\d{2}$/.test(text) ? `${text}-01` : text;
  const time = /^\d{4}-\d{2}-\d{2}$/.test(found) ? Date.parse(found) : Number.NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== found) {
    throw new RowProblem(`${name} is "${text}", not a day (2026-11-23) or a month (2026-11)`);
  }
  if (found > latest) throw new RowProblem(`${name} is "${text}", which is in the future`);
  return found;
}

/** @throws RowProblem if the field is empty */
export function required<Value>(name: string, value: Value | null): Value {
  if (value === null) throw new RowProblem(`${name} is missing`);
  return value;
}

/** Null if the field is empty. @throws RowProblem */
export function whole<Column extends string>(
  name: Column,
  values: RowValues<Column>,
  { least, most }: Range,
): number | null {
  const text = values[name];
  if (text === '') return null;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new RowProblem(`${name} is "${text}", not a whole number from ${least} to ${most}`);
}

/** Null if the field is empty. @throws RowProblem */
export function decimal<Column extends string>(name: Column, values: RowValues<Column>): number | null {
  const text = values[name];
  if (text === '') return null;
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) throw new RowProblem(`${name} is "${text}", not a number such as 1.6`);
  return Number(text);
}

/** Null if the field is empty. @throws RowProblem */
export function oneOf<Column extends string, Value extends string>(
  name: Column,
  values: RowValues<Column>,
  known: readonly Value[],
): Value | null {
  const text = values[name];
  if (text === '') return null;
  const value = known.find((one) => one === text);
  if (value === undefined) throw new RowProblem(`${name} is "${text}", not one of ${known.join(', ')}`);
  return value;
}
