/** Pieces of print that may be a number plate by their size and shape: lines, rows of lines, and pairs below one another. */
import { overlapCoefficient } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { joinRows, quadOf } from '../../inference/toolkit/text/print-rows.ts';
import { distance } from '../../inference/toolkit/text/straighten.ts';
import type { PrintedCharacter, PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { type Glyph, glyphsOf } from './glyphs.ts';
import { stacksOf } from './stacks.ts';

export interface Piece {
  quad: Quad;
  glyphs: readonly Glyph[];
  lines: 1 | 2;
}

/** In print that may be anything, and on plates. */
export const [SHORTEST, SHORTEST_FOUND] = [5, 4];
const LONGEST = 12;
/** Width of a character with its gap, in heights of the line. Badges are set wider. */
const [NARROWEST, WIDEST] = [0.2, 0.75];
/** A letter or digit that is read as a small one. */
const MOST_SMALL = 0.34;

interface Print {
  characters: readonly PrintedCharacter[];
  quad: Quad;
}

export function piecesOf(lines: readonly PrintedLine[]): Piece[] {
  const rows = joinRows(lines)
    .filter(
      ({ characters }) =>
        !lines.some((line) => line.characters.length === characters.length && line.characters[0] === characters[0]),
    )
    .map(({ characters }) => ({ characters, quad: quadOf(characters) }));
  return [...lines, ...rows]
    .map((print) => [print])
    .concat(stacksOf(lines))
    .flatMap(pieceOf);
}

/** One line, or two below one another; none if it is no number plate by its shape. */
export function pieceOf(prints: readonly Print[]): Piece[] {
  const glyphs = glyphsOf(prints);
  const [first, last] = [prints[0], prints.at(-1)];
  if (!first || !last || glyphs.length < SHORTEST_FOUND || glyphs.length > LONGEST) return [];
  if (!prints.every(hasShapeOfPlate)) return [];
  const small = glyphs.filter(({ printed: { character } }) => /\p{Ll}/u.test(character)).length;
  if (small > MOST_SMALL * glyphs.length) return [];
  const quad: Quad = [first.quad[0], first.quad[1], last.quad[2], last.quad[3]];
  return [{ quad, glyphs, lines: prints.length > 1 ? 2 : 1 }];
}

function hasShapeOfPlate({ characters, quad }: Print): boolean {
  const width = (distance(quad[0], quad[1]) + distance(quad[3], quad[2])) / 2;
  const height = (distance(quad[0], quad[3]) + distance(quad[1], quad[2])) / 2;
  const pitch = width / characters.length / height;
  return pitch >= NARROWEST && pitch <= WIDEST;
}

/** Share of the smaller of the boxes around two lines that both cover. */
export function sharedPart(one: Quad, other: Quad): number {
  return overlapCoefficient(boxAround(one), boxAround(other));
}
