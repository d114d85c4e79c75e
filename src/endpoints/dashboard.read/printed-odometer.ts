/**
 * Finds the odometer among the lines of print in a picture of a cluster: tells it from trip, range, clock, temperature,
 * speed scale and radio by its form, its unit and the words beside it.
 */
import type { Box } from '../../inference/toolkit/decoding/boxes.ts';
import { intersectionOverUnion } from '../../inference/toolkit/decoding/boxes.ts';
import { boxOf, textOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { type OdometerText, unitOf } from './odometer-text.ts';

export interface PrintedOdometer extends OdometerText {
  /** Probability of its least certain digit. */
  confidence: number;
  /** Of the digits, in pixels of the picture. */
  box: Box;
  /** How much speaks for an odometer; `ENOUGH_EVIDENCE` and more is one. */
  evidence: number;
  /** The unit stands in the line of the digits, which drums cannot show. */
  hasUnitInLine: boolean;
}

/** Of `PrintedOdometer.evidence`: five digits alone, or four with a unit. */
export const ENOUGH_EVIDENCE = 3;

const NUMBER =
  /(?<![\d.,:/+-]|[\d.,:/]\s)(?<digits>\d{1,3}(?:[ .,']\d{3}){1,2}|\d{1,7})(?<tenth>[.,]\d)?(?:\s?(?<unit>km|mi(?:les)?|mls|mí|m)\b(?!\s?\/))?(?![\d:/%°]|\s?[°\d]|[.,]\d|[a-zA-Z])/giu;
const UNIT_ALONE = /^(?<unit>km|mi(?:les)?|mls)\.?$/i;
const ODOMETER_WORD = /\bodo(?:meter)?\b|\btotal\b|gesamt|kilom[eé]trage/i;
const OTHER_WORD =
  /\btrip\b|\brange\b|\bdte\b|\bavg\b|\bservice\b|\bin(?:sp)?\b|reichweite|autonom|reserve|\bfm\b|\bam\b|tages|\bmpg\b|\bmhz\b/i;
const CLUSTER_WORD = /^k?mp?\/?h$|^mph$|\brpm\b|r\/min|1\/min|x\s?1000|\bodo|\btrip\b/i;
const FEWEST_OF_A_SCALE = 3;
/** Numbers of a scale are multiples of ten up to this one. */
const LARGEST_ON_A_SCALE = 400;
/** Heights of a number within which a unit or a word belongs to it. */
const NEAR_HEIGHTS = 2.5;
const SAME_PLACE = 0.3;

/**
 * @param places where a detector saw an odometer, in pixels of the picture
 * @returns every number that may be an odometer, the likeliest first
 */
export function findPrintedOdometers(lines: readonly PrintedLine[], places: readonly Box[]): PrintedOdometer[] {
  return lines
    .flatMap((line) => numbersIn(line, lines, places))
    .toSorted((a, b) => b.evidence - a.evidence || b.confidence - a.confidence);
}

function numbersIn(line: PrintedLine, lines: readonly PrintedLine[], places: readonly Box[]): PrintedOdometer[] {
  const text = textOf(line.characters);
  return [...text.matchAll(NUMBER)].flatMap((match) => {
    const { digits = '', tenth, unit: word } = match.groups ?? {};
    const plain = digits.replaceAll(/\D/g, '');
    const value = Number(plain);
    const printed = line.characters.slice(match.index, match.index + digits.length);
    const shown = printed.filter(({ character }) => /\d/.test(character));
    const box = boxOf(shown.length > 0 ? shown : printed);
    if (word === undefined && isScale(digits)) return [];
    const unit = unitOf(word) ?? unitBeside(box, lines);
    const words = [text, ...wordsBeside(box, line, lines)];
    let evidence = plain.length >= 6 ? 4 : plain.length - 2;
    if (plain.length < 4) evidence = 0;
    if (plain.length >= 5 && plain.startsWith('0')) evidence += 1;
    if (unit !== null && plain.length >= 4) evidence += 2;
    if (plain !== digits) evidence += 1;
    if (tenth !== undefined) evidence -= plain.length >= 5 ? 1 : 4;
    if (words.some((each) => ODOMETER_WORD.test(each))) evidence += 3;
    if (words.some((each) => OTHER_WORD.test(each))) evidence -= 3;
    if (places.some((place) => overlaps(place, box))) evidence += 2;
    return [{ value, unit, confidence: weakestOf(shown), box, evidence, hasUnitInLine: word !== undefined }];
  });
}

/** `120`, `100 120 140` in one line, or `240320` where the space was lost. */
function isScale(digits: string): boolean {
  const numbers = /^\d{6}$/.test(digits) ? [digits.slice(0, 3), digits.slice(3)] : digits.split(' ');
  return numbers.every((number) => isOnScale(number));
}

function isOnScale(number: string): boolean {
  const value = Number(number);
  return value % 10 === 0 && value <= LARGEST_ON_A_SCALE && (number === '0' || !number.startsWith('0'));
}

/** Whether print shows at least three marks of a scale, as on a speedometer. */
export function hasScale(lines: readonly PrintedLine[]): boolean {
  const texts = lines.map((line) => textOf(line.characters).trim());
  return new Set(texts.filter((text) => /^\d{2,3}$/.test(text) && isOnScale(text))).size >= FEWEST_OF_A_SCALE;
}

/** Whether print shows a word or unit that stands on clusters alone. */
export function hasClusterWord(lines: readonly PrintedLine[]): boolean {
  return lines.some((line) => CLUSTER_WORD.test(textOf(line.characters).trim()));
}

/** The unit that stands alone to the right of a number or under it. */
function unitBeside(box: Box, lines: readonly PrintedLine[]): OdometerText['unit'] {
  const near = lines.flatMap((line) => {
    const unit = unitOf(UNIT_ALONE.exec(textOf(line.characters).trim())?.groups?.unit);
    const distance = gap(box, boxOf(line.characters));
    return unit !== null && distance <= NEAR_HEIGHTS * heightOf(box) ? [{ unit, distance }] : [];
  });
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.unit ?? null;
}

/** Lines of letters beside a number, on its left or above it. */
function wordsBeside(box: Box, own: PrintedLine, lines: readonly PrintedLine[]): string[] {
  return lines.flatMap((line) => {
    if (line === own) return [];
    const other = boxOf(line.characters);
    const isBefore = other.x0 < box.x1 && other.y0 < box.y1;
    return isBefore && gap(box, other) <= heightOf(box) ? [textOf(line.characters)] : [];
  });
}

/** The distance between two boxes along the farther axis, in pixels; 0 when they touch. */
function gap(a: Box, b: Box): number {
  const across = Math.max(0, b.x0 - a.x1, a.x0 - b.x1);
  const down = Math.max(0, b.y0 - a.y1, a.y0 - b.y1);
  return Math.max(across, down);
}

function heightOf({ y0, y1 }: Box): number {
  return y1 - y0;
}

/** Whether most of one lies in the other: a detector's box may hold a unit as well. */
export function overlaps(place: Box, box: Box): boolean {
  return intersectionOverUnion(place, box) >= SAME_PLACE;
}
