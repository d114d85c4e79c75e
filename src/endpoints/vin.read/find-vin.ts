/** Rows of print → the VIN among them. Nothing is looked up, and the check digit has no say in what is read. */
import { asOneOf, type PrintedRow, weakestOf } from '../../inference/pipelines/print-rows.ts';
import type { PrintedCharacter } from '../../inference/pipelines/text-lines.ts';

const LENGTH = 17;
/** I, O and Q are not used in a VIN: they look like 1 and 0 (ISO 3779). */
export const VIN_CHARACTERS = Array.from('ABCDEFGHJKLMNPRSTUVWXYZ0123456789');
const ALLOWED = new Set(VIN_CHARACTERS);
const UNREADABLE = '?';
/** A number with more characters that cannot be read is none. */
const MOST_UNREADABLE = 3;
/** The last four of a VIN are digits (ISO 3779). Two may have been misread, but one at least was read as a digit. */
const LAST = 4;
const LEAST_DIGITS = 2;
const LEAST_READ_AS_DIGITS = 1;
/** A VIN that is printed as one word may have been read as two. */
const MOST_WORDS = 2;

/** What stands before a VIN, glued to it or apart. */
const LABEL = /(?:V\W?I\W?N|F\W?I\W?N|CHASSIS|CADRE|FRAME|FAHRGESTELL|VEHICLE ?ID\w*)(?:\W?(?:NO|NUMBER|NR|N°|Nº))?$/;
/** With what may stand between it and the number. */
const LONGEST_LABEL = 30;
const GLUED_LABEL = /^(?:VINNO|VINNR|VIN|FIN)/;

interface Candidate {
  characters: PrintedCharacter[];
  isLabelled: boolean;
}

/** Seventeen characters; one that cannot be read is a `?` of no certainty. Null where no row holds a VIN. */
export function findVin(rows: readonly PrintedRow[]): PrintedCharacter[] | null {
  const candidates = rows.flatMap(candidatesOf).toSorted(betterFirst);
  return candidates[0]?.characters ?? null;
}

/** Words of letters and digits, and which of the row's characters they are. */
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

/** The number that begins with the first of these words and ends with one of them, if there is one. */
function candidateFrom(row: PrintedRow, text: string, words: readonly Word[], isLabelled: boolean): Candidate[] {
  const taken: Word[] = [];
  let length = 0;
  for (const word of words) {
    const last = taken.at(-1);
    // Only a space may have come into the middle of a number.
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
