/**
 * Picture → the VIN, with either kind of model: a detector of the 33 characters, or a detector of text lines that `uses` a
 * text recogniser. Neither determines where on the vehicle the number is located.
 */
import type { Model } from '../../inference/models/model.ts';
import { type Box, suppressOverlaps, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { createDetector, type Detection } from '../../inference/toolkit/detection/detector.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { boxOf, joinRows, quadOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import { createTextReader, PRINT_READING, readsPrint } from '../../inference/toolkit/text/text-lines.ts';
import { applyParameters } from './apply-parameters.ts';
import { checkDigit } from './check-digit.ts';
import { findVin, VIN_CHARACTERS } from './find-vin.ts';
import type { Result } from './result.ts';

type Vin = Result['vin'];

const LENGTH = 17;
/** Overlap above which two characters are readings of the same one. */
const SAME_PLACE = 0.5;

export const pipeline: PipelineDefinition = {
  tasks: ['vin-reading', PRINT_READING],
  create: (model) => {
    const findsLines = readsPrint(model) || model.manifest.uses?.text !== undefined;
    const readVin = findsLines ? createPrintReader(model) : createCharacterReader(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const vin = await readVin(await onlyPicture(pictures));
      return applyParameters({ vin }, parameters);
    };
  },
};

/** Reads every text line and finds the VIN among them. */
function createPrintReader(model: Model): (picture: RgbImage) => Promise<Vin> {
  const readText = createTextReader(model);
  return async (picture) => {
    const found = findVin(joinRows(await readText(picture)));
    if (!found) return null;
    const characters = found.map((each) => ({
      character: each.character,
      confidence: each.probability,
      bbox: toBoundingBox(boxOf([each])),
    }));
    return vinOf(characters, { confidence: weakestOf(found), box: boxOf(found), quad: quadOf(found) });
  };
}

/** Detects single characters and sorts them from left to right. Returns null unless there are exactly seventeen. */
function createCharacterReader(model: Model): (picture: RgbImage) => Promise<Vin> {
  const detect = createDetector(model, VIN_CHARACTERS);
  return async (picture) => {
    const found = await detect(picture);
    const line = suppressOverlaps(found, SAME_PLACE).toSorted((a, b) => a.box.x0 - b.box.x0);
    const [first, last] = [line[0], line.at(-1)];
    if (line.length !== LENGTH || !first || !last) return null;
    const characters = line.map(({ label, confidence, box }) => ({
      character: label,
      confidence,
      bbox: toBoundingBox(box),
    }));
    return vinOf(characters, {
      confidence: Math.min(...line.map(({ confidence }) => confidence)),
      box: boxAround(line.flatMap(({ box }) => cornersOf(box))),
      quad: quadAround(first, last),
    });
  };
}

function vinOf(
  characters: NonNullable<Vin>['characters'],
  { confidence, box, quad }: { confidence: number; box: Box; quad: readonly Point[] },
): Vin {
  const text = characters.map(({ character }) => character).join('');
  const bbox = toBoundingBox(box);
  return { text, confidence, characters, location: null, bbox, quad: toPolygon(quad), check_digit: checkDigit(text) };
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
