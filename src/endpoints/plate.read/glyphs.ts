/** What a printed character may be on a number plate, where everything is a capital or a digit. */
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { distance } from '../../inference/toolkit/text/straighten.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';

export interface Glyph {
  printed: PrintedCharacter;
  /** Capitals and digits that the network considers, with its probabilities; the likeliest first. */
  readings: ReadonlyMap<string, number>;
  /** The same, with what is alike. */
  likelihoods: ReadonlyMap<string, number>;
  /** What stands before it: another character, a gap wider than between others, a printed separator, or a line above. */
  before: 'character' | 'gap' | 'separator' | 'line';
}

/** Characters of one shape on most plates: only a grammar tells which it is. */
const SAME: Readonly<Record<string, string>> = { O: '0', '0': 'O', I: '1', '1': 'I' };
/** Letters and digits that dirt and blur make alike. */
const ALIKE: Readonly<Record<string, string>> = {
  B: '8',
  8: 'B',
  S: '5',
  5: 'S',
  Z: '27',
  2: 'Z',
  7: 'ZT',
  T: '7',
  G: '6',
  6: 'G',
  Q: '0',
  D: '0',
  0: 'DQ',
  A: '4',
  4: 'A',
  L: '1',
  1: 'L',
};
/** Chance that the network meant the other of two alike characters but did not name it. */
const CHANCE_OF_SAME = 0.5;
const CHANCE_OF_ALIKE = 0.08;
/** A small letter on a plate is a misread capital. */
const CHANCE_OF_SMALL = 0.3;
const SMALL_LIKE_DIGITS: Readonly<Record<string, string>> = { l: '1', b: '6', g: '9', q: '9' };

/** In usual steps from one character to the next. */
const WIDE_STEP = 1.4;

const LETTER_OR_DIGIT = /^[\p{Lu}\d]$/u;

/** One line's characters, or those of several below one another. */
export function glyphsOf(lines: readonly { characters: readonly PrintedCharacter[] }[]): Glyph[] {
  const glyphs: Glyph[] = [];
  for (const { characters } of lines) {
    let before: Glyph['before'] = glyphs.length > 0 ? 'line' : 'character';
    for (const printed of characters) {
      const readings = readingsOf(printed);
      if (readings.size === 0 || !isLetterOrDigit(printed.character)) {
        if (before === 'character') before = 'separator';
        continue;
      }
      glyphs.push({ printed, readings, likelihoods: likelihoodsOf(readings), before });
      before = 'character';
    }
  }
  const steps = glyphs.map((glyph, index) => stepBetween(glyphs[index - 1], glyph));
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  return glyphs.map((glyph, index) => {
    const isGap = glyph.before === 'character' && index > 0 && (steps[index] ?? 0) > WIDE_STEP * usual;
    return isGap ? { ...glyph, before: 'gap' } : glyph;
  });
}

/** Distance between the centres of two characters. */
function stepBetween(from: Glyph | undefined, to: Glyph): number {
  return from ? distance(centreOf(from), centreOf(to)) : 0;
}

function centreOf({ printed: { quad } }: Glyph): Point {
  return { x: quad.reduce((sum, { x }) => sum + x, 0) / 4, y: quad.reduce((sum, { y }) => sum + y, 0) / 4 };
}

function isLetterOrDigit(character: string): boolean {
  return /^[\p{L}\d]$/u.test(character);
}

function readingsOf({ character, probability, others }: PrintedCharacter): Map<string, number> {
  const readings = new Map<string, number>();
  const add = (as: string, likelihood: number) => {
    if (LETTER_OR_DIGIT.test(as)) readings.set(as, Math.min(1, (readings.get(as) ?? 0) + likelihood));
  };
  for (const each of [{ character, probability }, ...others]) {
    const capital = each.character.toUpperCase();
    const isSmall = capital !== each.character;
    add(
      capital,
      isSmall && !'ckopsuvwxz'.includes(each.character) ? each.probability * CHANCE_OF_SMALL : each.probability,
    );
    add(SMALL_LIKE_DIGITS[each.character] ?? '', each.probability * CHANCE_OF_SMALL);
    // Few alphabets of plates have marks; an emblem or a screw above a letter looks like one.
    const [base = ''] = capital.normalize('NFD');
    if (base !== capital) add(base, each.probability);
  }
  return new Map([...readings].toSorted(([, a], [, b]) => b - a));
}

/** How likely a glyph is this character, including what the network did not tell apart. */
export function likelihoodOf({ likelihoods }: Glyph, character: string): number {
  return likelihoods.get(character) ?? 0;
}

function likelihoodsOf(readings: ReadonlyMap<string, number>): Map<string, number> {
  const likelihoods = new Map(readings);
  const raise = (to: string, likelihood: number) => likelihoods.set(to, Math.max(likelihoods.get(to) ?? 0, likelihood));
  for (const [read, probability] of readings) {
    for (const same of SAME[read] ?? '') raise(same, probability * CHANCE_OF_SAME);
    for (const alike of ALIKE[read] ?? '') raise(alike, probability * CHANCE_OF_ALIKE);
  }
  return likelihoods;
}

/** Confidence in a character once a grammar excludes the one of the same shape. */
export function confidenceOf(glyph: Glyph, character: string): number {
  const same = glyph.readings.get(SAME[character] ?? '') ?? 0;
  const own = glyph.readings.get(character) ?? 0;
  return Math.min(1, Math.max(own + same, likelihoodOf(glyph, character)));
}

/** Whether the network itself read this character, or the one of its shape. */
export function isReadAs(glyph: Glyph, character: string): boolean {
  const read = likeliest(glyph);
  return read === character || SAME[read] === character;
}

export function likeliest({ readings }: Glyph): string {
  const [[character] = ['']] = [...readings];
  return character;
}
