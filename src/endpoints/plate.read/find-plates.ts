/** Lines of print → the number plates among them. Print without the format of any country is not one, whatever it shows. */
import { areaOfBox } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import type { Format } from './grammars/grammar.ts';
import { originOf } from './origin.ts';
import { type Piece, pieceOf, piecesOf, SHORTEST, sharedPart } from './pieces.ts';
import { IN_PRINT, type RegistrationNumber, readNumber } from './read-number.ts';

/** Reads print again in cuts of other sizes: plates are small, and their edges are read as characters. */
export type ReadAgain = (quad: Quad) => Promise<PrintedLine[]>;

/** Pieces read again per picture, largest first. */
const MOST_READ_AGAIN = 16;
/** Share of the smaller of two numbers' boxes above which both are readings of one plate. */
const SAME_PLACE = 0.3;

/** @param hint ISO 3166-1 alpha-2 @returns the largest first */
export async function findPlates(
  lines: readonly PrintedLine[],
  readAgain: ReadAgain,
  hint: string | null,
): Promise<RegistrationNumber[]> {
  const pieces = piecesOf(lines).filter(mayHoldNumber).toSorted(largestFirst).slice(0, MOST_READ_AGAIN);
  const found = await Promise.all(pieces.map((piece) => numberIn(piece, lines, readAgain, hint, IN_PRINT)));
  const plates: RegistrationNumber[] = [];
  for (const number of found.flat().toSorted((a, b) => a.cost - b.cost)) {
    if (plates.every(({ quad }) => sharedPart(quad, number.quad) < SAME_PLACE)) plates.push(number);
  }
  return plates.toSorted(largestFirst);
}

/** The number that a piece of print shows, if any. @param lines what may say where it comes from */
export async function numberIn(
  piece: Piece,
  lines: readonly PrintedLine[],
  readAgain: ReadAgain,
  hint: string | null,
  formats: readonly Format[],
): Promise<RegistrationNumber[]> {
  const again = piece.lines > 1 ? [] : (await readAgain(piece.quad)).flatMap((line) => pieceOf([line]));
  const number = readNumber([piece, ...again], originOf(boxAround(piece.quad), lines), hint, formats);
  return number ? [number] : [];
}

/** Numbers have letters and digits; print of small letters is none. */
function mayHoldNumber({ glyphs }: Piece): boolean {
  if (glyphs.length < SHORTEST) return false;
  const canBe = (pattern: RegExp) =>
    glyphs.some(({ likelihoods }) => [...likelihoods.keys()].some((each) => pattern.test(each)));
  return canBe(/\d/);
}

function largestFirst(one: { quad: Quad }, other: { quad: Quad }): number {
  return areaOfBox(boxAround(other.quad)) - areaOfBox(boxAround(one.quad));
}
