/** Finds the lines of print in a picture by their corners, rectifies and reads each. */

import { type Model, usedModel } from '../../models/model.ts';
import { clamp, type Size } from '../decoding/boxes.ts';
import type { SpelledCharacter, SpelledLine } from '../decoding/ctc.ts';
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { createCornerFinder } from '../detection/corners.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createStraightLineReader } from './line-reader.ts';
import { distance, growQuad, pieceOfQuad, straighten } from './straighten.ts';

export interface PrintedCharacter extends Pick<SpelledCharacter, 'character' | 'probability' | 'others'> {
  /**
   * In pixels of the picture, as high as the line. Its centre is where the network spells the character; it extends halfway
   * to its neighbours.
   */
  quad: Quad;
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
/** Most lines read per picture, largest first: enough for a vehicle, and a limit for a page of text. */
const MOST_LINES = 100;

/**
 * The model's `detector` finds lines by their corners; its `text-line`, or that of the model in its role `text`, reads each.
 * @returns a function that returns the largest lines first, without empty ones
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createTextReader(model: Model): (picture: RgbImage) => Promise<PrintedLine[]> {
  const findLines = createCornerFinder(model, TEXT);
  const { margins, read } = createStraightLineReader(readsPrint(model) ? model : usedModel(model, READER_ROLE));
  return async (picture) => {
    const readLine = async (corners: readonly Point[]): Promise<PrintedLine[]> => {
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
    const found = (await findLines(picture)).slice(0, MOST_LINES);
    // Together, so that lines of one length share a run.
    const lines = await Promise.all(found.map(({ corners }) => readLine(corners)));
    return lines.flat();
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
    quad: within(quad, picture),
    characters: characters.map(({ character, probability, others }, index) => ({
      character,
      // Single precision may exceed 1 slightly.
      probability: clamp(probability, 0, 1),
      others,
      quad: within(pieceOfQuad(quad, between(index), between(index + 1)), picture),
    })),
  };
}

/** Clamps a quadrilateral: a line's margins may exceed the picture. */
function within([a, b, c, d]: Quad, { width, height }: Size): Quad {
  const moved = ({ x, y }: Point): Point => ({ x: clamp(x, 0, width), y: clamp(y, 0, height) });
  return [moved(a), moved(b), moved(c), moved(d)];
}
