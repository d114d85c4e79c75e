/**
 * Picture → the VIN, in print and in bar codes. Print is read by either kind of model: a detector of the 33 characters, or a
 * reader of text lines. Neither determines where on the vehicle the number is located.
 */
import type { Model } from '../../inference/models/model.ts';
import { readCodes } from '../../inference/toolkit/codes/read-codes.ts';
import { type Box, suppressOverlaps, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { createDetector, type Detection } from '../../inference/toolkit/detection/detector.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { boxOf, joinRows, quadOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import {
  createTextReader,
  PRINT_READING,
  type PrintedCharacter,
  readsPrint,
} from '../../inference/toolkit/text/text-lines.ts';
import { applyParameters } from './apply-parameters.ts';
import { findCodedVins } from './find-coded-vins.ts';
import { findVin, VIN_CHARACTERS } from './find-vin.ts';
import type { Result } from './result.ts';
import { type PrintedVin, settle } from './settle.ts';

const LENGTH = 17;
/** Overlap above which two characters are readings of the same one. */
const SAME_PLACE = 0.5;

type ReadVin = (picture: RgbImage) => Promise<PrintedVin | null>;

export const pipeline: PipelineDefinition = {
  tasks: ['vin-reading', PRINT_READING],
  create: (model) => {
    const findsLines = readsPrint(model) || model.manifest.uses?.text !== undefined;
    const { read, readFromBehind } = findsLines ? createPrintReader(model) : createCharacterReader(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const coded = findCodedVins(await readCodes(picture));
      const printed = await read(picture);
      // Through glass, print may be seen from behind.
      const isFound = printed !== null || coded.length > 0;
      return applyParameters({ vin: settle(isFound ? printed : await readFromBehind(picture), coded) }, parameters);
    };
  },
};

/** Reads every text line and finds the VIN among them. */
function createPrintReader(model: Model): { read: ReadVin; readFromBehind: ReadVin } {
  const readText = createTextReader(model);
  const find = async (picture: RgbImage) => findVin(joinRows(await readText(picture)));
  return {
    read: async (picture) => toPrintedVin(await find(picture)),
    readFromBehind: async (picture) => {
      const found = await find(mirrored(picture));
      const back = ({ x, y }: Point) => ({ x: picture.width - x, y });
      return toPrintedVin(
        found?.map((each) => {
          const [a, b, c, d] = each.quad;
          return { ...each, quad: [back(a), back(b), back(c), back(d)] };
        }) ?? null,
      );
    },
  };
}

function toPrintedVin(found: readonly PrintedCharacter[] | null): PrintedVin | null {
  if (!found) return null;
  const characters = found.map((each) => ({
    character: each.character,
    confidence: each.probability,
    bbox: toBoundingBox(boxOf([each])),
  }));
  return { characters, confidence: weakestOf(found), box: boxOf(found), quad: quadOf(found) };
}

/** Detects single characters and sorts them from left to right. Returns null unless there are exactly seventeen. */
function createCharacterReader(model: Model): { read: ReadVin; readFromBehind: ReadVin } {
  const detect = createDetector(model, VIN_CHARACTERS);
  const read: ReadVin = async (picture) => {
    const found = await detect(picture);
    const line = suppressOverlaps(found, SAME_PLACE).toSorted((a, b) => a.box.x0 - b.box.x0);
    const [first, last] = [line[0], line.at(-1)];
    if (line.length !== LENGTH || !first || !last) return null;
    const characters = line.map(({ label, confidence, box }) => ({
      character: label,
      confidence,
      bbox: toBoundingBox(box),
    }));
    return {
      characters,
      confidence: Math.min(...line.map(({ confidence }) => confidence)),
      box: boxAround(line.flatMap(({ box }) => cornersOf(box))),
      quad: quadAround(first, last),
    };
  };
  // Its characters are sorted from left to right, whichever way they face.
  return { read, readFromBehind: async () => null };
}

/** A slanted line: from the outer edge of the first character to the outer edge of the last. */
function quadAround({ box: first }: Detection<string>, { box: last }: Detection<string>): Point[] {
  return [
    { x: first.x0, y: first.y0 },
    { x: last.x1, y: last.y0 },
    { x: last.x1, y: last.y1 },
    { x: first.x0, y: first.y1 },
  ];
}

function cornersOf({ x0, y0, x1, y1 }: Box) {
  return [
    { x: x0, y: y0 },
    { x: x1, y: y1 },
  ];
}

function mirrored({ width, height, pixels }: RgbImage): RgbImage {
  const turned = new Uint8Array(pixels.length);
  for (let row = 0; row < pixels.length; row += 3 * width) {
    for (let [from, to] = [row, row + 3 * (width - 1)]; to >= row; from += 3, to -= 3) {
      turned[to] = pixels[from] as number;
      turned[to + 1] = pixels[from + 1] as number;
      turned[to + 2] = pixels[from + 2] as number;
    }
  }
  return { width, height, pixels: turned };
}
