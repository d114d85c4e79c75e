/**
 * Picture → its plates, with either kind of model: a detector of plates with corners, each rectified and read, or a reader of
 * print, among whose lines a plate is known by the formats of registration numbers. The result states corners, so a detector
 * must return keypoints, not just boxes.
 */
import { type Model, usedModel } from '../../inference/models/model.ts';
import { clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { TextLine } from '../../inference/toolkit/decoding/ctc.ts';
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { createPlateFinder } from '../../inference/toolkit/detection/plates.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { createStraightLineReader } from '../../inference/toolkit/text/line-reader.ts';
import { growQuad, straighten } from '../../inference/toolkit/text/straighten.ts';
import { createTextReader, PRINT_READING, readsPrint, toPrinted } from '../../inference/toolkit/text/text-lines.ts';
import { findPlates } from './find-plates.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Plate = Result['plates'][number];

/** Shares of width and height by which a line's cut grows or shrinks when it is read again. */
const CUTS = [
  [0, -0.08],
  [-0.04, -0.08],
  [0, -0.15],
  [0.05, 0],
  [0.03, 0.1],
] as const;
/** No plate anywhere has more. */
const MOST_CHARACTERS = 16;
const LETTER_OR_DIGIT = /^[\p{L}\p{N}]$/u;

export const pipeline: PipelineDefinition = {
  tasks: ['plate-detection', PRINT_READING],
  create: (model) => {
    const readPlates = readsPrint(model) ? createPrintReader(model) : createPlateReader(model);
    return async ({ pictures, parameters }): Promise<Result> => ({
      plates: await readPlates(await onlyPicture(pictures), parameters),
    });
  },
};

/** Reads all print and finds the plates in it. */
function createPrintReader(model: Model): (picture: RgbImage, parameters: Parameters) => Promise<Plate[]> {
  const readText = createTextReader(model);
  const { read } = createStraightLineReader(model);
  return async (picture, { country_hint: hint = null }) => {
    const readAgain = (quad: Quad) =>
      Promise.all(
        CUTS.map(async ([shareX, shareY]) => {
          const cut = growQuad(quad, shareX, shareY);
          return toPrinted(cut, await read(straighten(picture, cut)), picture);
        }),
      );
    const plates = await findPlates(await readText(picture), readAgain, hint);
    return plates.map(({ text, confidences, quad, country, region }) => ({
      text,
      confidence: Math.min(...confidences),
      characters: Array.from(text, (character, index) => ({ character, confidence: confidences[index] ?? 0 })),
      country,
      region,
      bbox: toBoundingBox(boxAround(quad)),
      quad: toPolygon(quad),
    }));
  };
}

/** Finds plates by their corners. Country and region stay null: neither network determines them. */
function createPlateReader(model: Model): (picture: RgbImage) => Promise<Plate[]> {
  const findCorners = createPlateFinder(model);
  const { margins, read } = createStraightLineReader(usedModel(model, 'text'));
  return async (picture) => {
    const plates: Plate[] = [];
    for (const { box, corners, confidence } of await findCorners(picture)) {
      const plate = straighten(picture, growQuad(corners, margins.marginX, margins.marginY));
      const characters = charactersOf(await read(plate));
      // The result states a text for every plate, so unreadable plates are omitted.
      if (characters.length === 0 || characters.length > MOST_CHARACTERS) continue;
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
    return plates;
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
