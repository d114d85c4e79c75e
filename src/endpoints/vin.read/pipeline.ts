/**
 * Picture → the VIN in it, by either kind of model: one that finds the 33 characters, or one that finds lines of print and
 * `uses` another that reads them. Neither tells where on the vehicle the number sits.
 */
import { type Box, suppressOverlaps, toBoundingBox } from '../../inference/decoding/boxes.ts';
import type { Point } from '../../inference/decoding/detections.ts';
import { boxAround } from '../../inference/decoding/rotated-boxes.ts';
import type { RgbImage } from '../../inference/images/rgb-image.ts';
import type { Model } from '../../inference/models/model.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createDetector, type Detection } from '../../inference/pipelines/detector.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import { boxOf, joinRows, quadOf, weakestOf } from '../../inference/pipelines/print-rows.ts';
import { createTextReader } from '../../inference/pipelines/text-lines.ts';
import { applyParameters } from './apply-parameters.ts';
import { checkDigit } from './check-digit.ts';
import { findVin, VIN_CHARACTERS } from './find-vin.ts';
import type { Result } from './result.ts';

type Vin = Result['vin'];

const LENGTH = 17;
/** Two characters that overlap by more are two readings of one. */
const SAME_PLACE = 0.5;

export const pipeline: PipelineDefinition = {
  task: 'vin-reading',
  create: (model) => {
    const readVin = model.manifest.uses?.text === undefined ? createCharacterReader(model) : createPrintReader(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const vin = await readVin(await onlyPicture(pictures));
      return applyParameters({ vin }, parameters);
    };
  },
};

/** Lines of print, each read, one of which holds the number. */
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

/** Characters, each with its box, which spell the number from left to right. Any but seventeen are none. */
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

/** The line may rise or fall: from the outer edge of the first character to that of the last. */
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
