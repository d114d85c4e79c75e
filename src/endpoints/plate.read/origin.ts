/** Where a plate comes from, as its picture shows it: the letters of a band, or the name of a state above or below. */
import type { Box } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { SIGNS, STATES } from './grammars/names.ts';

export interface Origin {
  /** ISO 3166-1 alpha-2. */
  country: string;
  /** ISO 3166-2. */
  region: string | null;
  confidence: number;
}

/** In heights of the number. */
const WIDEST_GAP = 1;
/** A band's letters are smaller than the number, and so is a state's name. */
const GREATEST_HEIGHT = 0.9;

const LONG_NAME = 7;

/** @param number its place among the lines */
export function originOf(number: Box, lines: readonly PrintedLine[]): Origin | null {
  const found = lines.flatMap((line) => originBy(line, number)).toSorted((a, b) => b.confidence - a.confidence);
  return found[0] ?? null;
}

function originBy(line: PrintedLine, number: Box): Origin[] {
  const text = line.characters
    .map(({ character }) => character)
    .join('')
    .toUpperCase();
  const letters = text.replace(/\P{L}/gu, '');
  const confidence = weakestOf(line.characters);
  const place = boxAround(line.quad);
  const height = number.y1 - number.y0;
  if (place.y1 - place.y0 > GREATEST_HEIGHT * height) return [];
  const middle = { x: (place.x0 + place.x1) / 2, y: (place.y0 + place.y1) / 2 };
  const isLevel = middle.y > number.y0 && middle.y < number.y1;
  const isLeft = middle.x < number.x0 && number.x0 - place.x1 < WIDEST_GAP * height;
  const country = SIGNS[letters];
  if (isLevel && isLeft && country && letters === text) return [{ country, region: null, confidence }];
  const isAcross = middle.x > number.x0 && middle.x < number.x1 && place.x1 - place.x0 <= number.x1 - number.x0;
  const gap = Math.max(number.y0 - place.y1, place.y0 - number.y1);
  const region = stateNamed(letters);
  return isAcross && gap < WIDEST_GAP * height && region ? [{ country: region.slice(0, 2), region, confidence }] : [];
}

/** Long names are small print: one misread letter is allowed. */
function stateNamed(letters: string): string | undefined {
  const near = Object.keys(STATES).filter((name) => name.length >= LONG_NAME && mistakes(name, letters) <= 1);
  return STATES[letters] ?? (near.length === 1 ? STATES[near[0] ?? ''] : undefined);
}

function mistakes(name: string, letters: string): number {
  if (name.length !== letters.length) return Number.POSITIVE_INFINITY;
  return Array.from(name).filter((letter, index) => letter !== letters[index]).length;
}
