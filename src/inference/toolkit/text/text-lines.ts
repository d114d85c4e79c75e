/** Finds the lines of print in a picture by their corners, rectifies and reads each. */

import { type Model, usedModel } from '../../models/model.ts';
import { type Box, clamp, type Size } from '../decoding/boxes.ts';
import type { SpelledCharacter, SpelledLine } from '../decoding/ctc.ts';
import type { Point } from '../decoding/detections.ts';
import { clampQuad, type Quad } from '../decoding/rotated-boxes.ts';
import { createCornerFinder } from '../detection/corners.ts';
import type { PixelBox } from '../images/compose.ts';
import { resample } from '../images/resample.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createStraightLineReader } from './line-reader.ts';
import { distance, growQuad, middle, pieceOfQuad, straighten } from './straighten.ts';

export interface PrintedCharacter extends Pick<SpelledCharacter, 'character' | 'probability' | 'others'> {
  /**
   * In pixels of the picture, as high as the line. Its centre is where the network spells the character; it extends halfway
   * to its neighbours.
   */
  quad: Quad;
  /** Whether print that belongs to it may be missing beside it: see `markCutEnds`. */
  isAtCut?: boolean;
}

export interface PrintedLine {
  /** Corners of the whole line, in reading order: top left, top right, bottom right, bottom left. */
  quad: Quad;
  /** At least one. */
  characters: PrintedCharacter[];
}

/** Models with this task find and read print themselves; every reader of print accepts them. */
export const PRINT_READING = 'print-reading';
/** The role in `uses` of the model that reads a line, for other detectors. */
const READER_ROLE = 'text';
/** The class of detectors that find lines of print. */
const TEXT = 'text';
/** A line higher than this many times its width is vertical. Source: PaddleOCR. */
const UPRIGHT = 1.5;
/** A line with a lower mean probability may be upside down, and is also read the other way round. */
const SURE = 0.8;
/** Most lines read per picture, largest first: enough for a vehicle. */
const MOST_LINES = 100;
/** Of a page, which has more. */
export const MOST_LINES_OF_PAGE = 300;

/**
 * The model's `detector` finds lines by their corners; its `text-line`, or that of the model in its role `text`, reads each.
 * @returns a function that returns the largest lines first, without empty ones
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createTextReader(model: Model, mostLines = MOST_LINES): (picture: RgbImage) => Promise<PrintedLine[]> {
  const { findLines, readLines } = createLineTools(model);
  return async (picture) => readLines(picture, (await findLines(picture)).slice(0, mostLines));
}

/**
 * Reads a window of a picture. The lines are in pixels of the whole picture.
 * @param longestSide in pixels; a larger window is reduced to it before it is read
 */
export async function readWithin(
  picture: RgbImage,
  { left, top, width, height }: PixelBox,
  readText: (picture: RgbImage) => Promise<PrintedLine[]>,
  longestSide = Number.POSITIVE_INFINITY,
): Promise<PrintedLine[]> {
  const scale = Math.min(1, longestSide / Math.max(width, height));
  const box = { x0: left, y0: top, x1: left + width, y1: top + height };
  const window = resample(picture, box, Math.round(width * scale), Math.round(height * scale));
  const moved = ({ x, y }: Point): Point => ({ x: left + x / scale, y: top + y / scale });
  const movedQuad = ([a, b, c, d]: Quad): Quad => [moved(a), moved(b), moved(c), moved(d)];
  return (await readText(window)).map(({ quad, characters }) => ({
    quad: movedQuad(quad),
    characters: characters.map((each) => ({ ...each, quad: movedQuad(each.quad) })),
  }));
}

/** Tiles along each side, and the share of a tile that it has in common with the next. */
const TILES = 2;
const COMMON = 0.12;
/** Longest side of an enlarged tile, in pixels. Larger ones find little more and take longer. */
const TILE_PIXELS = 1280;

/**
 * Looks at each quarter of a picture closer, for small print that stands alone: the codes of a form. Only lines that are not
 * among the known ones are read.
 * @throws as `createTextReader`
 */
export function createCloserReader(
  model: Model,
): (picture: RgbImage, known: readonly PrintedLine[]) => Promise<PrintedLine[]> {
  const { findLines, readLines } = createLineTools(model);
  return async (picture, known) => {
    const taken: Quad[] = known.map(({ quad }) => quad);
    const found: Quad[] = [];
    for (const tile of tilesOf(picture)) {
      const [wide, high] = [tile.x1 - tile.x0, tile.y1 - tile.y0];
      const scale = Math.max(1, TILE_PIXELS / Math.max(wide, high));
      const enlarged = resample(picture, tile, Math.round(wide * scale), Math.round(high * scale));
      const back = ({ x, y }: Point): Point => ({ x: tile.x0 + x / scale, y: tile.y0 + y / scale });
      for (const corners of await findLines(enlarged)) {
        const [a, b, c, d] = corners.map(back);
        if (!a || !b || !c || !d) continue;
        const quad: Quad = [a, b, c, d];
        if (taken.some((other) => isWithin(centerOf(quad), other) || isWithin(centerOf(other), quad))) continue;
        taken.push(quad);
        found.push(quad);
      }
    }
    return readLines(picture, found.slice(0, MOST_LINES_OF_PAGE));
  };
}

function tilesOf({ width, height }: Size): Box[] {
  const parts = (length: number) => {
    const side = length / (TILES - COMMON * (TILES - 1));
    return Array.from({ length: TILES }, (_, index) => {
      const start = Math.round(index * side * (1 - COMMON));
      return [start, Math.min(length, Math.round(start + side))] as const;
    });
  };
  return parts(height).flatMap(([y0, y1]) => parts(width).map(([x0, x1]) => ({ x0, y0, x1, y1 })));
}

function centerOf([a, b, c, d]: Quad): Point {
  return middle(middle(a, c), middle(b, d));
}

/** Of a convex quadrilateral whose corners are clockwise. */
function isWithin({ x, y }: Point, quad: Quad): boolean {
  return quad.every((from, index) => {
    const to = quad[(index + 1) % quad.length] as Point;
    return (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x) >= 0;
  });
}

interface LineTools {
  /** Corners of each line, largest first, in pixels of the picture. */
  findLines: (picture: RgbImage) => Promise<Point[][]>;
  /** Without empty ones. */
  readLines: (picture: RgbImage, found: readonly (readonly Point[])[]) => Promise<PrintedLine[]>;
}

function createLineTools(model: Model): LineTools {
  const findCorners = createCornerFinder(model, TEXT);
  const { margins, read } = createStraightLineReader(readsPrint(model) ? model : usedModel(model, READER_ROLE));
  const readLine = async (picture: RgbImage, corners: readonly Point[]): Promise<PrintedLine[]> => {
    const upright = growQuad(corners, margins.marginX, margins.marginY);
    const readings: { quad: Quad; line: SpelledLine }[] = [];
    for (const quad of directionsOf(upright)) {
      // A horizontal line is read in the second direction only if the first is doubtful.
      if (!isHigh(upright) && readings.some(({ line }) => sureness(line) >= SURE)) break;
      readings.push({ quad, line: await read(straighten(picture, quad)) });
    }
    const [best] = readings.toSorted((a, b) => sureness(b.line) - sureness(a.line));
    return best && best.line.characters.length > 0 ? [toPrinted(best.quad, best.line, picture)] : [];
  };
  return {
    findLines: async (picture) => (await findCorners(picture)).map(({ corners }) => corners),
    // Together, so that lines of one length share a run.
    readLines: async (picture, found) => (await Promise.all(found.map((corners) => readLine(picture, corners)))).flat(),
  };
}

/** Whether a model finds and reads print without another one. */
export function readsPrint({ manifest }: Model): boolean {
  return manifest.task === PRINT_READING;
}

/** A line's two possible directions, the more probable first: horizontal, or down and up for a vertical one. */
function directionsOf(upright: Quad): [Quad, Quad] {
  const [a, b, c, d] = upright;
  return isHigh(upright)
    ? [
        [b, c, d, a],
        [d, a, b, c],
      ]
    : [upright, [c, d, a, b]];
}

function isHigh([topLeft, topRight, , bottomLeft]: Quad): boolean {
  return distance(topLeft, bottomLeft) > UPRIGHT * distance(topLeft, topRight);
}

/** Mean probability of its characters; 0 for an empty line. */
function sureness({ characters }: SpelledLine): number {
  return characters.reduce((sum, { probability }) => sum + probability, 0) / Math.max(1, characters.length);
}

/** @param quad of the line, as it was cut out of the picture */
export function toPrinted(quad: Quad, { characters }: SpelledLine, picture: Size): PrintedLine {
  const middles = characters.map(({ from, to }) => (from + to) / 2);
  const between = (index: number): number => {
    const [before, after] = [middles[index - 1], middles[index]];
    if (before !== undefined && after !== undefined) return (before + after) / 2;
    // At the ends, as far outwards as inwards.
    const end = before ?? after ?? 0;
    const inner = before === undefined ? middles[1] : middles[middles.length - 2];
    const outer = inner === undefined ? (before === undefined ? 0 : 1) : end + (end - inner) / 2;
    return clamp(outer, 0, 1);
  };
  return {
    // A line's margins may exceed the picture.
    quad: clampQuad(quad, picture),
    characters: characters.map(({ character, probability, others }, index) => ({
      character,
      // Single precision may exceed 1 slightly.
      probability: clamp(probability, 0, 1),
      others,
      quad: clampQuad(pieceOfQuad(quad, between(index), between(index + 1)), picture),
    })),
  };
}
