/** Joins lines of print that were found in pieces into rows, in reading order. */
import type { Box } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { boxAround, type Quad } from '../decoding/rotated-boxes.ts';
import { distance, middle } from './straighten.ts';
import type { PrintedCharacter, PrintedLine } from './text-lines.ts';

export interface PrintedRow {
  /** One UTF-16 unit per character; a longer one becomes the replacement character. */
  text: string;
  /** Includes a space for each gap between two pieces. */
  characters: readonly PrintedCharacter[];
}

/** All in heights of the line on the left. */
const WIDEST_GAP = 1.5;
const DEEPEST_OVERLAP = 0.5;
const GREATEST_SHIFT = 0.35;
const GREATEST_PROPORTION = 1.5;
/** The sine of the angle between two pieces of a row. */
const GREATEST_TURN = 0.12;

/** Joins neighbouring pieces of similar height and direction. Rows are in the order of their first pieces. */
export function joinRows(lines: readonly PrintedLine[]): PrintedRow[] {
  const nextOf = new Map<PrintedLine, PrintedLine>();
  const pairs = lines.flatMap((left) =>
    lines.flatMap((right) => {
      const gap = left === right ? null : gapBetween(left, right);
      return gap === null ? [] : [{ left, right, gap }];
    }),
  );
  const continued = new Set<PrintedLine>();
  // Nearest first: each piece has one neighbour on either side.
  for (const { left, right } of pairs.toSorted((a, b) => a.gap - b.gap)) {
    if (nextOf.has(left) || continued.has(right)) continue;
    nextOf.set(left, right);
    continued.add(right);
  }
  return lines
    .filter((line) => !continued.has(line))
    .map((first) => {
      const characters: PrintedCharacter[] = [...first.characters];
      for (let [left, right] = [first, nextOf.get(first)]; right; [left, right] = [right, nextOf.get(right)]) {
        const [, from, , under] = left.quad;
        const [to, , , below] = right.quad;
        characters.push({ character: ' ', probability: 1, others: [], quad: [from, to, below, under] });
        characters.push(...right.characters);
      }
      return rowOf(characters);
    });
}

function rowOf(characters: readonly PrintedCharacter[]): PrintedRow {
  return { text: textOf(characters), characters };
}

/** One UTF-16 unit per character, so that places in the text are those of the characters; a longer one is replaced. */
export function textOf(characters: readonly PrintedCharacter[]): string {
  return characters.map(({ character }) => (character.length === 1 ? character : '\uFFFD')).join('');
}

/** Distance from the end of one piece to the start of the next, in heights; null when they are not in one row. */
function gapBetween({ quad: left }: PrintedLine, { quad: right }: PrintedLine): number | null {
  const [start, end] = [middle(left[0], left[3]), middle(left[1], left[2])];
  const [next, last] = [middle(right[0], right[3]), middle(right[1], right[2])];
  const [height, nextHeight] = [distance(left[1], left[2]), distance(right[0], right[3])];
  const [length, nextLength] = [distance(start, end), distance(next, last)];
  if (Math.min(height, nextHeight, length, nextLength) === 0) return null;
  if (Math.max(height / nextHeight, nextHeight / height) > GREATEST_PROPORTION) return null;
  const along = { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
  const [dx, dy] = [next.x - end.x, next.y - end.y];
  const gap = (dx * along.x + dy * along.y) / height;
  const shift = Math.abs(dx * along.y - dy * along.x) / height;
  const onwards = { x: (last.x - next.x) / nextLength, y: (last.y - next.y) / nextLength };
  const turn = Math.abs(along.x * onwards.y - along.y * onwards.x);
  const isSameWay = along.x * onwards.x + along.y * onwards.y > 0;
  // Two pieces at the same place do not follow each other.
  const isFurther = (next.x - start.x) * along.x + (next.y - start.y) * along.y > 0;
  const isOfOneRow =
    isSameWay &&
    isFurther &&
    turn <= GREATEST_TURN &&
    shift <= GREATEST_SHIFT &&
    gap >= -DEEPEST_OVERLAP &&
    gap <= WIDEST_GAP;
  return isOfOneRow ? gap : null;
}

/** From the left edge of the first character to the right edge of the last, in pixels of the picture. */
export function quadOf(characters: readonly PrintedCharacter[]): Quad {
  const [first, last] = [characters[0], characters.at(-1)];
  if (!first || !last) throw new Error('nothing is printed');
  return [first.quad[0], last.quad[1], last.quad[2], first.quad[3]];
}

/** The sine of the angle between the first and last character of a row above which it is bent. */
const BENT = 0.1;

/** As `quadOf`; of bent rows along the upper edges of the characters, and back along the lower ones. */
export function outlineOf(characters: readonly PrintedCharacter[]): Point[] {
  const [first, last] = [characters[0], characters.at(-1)];
  if (!first || !last || turnBetween(first.quad, last.quad) <= BENT) return [...quadOf(characters)];
  const above = characters.flatMap(({ quad: [left, right] }) => [left, right]);
  const below = characters.toReversed().flatMap(({ quad: [, , right, left] }) => [right, left]);
  return [...above, ...below];
}

/** The sine of the angle between two upper edges; 1 for more than a right angle. */
function turnBetween([a, b]: Quad, [c, d]: Quad): number {
  const [one, other] = [
    { x: b.x - a.x, y: b.y - a.y },
    { x: d.x - c.x, y: d.y - c.y },
  ];
  const lengths = Math.hypot(one.x, one.y) * Math.hypot(other.x, other.y);
  if (lengths === 0) return 0;
  return one.x * other.x + one.y * other.y < 0 ? 1 : Math.abs(one.x * other.y - one.y * other.x) / lengths;
}

export function boxOf(characters: readonly PrintedCharacter[]): Box {
  return boxAround(characters.flatMap(({ quad }) => quad));
}

/** Most that a reading is trusted beside which more may stand: of 25 on drawings, 12 lacked nothing. */
const AT_CUT = 0.5;

/** Probability of the least certain character, and that nothing is missing; 0 for none. */
export function weakestOf(characters: readonly Pick<PrintedCharacter, 'probability' | 'isAtCut'>[]): number {
  if (characters.length === 0) return 0;
  return Math.min(
    ...characters.map(({ probability, isAtCut }) => (isAtCut ? Math.min(AT_CUT, probability) : probability)),
  );
}

/** Small letters shaped like their capitals: in all-capital print either is a reading of the capital. */
const LIKE_CAPITALS = new Set('ckopsuvwxz');

/**
 * A character as one of the allowed ones: itself or the network's most probable allowed alternative, with the network's own
 * probability. Undefined when no alternative is allowed.
 * @param allowed digits and capitals
 */
export function asOneOf(printed: PrintedCharacter, allowed: ReadonlySet<string>): PrintedCharacter | undefined {
  const likelihoods = new Map<string, number>();
  for (const { character, probability } of [printed, ...printed.others]) {
    const capital = capitalOf(character);
    if (allowed.has(capital)) likelihoods.set(capital, Math.min(1, (likelihoods.get(capital) ?? 0) + probability));
  }
  const own = capitalOf(printed.character);
  const [likeliest] = [...likelihoods].toSorted(([, a], [, b]) => b - a);
  const character = likelihoods.has(own) ? own : likeliest?.[0];
  if (character === undefined) return undefined;
  return { ...printed, character, probability: likelihoods.get(character) ?? 0 };
}

function capitalOf(character: string): string {
  return LIKE_CAPITALS.has(character) ? character.toUpperCase() : character;
}
