/** Picture → the lines of print in it, with their corners → each line straightened and read. */
import { clamp, type Size } from '../decoding/boxes.ts';
import type { SpelledCharacter, SpelledLine } from '../decoding/ctc.ts';
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { type Model, usedModel } from '../models/model.ts';
import { createCornerFinder } from './corners.ts';
import { createStraightLineReader } from './line-reader.ts';
import { distance, growQuad, pieceOfQuad, straighten } from './straighten.ts';

export interface PrintedCharacter extends Pick<SpelledCharacter, 'character' | 'probability' | 'others'> {
  /**
   * In pixels of the picture, as high as the line. Its middle is where the network spells the character; it reaches halfway
   * to its neighbours.
   */
  quad: Quad;
}

export interface PrintedLine {
  /** Of the whole line, as it is read: top left, top right, bottom right, bottom left. */
  quad: Quad;
  /** At least one. */
  characters: PrintedCharacter[];
}

/** The role in `uses` of the model that reads a line. */
const READER_ROLE = 'text';
/** The class of detectors that find lines of print. */
const TEXT = 'text';
/** A line that is higher than this many times its width runs up or down. PaddleOCR turns lines at the same proportion. */
const UPRIGHT = 1.5;
/** A line whose characters are less sure on average may stand on its head, and is read the other way round too. */
const SURE = 0.8;
/** What a picture of a vehicle needs, and what a page of text must not exceed. The largest are read. */
const MOST_LINES = 100;

/**
 * The model's `detector` finds lines by their corners, the model that it `uses` as `text` reads each.
 * @returns reads the largest lines first; those that spell nothing are left out
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createTextReader(model: Model): (picture: RgbImage) => Promise<PrintedLine[]> {
  const findLines = createCornerFinder(model, TEXT);
  const { margins, read } = createStraightLineReader(usedModel(model, READER_ROLE));
  return async (picture) => {
    const lines: PrintedLine[] = [];
    for (const { corners } of (await findLines(picture)).slice(0, MOST_LINES)) {
      const upright = growQuad(corners, margins.marginX, margins.marginY);
      const readings: { quad: Quad; line: SpelledLine }[] = [];
      for (const quad of directionsOf(upright)) {
        // The second direction of a line that runs across is tried only where the first is doubtful.
        if (!isHigh(upright) && readings.some(({ line }) => sureness(line) >= SURE)) break;
        readings.push({ quad, line: await read(straighten(picture, quad)) });
      }
      const [best] = readings.toSorted((a, b) => sureness(b.line) - sureness(a.line));
      if (best && best.line.characters.length > 0) lines.push(toPrinted(best.quad, best.line, picture));
    }
    return lines;
  };
}

/** The two in which a line may run, the likelier first: across, or for one that is high, down and up. */
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

/** The mean of its characters; 0 of an empty line. */
function sureness({ characters }: SpelledLine): number {
  return characters.reduce((sum, { probability }) => sum + probability, 0) / Math.max(1, characters.length);
}

function toPrinted(quad: Quad, { characters }: SpelledLine, picture: Size): PrintedLine {
  const middles = characters.map(({ from, to }) => (from + to) / 2);
  const between = (index: number): number => {
    const [before, after] = [middles[index - 1], middles[index]];
    if (before !== undefined && after !== undefined) return (before + after) / 2;
    // Beyond the first and the last as far as to the other side.
    const end = before ?? after ?? 0;
    const inner = before === undefined ? middles[1] : middles[middles.length - 2];
    const outer = inner === undefined ? (before === undefined ? 0 : 1) : end + (end - inner) / 2;
    return clamp(outer, 0, 1);
  };
  return {
    quad: within(quad, picture),
    characters: characters.map(({ character, probability, others }, index) => ({
      character,
      // Single precision may go beyond by a hair.
      probability: clamp(probability, 0, 1),
      others,
      quad: within(pieceOfQuad(quad, between(index), between(index + 1)), picture),
    })),
  };
}

/** The margins of a line may reach beyond the picture. */
function within([a, b, c, d]: Quad, { width, height }: Size): Quad {
  const moved = ({ x, y }: Point): Point => ({ x: clamp(x, 0, width), y: clamp(y, 0, height) });
  return [moved(a), moved(b), moved(c), moved(d)];
}
