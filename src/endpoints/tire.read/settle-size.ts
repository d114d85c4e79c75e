/**
 * The size and service description in a row, with what the network considered at each place: a letter among digits becomes
 * the digit that it considered, and of two readings the one that tires are made in counts. Nothing becomes what the network
 * did not consider.
 */
import { asOneOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import { isPlausibleLoad, isPlausibleSize } from './plausible-sizes.ts';
import { type ServiceText, serviceAt } from './sidewall-text.ts';
import { findLikeSize, findSize, type SizeText } from './size-text.ts';

/** A row in upper case. */
export interface Row {
  text: string;
  characters: readonly PrintedCharacter[];
}

export interface SettledSize {
  /** With the characters that were settled. */
  row: Row;
  size: SizeText;
  service: ServiceText | null;
  isPlausible: { size: boolean; load: boolean };
}

const DIGITS = new Set('0123456789');
const SLASH = new Set('/');
/** Digits that may be replaced for a plausible reading, and the least probability of what replaces them. */
const MOST_REPLACED = 2;
const LEAST_PROBABILITY = 0.01;

export function settleSize(row: Row): SettledSize | null {
  const read = sizeIn(row) ?? sizeIn(withDigits(row));
  if (!read || isWhollyPlausible(read)) return read;
  const places = [read.size, ...(read.service ? [read.service.load] : [])].flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, index) => start + index),
  );
  const others = readingsOf(read.row, places, MOST_REPLACED)
    .flatMap(({ row: other, likelihood }) => {
      const settled = sizeIn(other);
      return settled && isWhollyPlausible(settled) ? [{ settled, likelihood }] : [];
    })
    .toSorted((one, another) => another.likelihood - one.likelihood);
  return others[0]?.settled ?? read;
}

function isWhollyPlausible({ isPlausible }: SettledSize): boolean {
  return isPlausible.size && isPlausible.load;
}

function sizeIn(row: Row): SettledSize | null {
  const size = findSize(row.text);
  if (!size) return null;
  const service = serviceAt(row.text, size.end, { isAlone: false });
  return { row, size, service, isPlausible: plausibilityOf(size, service) };
}

export function plausibilityOf(size: SizeText, service: ServiceText | null): SettledSize['isPlausible'] {
  const isPlausible = isPlausibleSize(size);
  return { size: isPlausible, load: !isPlausible || service === null || isPlausibleLoad(size, service.load.value) };
}

/** The row with digits, slash and spaces where a size would have them, if the network considered them. */
function withDigits(row: Row): Row {
  const like = findLikeSize(row.text);
  if (!like) return row;
  const characters = row.characters.map((each, place) => {
    if (like.digits.includes(place)) return asOneOf(each, DIGITS) ?? each;
    if (place === like.slash) return asOneOf(each, SLASH) ?? each;
    return like.gaps.includes(place) ? { ...each, character: ' ' } : each;
  });
  const isChanged = (place: number) => characters[place] !== row.characters[place];
  return {
    text: Array.from(row.text, (character, place) =>
      isChanged(place) ? (characters[place]?.character ?? character) : character,
    ).join(''),
    characters,
  };
}

/** Rows with other digits at up to so many of these places, each with its likelihood relative to the row as read. */
function readingsOf(row: Row, places: readonly number[], most: number): { row: Row; likelihood: number }[] {
  if (most === 0) return [];
  return places.flatMap((place, index) => {
    const read = row.characters[place];
    if (!read || !DIGITS.has(read.character)) return [];
    return read.others
      .filter(({ character, probability }) => DIGITS.has(character) && probability >= LEAST_PROBABILITY)
      .flatMap(({ character, probability }) => {
        const changed: Row = {
          text: `${row.text.slice(0, place)}${character}${row.text.slice(place + 1)}`,
          characters: row.characters.with(place, { ...read, character, probability }),
        };
        const likelihood = probability / read.probability;
        const further = readingsOf(changed, places.slice(index + 1), most - 1);
        return [
          { row: changed, likelihood },
          ...further.map((reading) => ({ ...reading, likelihood: reading.likelihood * likelihood })),
        ];
      });
  });
}
