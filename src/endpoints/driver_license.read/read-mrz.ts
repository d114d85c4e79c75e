/**
 * The machine-readable zone: one line of 30 characters on European licences, three on documents of the size TD1 (ICAO 9303,
 * part 5). The package `mrz` reads the same layouts, but neither returns the expected check digits, which the result states,
 * nor accepts the one line of other countries than France.
 */
import { alpha2Of } from './countries.ts';
import { isoDate } from './dates.ts';
import { isBeside, type Page, type Piece, type Reading, readingOf } from './page.ts';
import type { Result } from './result.ts';

type Check = NonNullable<Result['mrz']>['checks'][number];

export interface Mrz {
  lines: string[];
  checks: Check[];
  /** Fields that the zone holds; a name may be cut off. */
  fields: Partial<Record<'number' | 'birth_date' | 'sex' | 'expiry_date' | 'family_name' | 'given_names', string>>;
  /** ISO 3166-1 alpha-2; null if unknown. */
  country: string | null;
  /** Without a value. */
  place: Reading;
}

const LENGTH = 30;
/** Driving licences begin with D; TD1 documents of licences do too (ISO/IEC 18013-1). */
const FIRST_LINE = /^D[A-Z0-9<][A-Z<]{3}[A-Z0-9<]{25}$/;
const LINE = /^[A-Z0-9<]{30}$/;
const WEIGHTS = [7, 3, 1];

/** The name of the French layout is cut off after eight characters. */
export const FRENCH_NAME_LENGTH = 8;

export function readMrz({ pieces, imageIndex }: Page): Mrz | null {
  for (const [index, first] of pieces.entries()) {
    const text = zoneText(first);
    if (!FIRST_LINE.test(text)) continue;
    const below = pieces.slice(index + 1).filter(({ box }) => !isBeside(box, first.box));
    const [second, third] = below.filter((piece) => LINE.test(zoneText(piece)));
    const isTd1 = second !== undefined && third !== undefined;
    const read = isTd1 ? [first, second, third] : [first];
    const characters = read.flatMap((piece) => piece.characters);
    const place = readingOf({ text: '', characters }, imageIndex, 'mrz');
    if (!place) continue;
    const lines = read.map(zoneText);
    return { lines, place, ...(isTd1 ? td1Of(lines) : oneLineOf(text)) };
  }
  return null;
}

/** As recognisers read the font: with spaces and quotation marks for fillers. */
function zoneText({ text }: Piece): string {
  return text.toUpperCase().replaceAll('«', '<<').replaceAll(' ', '');
}

/** Only the French layout is known beyond country and last check digit: each country places the rest as it likes. */
function oneLineOf(line: string): Pick<Mrz, 'checks' | 'fields' | 'country'> {
  const country = alpha2Of(line.slice(2, 5));
  const composite = checkOf('composite', line.slice(0, LENGTH - 1), line.charAt(LENGTH - 1));
  if (country !== 'FR') return { checks: [composite], fields: {}, country };
  // Over everything before it, unlike in ICAO 9303.
  const checks = [checkOf('number', line.slice(0, 14), line.charAt(14)), composite];
  return {
    checks,
    country,
    fields: withoutEmpty({
      number: withoutFillers(line.slice(5, 14)),
      expiry_date: dateOf(line.slice(15, 21), () => 20),
      family_name: withoutFillers(line.slice(21, 29)),
    }),
  };
}

function td1Of([first = '', second = '', third = '']: readonly string[]): Pick<Mrz, 'checks' | 'fields' | 'country'> {
  const composed = first.slice(5) + second.slice(0, 7) + second.slice(8, 15) + second.slice(18, 29);
  const [family = '', given = ''] = third.split('<<');
  const sex = { F: 'female', M: 'male' }[second.charAt(7)];
  const thisYear = new Date().getUTCFullYear() % 100;
  return {
    checks: [
      checkOf('number', first.slice(5, 14), first.charAt(14)),
      checkOf('birth_date', second.slice(0, 6), second.charAt(6)),
      checkOf('expiry_date', second.slice(8, 14), second.charAt(14)),
      checkOf('composite', composed, second.charAt(29)),
    ],
    country: alpha2Of(first.slice(2, 5)),
    fields: withoutEmpty({
      number: withoutFillers(first.slice(5, 14)),
      birth_date: dateOf(second.slice(0, 6), (year) => (year > thisYear ? 19 : 20)),
      sex: sex ?? null,
      expiry_date: dateOf(second.slice(8, 14), () => 20),
      family_name: withoutFillers(family),
      given_names: withoutFillers(given),
    }),
  };
}

function checkOf(field: Check['field'], text: string, found: string): Check {
  const expected = checkDigitOf(text);
  return { field, found, expected, valid: found === expected };
}

/** ICAO 9303, part 3: a letter counts from 10, a filler 0. */
function checkDigitOf(text: string): string {
  const sum = Array.from(text).reduce(
    (total, character, place) =>
      total + (character === '<' ? 0 : Number.parseInt(character, 36)) * (WEIGHTS[place % 3] ?? 0),
    0,
  );
  return String(sum % 10);
}

function withoutFillers(text: string): string | null {
  return text.replaceAll('<', ' ').trim() || null;
}

function dateOf(text: string, centuryOf: (year: number) => number): string | null {
  if (!/^\d{6}$/.test(text)) return null;
  const year = text.slice(0, 2);
  return isoDate(`${centuryOf(Number(year))}${year}`, text.slice(2, 4), text.slice(4));
}

function withoutEmpty<Field extends string>(fields: Record<Field, string | null>): Partial<Record<Field, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Partial<
    Record<Field, string>
  >;
}
