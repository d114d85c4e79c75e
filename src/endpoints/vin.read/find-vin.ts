/**
 * Rows of text → the VIN among them. Nothing is looked up. Where the market requires a check digit, it settles which of the
 * characters that the network considered are stated.
 */
import { asOneOf, type PrintedRow, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import { checkDigit, requiresCheckDigit } from './check-digit.ts';

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
/** Text recognition may split a VIN into two words; into more, if one of them is long or most are single characters. */
const MOST_WORDS = 2;
const LONG_WORD = 9;
/**
 * Share of a character in the probabilities of all that a VIN can have at its place. Below it the character is doubtful; below
 * the second one, if a required check digit disagrees.
 */
const LEAST_SHARE = 0.75;
const LEAST_DISPUTED_SHARE = 0.95;
/** Share above which another character is a candidate for a doubtful place. */
const CANDIDATE_SHARE = 0.04;
/** More doubtful places than this are not settled: some combination agrees by chance. */
const MOST_SETTLED = 2;

/** A label before a VIN, attached to it or separate. */
const LABEL = /(?:V\W?I\W?N|F\W?I\W?N|CHASSIS|CADRE|FRAME|FAHRGESTELL|VEHICLE ?ID\w*)(?:\W?(?:NO|NUMBER|NR|N°|Nº))?$/;
/** Including separators between the label and the number. */
const LONGEST_LABEL = 30;
/** `E` is the code of the VIN on European registration certificates (Directive 1999/37/EC). */
const GLUED_LABEL = /^(?:VINNO|VINNR|VIN|FIN|E(?=[A-Z0-9]{17}$))/;
/** Stamped numbers stand between stars, which look like X. */
const BETWEEN_STARS = /^X[A-Z0-9]{17}X$/;

interface Candidate {
  characters: PrintedCharacter[];
  isLabelled: boolean;
}

/** Returns seventeen characters, `?` with probability 0 for an unreadable one; null if no row contains a VIN. */
export function findVin(rows: readonly PrintedRow[]): PrintedCharacter[] | null {
  const [best] = rows.flatMap(candidatesOf).toSorted(betterFirst);
  if (!best) return null;
  const certain = withoutDoubtful(best.characters);
  return unreadableOf(certain) > MOST_UNREADABLE ? null : certain;
}

/**
 * Doubtful characters are unreadable, unless the market requires a check digit and it agrees with exactly one combination of
 * the candidates: with any one it agrees once in eleven times by chance.
 */
function withoutDoubtful(characters: PrintedCharacter[]): PrintedCharacter[] {
  const isDisputed = requiresCheckDigit(textOf(characters)) && checkDigit(textOf(characters)).valid === false;
  const least = isDisputed ? LEAST_DISPUTED_SHARE : LEAST_SHARE;
  const doubtful = characters.flatMap((each, place) => (shareOf(each) < least ? [place] : []));
  if (doubtful.length === 0) return characters;
  return (
    settled(characters, doubtful) ??
    characters.map((each, place) => (doubtful.includes(place) ? unreadable(each) : each))
  );
}

/** Undefined where no check digit is required, or where it agrees with several combinations or none. */
function settled(characters: PrintedCharacter[], doubtful: readonly number[]): PrintedCharacter[] | undefined {
  if (doubtful.length > MOST_SETTLED) return undefined;
  const combinations = doubtful.reduce(
    (all, place) =>
      all.flatMap((each) => candidatesAt(characters, place).map((candidate) => each.with(place, candidate))),
    [characters],
  );
  if (!combinations.every((each) => requiresCheckDigit(textOf(each)))) return undefined;
  const agreeing = combinations.filter((each) => checkDigit(textOf(each)).valid === true);
  return agreeing.length === 1 ? agreeing[0] : undefined;
}

/** A character and the others that are nearly as likely, each at its own probability. */
function candidatesAt(characters: readonly PrintedCharacter[], place: number): PrintedCharacter[] {
  const read = characters[place];
  if (!read) return [];
  const { others, quad } = read;
  const all = others.flatMap((other) => asOneOf({ ...other, others: [], quad }, ALLOWED) ?? []);
  const sum = all.reduce((total, { probability }) => total + probability, read.probability);
  const further = all.filter(
    ({ character, probability }) => character !== read.character && probability / sum >= CANDIDATE_SHARE,
  );
  return [read, ...further];
}

function textOf(characters: readonly PrintedCharacter[]): string {
  return characters.map(({ character }) => character).join('');
}

function shareOf({ character, probability, others, quad }: PrintedCharacter): number {
  const sum = others.reduce((total, other) => {
    const asVin = asOneOf({ ...other, others: [], quad }, ALLOWED);
    return asVin && asVin.character !== character ? total + other.probability : total;
  }, probability);
  return probability / sum;
}

/** A word of letters and digits, as a range of the row's characters. */
interface Word {
  start: number;
  end: number;
}

function candidatesOf(row: PrintedRow): Candidate[] {
  const text = row.text.toUpperCase().length === row.text.length ? row.text.toUpperCase() : row.text;
  const words = [...text.matchAll(/[A-Z0-9]+/g)].map(({ index, 0: word }) => {
    const star = BETWEEN_STARS.test(word) ? 1 : 0;
    return { start: index + star, end: index + word.length - star };
  });
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
  const isWhole =
    isLabelled || taken.length <= MOST_WORDS || taken.some((word) => isLong(text, word)) || isSpaced(taken);
  if (length !== LENGTH || !isWhole) return [];
  const printed = taken.flatMap(({ start, end }) => row.characters.slice(start, end));
  const characters = printed.map(asVinCharacter);
  if (unreadableOf(characters) > MOST_UNREADABLE) return [];
  if (digitsAtEnd(characters) < LEAST_DIGITS || digitsAtEnd(printed) < LEAST_READ_AS_DIGITS) return [];
  return [{ characters, isLabelled }];
}

function asVinCharacter(printed: PrintedCharacter): PrintedCharacter {
  return asOneOf(printed, ALLOWED) ?? unreadable(printed);
}

function unreadable(printed: PrintedCharacter): PrintedCharacter {
  return { ...printed, character: UNREADABLE, probability: 0 };
}

function unreadableOf(characters: readonly PrintedCharacter[]): number {
  return characters.filter(({ character }) => character === UNREADABLE).length;
}

/** Most of its words are single characters, as widely spaced print is read. */
function isSpaced(words: readonly Word[]): boolean {
  return 2 * words.filter(({ start, end }) => end - start === 1).length > words.length;
}

/** With letters and digits, as words of text are not. */
function isLong(text: string, { start, end }: Word): boolean {
  const word = text.slice(start, end);
  return word.length >= LONG_WORD && /[A-Z]/.test(word) && /\d/.test(word);
}

function digitsAtEnd(characters: readonly PrintedCharacter[]): number {
  return characters.slice(-LAST).filter(({ character }) => /^\d$/.test(character)).length;
}

function betterFirst(one: Candidate, other: Candidate): number {
  return Number(other.isLabelled) - Number(one.isLabelled) || weakestOf(other.characters) - weakestOf(one.characters);
}
