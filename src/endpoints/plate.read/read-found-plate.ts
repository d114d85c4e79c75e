/** The number on a plate that a detector found, among the print that stands on it. */
import { areaOfBox, intersectionArea } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { distance, growQuad } from '../../inference/toolkit/text/straighten.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { numberIn, type ReadAgain } from './find-plates.ts';
import type { Format } from './grammars/grammar.ts';
import { piecesOf, sharedPart } from './pieces.ts';
import type { RegistrationNumber } from './read-number.ts';

/** Finds the lines of print on a plate and around it, larger than the whole picture shows them. */
export type LookCloser = (plate: Quad) => Promise<PrintedLine[]>;

/** Shares by which a plate grows: a detector's corners are not exact. */
const MARGIN_X = 0.06;
const MARGIN_Y = 0.15;
/** Share of a line that lies on its plate. */
const LEAST_ON_PLATE = 0.6;
/** In heights of the plate. Names of states, slogans and dealers are smaller. */
const LEAST_HEIGHT = 0.25;
/** In nats: a reading that costs less needs no closer look. */
const CLEAR_COST = 1;
/** In nats, for each character that another reading of the same print has more. */
const MISSING_CHARACTER = 1.5;
/** In nats, for print that is e times lower than other print on the plate. */
const LOWER = 4;
/** Share of the smaller of two readings above which both are of the same print. */
const SAME_PLACE = 0.5;

/** @param lines of the whole picture @param hint ISO 3166-1 alpha-2 @param formats that its number may have */
export async function readFoundPlate(
  plate: Quad,
  lines: readonly PrintedLine[],
  { readAgain, lookCloser }: { readAgain: ReadAgain; lookCloser: LookCloser },
  hint: string | null,
  formats: readonly Format[],
): Promise<RegistrationNumber | null> {
  const area = growQuad(plate, MARGIN_X, MARGIN_Y);
  const numbersAmong = async (seen: readonly PrintedLine[]) => {
    const within = seen.filter(({ quad }) => shareOn(area, quad) >= LEAST_ON_PLATE);
    const pieces = piecesOf(within.filter(({ quad }) => heightOf(quad) >= LEAST_HEIGHT * heightOf(plate)));
    return (await Promise.all(pieces.map((piece) => numberIn(piece, within, readAgain, hint, formats)))).flat();
  };
  const first = await numbersAmong(lines);
  const clear = best(first);
  if (clear && clear.cost <= CLEAR_COST) return clear;
  return best([...first, ...(await numbersAmong(await lookCloser(plate)))]) ?? null;
}

/** The number is the tallest print of its plate, and no part of a longer reading. */
function best(numbers: readonly RegistrationNumber[]): RegistrationNumber | undefined {
  const tallest = Math.max(...numbers.map(({ quad }) => heightOf(quad)));
  const costOf = ({ text, cost, quad }: RegistrationNumber) => {
    const same = numbers.filter((other) => sharedPart(other.quad, quad) > SAME_PLACE);
    const missing = Math.max(...same.map((other) => other.text.length)) - text.length;
    return cost + MISSING_CHARACTER * missing + LOWER * Math.log(tallest / heightOf(quad));
  };
  return numbers.toSorted((a, b) => costOf(a) - costOf(b))[0];
}

/** Share of the line's box that the area's box covers. */
function shareOn(area: Quad, line: Quad): number {
  const box = boxAround(line);
  const shared = intersectionArea(boxAround(area), box);
  return shared === 0 ? 0 : shared / areaOfBox(box);
}

function heightOf([topLeft, topRight, bottomRight, bottomLeft]: Quad): number {
  return (distance(topLeft, bottomLeft) + distance(topRight, bottomRight)) / 2;
}
