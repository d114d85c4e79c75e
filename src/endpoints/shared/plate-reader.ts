/**
 * Picture → its plates, with any of three kinds of model: a detector of plates with corners together with a reader of print or
 * of single lines, or a reader of print alone, among whose lines a plate is known by the formats of registration numbers. The
 * result states corners, so a detector must return keypoints, not just boxes.
 */
import { type Model, usedModel } from '../../inference/models/model.ts';
import { type Box, clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { TextLine } from '../../inference/toolkit/decoding/ctc.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { createPlateCandidateFinder, createPlateFinder } from '../../inference/toolkit/detection/plates.ts';
import { pixelsAround } from '../../inference/toolkit/images/compose.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { createStraightLineReader } from '../../inference/toolkit/text/line-reader.ts';
import { growQuad, straighten } from '../../inference/toolkit/text/straighten.ts';
import {
  createTextReader,
  type PrintedLine,
  readsPrint,
  readWithin,
  toPrinted,
} from '../../inference/toolkit/text/text-lines.ts';
import { findPlates, type ReadAgain } from '../plate.read/find-plates.ts';
import { sharedPart } from '../plate.read/pieces.ts';
import { readFoundPlate } from '../plate.read/read-found-plate.ts';
import { IN_PRINT, ON_PLATES, type RegistrationNumber } from '../plate.read/read-number.ts';
import type { Parameters } from '../plate.read/request.ts';
import type { Result } from '../plate.read/result.ts';

type Plate = Result['plates'][number];

/** Shares of width and height by which a line's cut grows or shrinks when it is read again. */
const CUTS = [
  [0, -0.08],
  [-0.04, -0.08],
  [0, -0.15],
  [0.05, 0],
  [0.03, 0.1],
] as const;
/** Width of the window for a closer look, in widths of the plate: print is found best when it does not fill the window. */
const WINDOW = 2.2;
/** Share of the smaller of two boxes above which both are one plate. */
const SAME_PLACE = 0.3;
/** No plate anywhere has more. */
const MOST_CHARACTERS = 16;
const LETTER_OR_DIGIT = /^[\p{L}\p{N}]$/u;

export interface Read {
  plates: Plate[];
  /** What may be a plate without a number, and is to be covered where no plate may stay legible. */
  doubtful: Plate[];
  /** All print that was found. */
  lines: readonly PrintedLine[];
}

export type ReadPlates = (picture: RgbImage, parameters: Parameters) => Promise<Read>;

export function createPlateReader(model: Model): ReadPlates {
  if (readsPrint(model)) return createPrintReader(model);
  return readsPrint(usedModel(model, 'text')) ? createPlateAndPrintReader(model) : createPlateLineReader(model);
}

/** Reads all print and finds the plates in it. */
function createPrintReader(model: Model): ReadPlates {
  const readText = createTextReader(model);
  const readAgain = createCutReader(model);
  return async (picture, { country_hint: hint = null }) => {
    const lines = await readText(picture);
    const numbers = await findPlates(lines, readAgain(picture), hint);
    return { plates: numbers.map((number) => plateOf(number, number.quad)), doubtful: [], lines };
  };
}

/**
 * Finds plates by their corners, reads all print, and reads a plate again larger where that print is not clear. What the detector
 * is not sure of is a plate if there is a number on it that has the format of one.
 */
function createPlateAndPrintReader(model: Model): ReadPlates {
  const findCandidates = createPlateCandidateFinder(model);
  const printReader = usedModel(model, 'text');
  const readText = createTextReader(printReader);
  const readAgain = createCutReader(printReader);
  return async (picture, { country_hint: hint = null }) => {
    const candidates = await findCandidates(picture);
    const lines = await readText(picture);
    const again = readAgain(picture);
    const lookCloser = (plate: Quad) => readAround(picture, plate, readText);
    const numbers = await findPlates(lines, again, hint);
    const [plates, doubtful]: [Plate[], Plate[]] = [[], []];
    const taken: Quad[] = [];
    // The surest first: no print is on two plates.
    for (const { corners, box, confidence, isSure, isToCover } of candidates.toSorted(
      (a, b) => b.confidence - a.confidence,
    )) {
      const quad = growQuad(corners, 0, 0);
      const eyes = { readAgain: again, lookCloser: isSure ? lookCloser : async () => [] };
      // What print alone tells needs no detector.
      const number =
        numbers.find((each) => isOff(taken, each) && !isOff([quad], each)) ??
        (await readFoundPlate(
          quad,
          lines.filter((line) => isOff(taken, line)),
          eyes,
          hint,
          isSure ? ON_PLATES : IN_PRINT,
        ));
      if (number || isSure) {
        plates.push(number ? plateOf(number, quad, box) : unreadable(quad, box, confidence));
        taken.push(quad);
      } else if (isToCover) doubtful.push(unreadable(quad, box, confidence));
    }
    const others = numbers.filter((number) => isOff(taken, number));
    plates.push(...others.map((number) => plateOf(number, number.quad)));
    return { plates: plates.toSorted(largestFirst), doubtful, lines };
  };
}

export function largestFirst({ bbox: one }: Pick<Plate, 'bbox'>, { bbox: other }: Pick<Plate, 'bbox'>): number {
  return other.width * other.height - one.width * one.height;
}

/** Whether print stands on none of these plates. */
function isOff(plates: readonly Quad[], { quad }: { quad: Quad }): boolean {
  return plates.every((plate) => sharedPart(plate, quad) < SAME_PLACE);
}

/** Reads print again in cuts of other sizes. */
function createCutReader(model: Model): (picture: RgbImage) => ReadAgain {
  const { read } = createStraightLineReader(model);
  return (picture) => (quad) =>
    Promise.all(
      CUTS.map(async ([shareX, shareY]) => {
        const cut = growQuad(quad, shareX, shareY);
        return toPrinted(cut, await read(straighten(picture, cut)), picture);
      }),
    );
}

/** The print on a plate and around it, read from a window in which the plate is large. Quads are in pixels of the picture. */
async function readAround(
  picture: RgbImage,
  plate: Quad,
  readText: (picture: RgbImage) => Promise<PrintedLine[]>,
): Promise<PrintedLine[]> {
  const { x0, y0, x1, y1 } = boxAround(plate);
  const [x, y, half] = [(x0 + x1) / 2, (y0 + y1) / 2, ((x1 - x0) * WINDOW) / 2];
  const window = pixelsAround({ x0: x - half, y0: y - half, x1: x + half, y1: y + half }, picture);
  return readWithin(picture, window, readText);
}

function plateOf(
  { text, confidences, country, region }: RegistrationNumber,
  quad: readonly Point[],
  box = boxAround(quad),
): Plate {
  return {
    text,
    confidence: Math.min(...confidences),
    characters: Array.from(text, (character, index) => ({ character, confidence: confidences[index] ?? 0 })),
    country,
    region,
    bbox: toBoundingBox(box),
    quad: toPolygon(quad),
  };
}

function unreadable(corners: readonly Point[], box: Box, confidence: number): Plate {
  return {
    text: null,
    confidence,
    characters: [],
    country: null,
    region: null,
    bbox: toBoundingBox(box),
    quad: toPolygon(corners),
  };
}

/** Finds plates by their corners. Country and region stay null: neither network determines them. */
function createPlateLineReader(model: Model): ReadPlates {
  const findCorners = createPlateFinder(model);
  const { margins, read } = createStraightLineReader(usedModel(model, 'text'));
  return async (picture) => {
    const plates: Plate[] = [];
    for (const { box, corners, confidence } of await findCorners(picture)) {
      const plate = straighten(picture, growQuad(corners, margins.marginX, margins.marginY));
      const characters = charactersOf(await read(plate));
      if (characters.length === 0 || characters.length > MOST_CHARACTERS) {
        plates.push(unreadable(corners, box, confidence));
        continue;
      }
      plates.push({
        text: characters.map(({ character }) => character).join(''),
        confidence: Math.min(confidence, ...characters.map((each) => each.confidence)),
        characters,
        country: null,
        region: null,
        bbox: toBoundingBox(box),
        quad: corners,
      });
    }
    return { plates, doubtful: [], lines: [] };
  };
}

/** Upper-case letters and digits only; separators are dropped. */
function charactersOf({ characters }: TextLine): Plate['characters'] {
  return characters
    .map(({ character, probability }) => ({
      character: character.toUpperCase(),
      confidence: clamp(probability, 0, 1),
    }))
    .filter(({ character }) => LETTER_OR_DIGIT.test(character));
}
