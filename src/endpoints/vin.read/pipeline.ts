/**
 * Picture → the VIN, in print and in bar codes. Print is read by either kind of model: a detector of the 33 characters, or a
 * reader of text lines. Neither determines where on the vehicle the number is located.
 */
import type { Model } from '../../inference/models/model.ts';
import { calibrateReadings, createCalibration } from '../../inference/toolkit/calibration.ts';
import {
  readLargeCodes,
  readSmallCodes,
  SYMBOLOGIES,
  type Symbology,
} from '../../inference/toolkit/codes/read-codes.ts';
import { type Box, suppressOverlaps, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { createDetector, type Detection } from '../../inference/toolkit/detection/detector.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { findReadingIssues } from '../../inference/toolkit/quality/reading-issues.ts';
import { boxOf, joinRows, quadOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import {
  createTextReader,
  PRINT_READING,
  type PrintedCharacter,
  type PrintedLine,
  readsPrint,
} from '../../inference/toolkit/text/text-lines.ts';
import { type CodedVin, findCodedVins } from '../shared/coded-vins.ts';
import { applyParameters } from './apply-parameters.ts';
import { CALIBRATION } from './calibration.ts';
import { findVin, VIN_CHARACTERS } from './find-vin.ts';
import type { Result } from './result.ts';
import { type PrintedVin, settle } from './settle.ts';

const LENGTH = 17;
/** Overlap above which two characters are readings of the same one. */
const SAME_PLACE = 0.5;

/** Print whose least certain character has this probability needs no code that takes as long to find as all print to read. */
const SURE = 0.9;
/** Codes that carry VINs on vehicles and their labels. */
const USUAL: readonly Symbology[] = ['code_39', 'code_128', 'data_matrix', 'qr'];
/** Those of papers, which print the number as well: searched only if it was not read. They take as long as the usual ones. */
const UNUSUAL = SYMBOLOGIES.filter((symbology) => !USUAL.includes(symbology));

/** The VIN in print, and all print that was found. */
type ReadVin = (picture: RgbImage) => Promise<{ vin: PrintedVin | null; lines: readonly PrintedLine[] }>;

export const pipeline: PipelineDefinition = {
  tasks: ['vin-reading', PRINT_READING],
  create: (model) => {
    const findsLines = readsPrint(model) || model.manifest.uses?.text !== undefined;
    const { read, readFromBehind } = findsLines ? createPrintReader(model) : createCharacterReader(model);
    const calibrate = createCalibration(model, CALIBRATION);
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const usual = findCodedVins(await readLargeCodes(picture, USUAL));
      const { vin: printed, lines } = await read(picture);
      const coded = usual.length > 0 ? usual : await findFurtherCodes(picture, printed?.confidence ?? 0);
      // Through glass, print may be seen from behind.
      const isFound = printed !== null || coded.length > 0;
      const found = calibrateReadings(isFound ? printed : (await readFromBehind(picture)).vin, calibrate);
      const vin = settle(found, coded);
      const quality_issues = findReadingIssues(picture, { read: vin ? [vin.quad] : [], lines }, vin ? null : 'no_vin');
      return applyParameters({ vin, quality_issues }, parameters);
    };
  },
};

/** @param confidence of the VIN in print; 0 without one, or with a character that cannot be read */
async function findFurtherCodes(picture: RgbImage, confidence: number): Promise<CodedVin[]> {
  const unusual = confidence > 0 ? [] : findCodedVins(await readLargeCodes(picture, UNUSUAL));
  if (unusual.length > 0 || confidence >= SURE) return unusual;
  return findCodedVins(await readSmallCodes(picture));
}

/** Reads every text line and finds the VIN among them. */
function createPrintReader(model: Model): { read: ReadVin; readFromBehind: ReadVin } {
  const readText = createTextReader(model);
  return {
    read: async (picture) => {
      const lines = await readText(picture);
      return { vin: toPrintedVin(findVin(joinRows(lines))), lines };
    },
    readFromBehind: async (picture) => {
      const lines = await readText(mirrored(picture));
      const found = findVin(joinRows(lines));
      const back = ({ x, y }: Point) => ({ x: picture.width - x, y });
      const vin = toPrintedVin(
        found?.map((each) => {
          const [a, b, c, d] = each.quad;
          return { ...each, quad: [back(a), back(b), back(c), back(d)] };
        }) ?? null,
      );
      return { vin, lines };
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
    if (line.length !== LENGTH || !first || !last) return { vin: null, lines: [] };
    const characters = line.map(({ label, confidence, box }) => ({
      character: label,
      confidence,
      bbox: toBoundingBox(box),
    }));
    const vin = {
      characters,
      confidence: Math.min(...line.map(({ confidence }) => confidence)),
      box: boxAround(line.flatMap(({ box }) => cornersOf(box))),
      quad: quadAround(first, last),
    };
    return { vin, lines: [] };
  };
  // Its characters are sorted from left to right, whichever way they face.
  return { read, readFromBehind: async () => ({ vin: null, lines: [] }) };
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
