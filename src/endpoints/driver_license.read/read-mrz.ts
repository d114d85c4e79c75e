/**
 * The machine-readable zone: one line of 30 characters on European licences, three on documents of the size TD1 (ICAO 9303,
 * part 5). The package `mrz` reads the same layouts, but neither returns the expected check digits, which the result states,
 * nor accepts the one line of other countries than France.
 */
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { asOneOf, boxOf, textOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import { alpha2Of } from './countries.ts';
import { centuryOfBirth, isoDate, thisCentury } from './dates.ts';
import { isBeside, type Page, type Piece, type Reading } from './page.ts';
import type { Result } from './result.ts';

type Check = NonNullable<Result['mrz']>['checks'][number];

export interface Mrz {
  lines: string[];
  checks: Check[];
  /** Fields that the zone holds; a name may be cut off. */
  fields: Partial<Record<'number' | 'birth_date' | 'sex' | 'expiry_date' | 'family_name' | 'given_names', string>>;
  /** ISO 3166-1 alpha-2; null if unknown. */
  country: string | null;
  place: Pick<Reading, 'confidence' | 'image_index' | 'bbox'>;
}

const LENGTH = 30;
const WEIGHTS = [7, 3, 1];
/**
 * What may stand at each place: `A` a letter, `9` a digit, `X` either; fillers with letters and either. Driving licences begin
 * with D; TD1 documents of licences do too (ISO/IEC 18013-1).
 */
const ONE_LINE = /^D[A-Z0-9<]FRA/;
const FRENCH = 'DXAAAXXXXXXXXX9999999AAAAAAAA9';
const TD1 = ['DXAAAXXXXXXXXX9XXXXXXXXXXXXXXX', '9999999A9999999AAAXXXXXXXXXXX9', 'A'.repeat(LENGTH)];
const FIRST_LINE = /^D[A-Z0-9<][A-Z<]{3}[A-Z0-9<]{25}$/;
const LINE = /^[A-Z0-9<]{30}$/;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';
const ALLOWED: Readonly<Record<string, ReadonlySet<string>>> = {
  D: new Set('D'),
  A: new Set(`${LETTERS}<`),
  9: new Set(DIGITS),
  X: new Set(`${LETTERS}${DIGITS}<`),
};
/** How far a line of names may be misread: fillers in a row look like one another. */
const MOST_MISCOUNTED = 4;

/** The name of the French layout is cut off after eight characters. */
export const FRENCH_NAME_LENGTH = 8;

/** @param today ISO 8601, UTC */
export function readMrz({ pieces, imageIndex }: Page, today: string): Mrz | null {
  const zones = pieces.map((piece) => ({ piece, characters: zoneCharacters(piece) }));
  for (const [index, first] of zones.entries()) {
    if (!FIRST_LINE.test(textOf(first.characters))) continue;
    const below = zones.slice(index + 1).filter(({ piece }) => !isBeside(piece.box, first.piece.box));
    const second = below.find(({ characters }) => LINE.test(textOf(characters)));
    const names = second && namesBelow(below.slice(below.indexOf(second) + 1));
    const isTd1 = second !== undefined && names !== undefined;
    const isFrench = ONE_LINE.test(textOf(first.characters));
    const read = isTd1
      ? [first.characters, second.characters, names].map((line, row) => settled(line, TD1[row] ?? ''))
      : [isFrench ? settled(first.characters, FRENCH) : first.characters];
    const characters = read.flat();
    // Also with an uncertain character: the check digits tell.
    const place = {
      confidence: weakestOf(characters),
      image_index: imageIndex,
      bbox: toBoundingBox(boxOf(characters)),
    };
    const lines = read.map((line) => textOf(line));
    return { lines, place, ...(isTd1 ? td1Of(lines, today) : oneLineOf(lines[0] ?? '')) };
  }
  return null;
}

/** As recognisers read the font: with spaces and quotation marks for fillers. */
function zoneCharacters({ characters }: Piece): PrintedCharacter[] {
  return characters
    .filter(({ character }) => character !== ' ')
    .flatMap((each) => {
      const character = each.character.toUpperCase();
      const filler = { ...each, character: '<' };
      return character === '«' ? [filler, filler] : [{ ...each, character }];
    });
}

/** The line of names, whose fillers at the end may be miscounted: it ends with them and has no check digit. */
function namesBelow(zones: readonly { characters: PrintedCharacter[] }[]): PrintedCharacter[] | undefined {
  for (const { characters } of zones) {
    const text = textOf(characters);
    if (!/^[A-Z][A-Z0-9<]*$/.test(text) || Math.abs(text.length - LENGTH) > MOST_MISCOUNTED) continue;
    const last = characters.at(-1);
    if (text.length === LENGTH || !last) return characters;
    const missing = LENGTH - text.length;
    if (!text.endsWith('<'.repeat(Math.max(2, -missing)))) continue;
    return missing < 0 ? characters.slice(0, LENGTH) : [...characters, ...Array<PrintedCharacter>(missing).fill(last)];
  }
  return undefined;
}

/** Each character as one that may stand at its place, with the network's own probability; as it is if none is among the next. */
function settled(characters: readonly PrintedCharacter[], template: string): PrintedCharacter[] {
  return characters.map((each, place) => asOneOf(each, ALLOWED[template.charAt(place)] ?? new Set()) ?? each);
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
      expiry_date: dateOf(line.slice(15, 21), thisCentury),
      family_name: withoutFillers(line.slice(21, 29)),
    }),
  };
}

function td1Of(
  [first = '', second = '', third = '']: readonly string[],
  today: string,
): Pick<Mrz, 'checks' | 'fields' | 'country'> {
  const composed = first.slice(5) + second.slice(0, 7) + second.slice(8, 15) + second.slice(18, 29);
  const [family = '', given = ''] = third.split('<<');
  const sex = { F: 'female', M: 'male' }[second.charAt(7)];
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
      birth_date: dateOf(second.slice(0, 6), centuryOfBirth(Number(today.slice(0, 4)))),
      sex: sex ?? null,
      expiry_date: dateOf(second.slice(8, 14), thisCentury),
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
