/** Rows of text → the VIN among them. Nothing is looked up, and the check digit does not influence the reading. */
import { asOneOf, type PrintedRow, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';

const LENGTH = 17;
/** A VIN never contains I, O or Q: they look like 1 and 0 (ISO 3779). */
export const VIN_CHARACTERS = Array.from('ABCDEFGHJKLMNPRSTUVWXYZ0123456789');
const ALLOWED = new Set(VIN_CHARACTERS);
const UNREADABLE = '?';
/** A candidate with more unreadable characters is rejected. */
const MOST_UNREADABLE = 3;
/** The last four characters are digits (ISO 3779). Two may be misread, but at least one must be read as a digit. */
const LAST = 4;
const LEAST_DIGITS = 2;
const LEAST_READ_AS_DIGITS = 1;
/** Text recognition may split a VIN into two words. */
const MOST_WORDS = 2;

/** A label before a VIN, attached to it or separate. */
const LABEL = /(?:V\W?I\W?N|F\W?I\W?N|CHASSIS|CADRE|FRAME|FAHRGESTELL|VEHICLE ?ID\w*)(?:\W?(?:NO|NUMBER|NR|N°|Nº))?$/;
/** Including separators between the label and the number. */
const LONGEST_LABEL = 30;
const GLUED_LABEL = /^(?:VINNO|VINNR|VIN|FIN)/;

interface Candidate {
  characters: PrintedCharacter[];
  isLabelled: boolean;
}

/** Returns seventeen characters, `?` with probability 0 for an unreadable one; null if no row contains a VIN. */
export function findVin(rows: readonly PrintedRow[]): PrintedCharacter[] | null {
  const candidates = rows.flatMap(candidatesOf).toSorted(betterFirst);
  return candidates[0]?.characters ?? null;
}

/** A word of letters and digits, as a range of the row's characters. */
interface Word {
  start: number;
  end: number;
}

function candidatesOf(row: PrintedRow): Candidate[] {
  const text = row.text.toUpperCase().length === row.text.length ? row.text.toUpperCase() : row.text;
  const words = [...text.matchAll(/[A-Z0-9]+/g)].map(({ index, 0: word }) => ({
    start: index,
    end: index + word.length,
  }));
  return words.flatMap((word, place) => {
    const label = GLUED_LABEL.exec(text.slice(word.start, word.end))?.[0] ?? '';
    const after = { start: word.start + label.length, end: word.end };
    const before = text.slice(Math.max(0, word.start - LONGEST_LABEL), word.start);
    const isAfterLabel = LABEL.test(before.replace(/\W+$/, ''));
    return [
      ...candidateFrom(row, text, [word, ...words.slice(place + 1)], isAfterLabel),
      ...(label === '' ? [] : candidateFrom(row, text, [after, ...words.slice(place + 1)], true)),
    ];
  });
}

/** The VIN that starts with the first of these words and ends with one of them, if there is one. */
function candidateFrom(row: PrintedRow, text: string, words: readonly Word[], isLabelled: boolean): Candidate[] {
  const taken: Word[] = [];
  let length = 0;
  for (const word of words) {
    const last = taken.at(-1);
    // Only spaces may split a number.
    if (last && !/^ +$/.test(text.slice(last.end, word.start))) return [];
    taken.push(word);
    length += word.end - word.start;
    if (length >= LENGTH) break;
  }
  if (length !== LENGTH || (!isLabelled && taken.length > MOST_WORDS)) return [];
  const printed = taken.flatMap(({ start, end }) => row.characters.slice(start, end));
  const characters = printed.map(asVinCharacter);
  const unreadable = characters.filter(({ character }) => character === UNREADABLE);
  if (unreadable.length > MOST_UNREADABLE) return [];
  if (digitsAtEnd(characters) < LEAST_DIGITS || digitsAtEnd(printed) < LEAST_READ_AS_DIGITS) return [];
  return [{ characters, isLabelled }];
}

function asVinCharacter(printed: PrintedCharacter): PrintedCharacter {
  return asOneOf(printed, ALLOWED) ?? { ...printed, character: UNREADABLE, probability: 0 };
}

function digitsAtEnd(characters: readonly PrintedCharacter[]): number {
  return characters.slice(-LAST).filter(({ character }) => /^\d$/.test(character)).length;
}

function betterFirst(one: Candidate, other: Candidate): number {
  return Number(other.isLabelled) - Number(one.isLabelled) || weakestOf(other.characters) - weakestOf(one.characters);
}
