/**
 * Picture → plates with their corners → each plate straightened → its line of print. Networks that find upright boxes alone
 * do not do: the result states corners. Country and region stay null: neither network tells them.
 */
import { type Box, clamp, toBoundingBox } from '../../inference/decoding/boxes.ts';
import type { TextLine } from '../../inference/decoding/ctc.ts';
import type { Point } from '../../inference/decoding/detections.ts';
import type { Quad } from '../../inference/decoding/rotated-boxes.ts';
import { rectify } from '../../inference/images/rectify.ts';
import type { RgbImage } from '../../inference/images/rgb-image.ts';
import { type Model, usedModel } from '../../inference/models/model.ts';
import type { PipelineDefinition } from '../../inference/pipeline.ts';
import { onlyPicture } from '../../inference/pipelines/detection-pipeline.ts';
import { CORNER_DECODERS, createDetector, DETECTOR_FILE } from '../../inference/pipelines/detector.ts';
import { createStraightLineReader, type StraightLineReader } from '../../inference/pipelines/line-reader.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import type { Result } from './result.ts';

type Plate = Result['plates'][number];

/** No plate of the world has more. */
const MOST_CHARACTERS = 16;
/** A plate is straightened at the size it has in the picture, but never wider or higher than this. */
const MOST_PIXELS = 1024;
const LETTER_OR_DIGIT = /^[\p{L}\p{N}]$/u;

export const pipeline: PipelineDefinition = {
  task: 'plate-detection',
  create: (model) => {
    requireFourKeypoints(model);
    const detect = createDetector(model, ['plate'], CORNER_DECODERS);
    const { margins, read } = createStraightLineReader(usedModel(model, 'text'));
    return async ({ images }): Promise<Result> => {
      const picture = onlyPicture(images);
      const found = (await detect(picture)).toSorted((a, b) => areaOf(b.box) - areaOf(a.box));
      const plates: Plate[] = [];
      for (const { box, points, confidence } of found) {
        const corners = toPolygon(points);
        const characters = charactersOf(await read(straighten(picture, corners, margins)));
        // What cannot be read is no plate of the result, which states a text.
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
      return { plates };
    };
  },
};

/** The plate seen from the front, with the margins that the reader of lines was trained with. */
function straighten(
  picture: RgbImage,
  corners: readonly Point[],
  { marginX, marginY }: StraightLineReader['margins'],
): RgbImage {
  const [topLeft, topRight, bottomRight, bottomLeft] = growQuad(corners, marginX, marginY);
  const width = (distance(topLeft, topRight) + distance(bottomLeft, bottomRight)) / 2;
  const height = (distance(topLeft, bottomLeft) + distance(topRight, bottomRight)) / 2;
  const pixels = (length: number) => clamp(Math.round(length), 1, MOST_PIXELS);
  return rectify(picture, [topLeft, topRight, bottomRight, bottomLeft], pixels(width), pixels(height));
}

/** Grows a quadrilateral on each side by shares of its own sides. */
function growQuad(corners: readonly Point[], shareX: number, shareY: number): Quad {
  const [a, b, c, d] = corners;
  if (!a || !b || !c || !d) throw new Error(`a plate has four corners, not ${corners.length}`);
  const at = (u: number, v: number): Point => ({
    x: (a.x * (1 - u) + b.x * u) * (1 - v) + (d.x * (1 - u) + c.x * u) * v,
    y: (a.y * (1 - u) + b.y * u) * (1 - v) + (d.y * (1 - u) + c.y * u) * v,
  });
  const [left, right, top, bottom] = [-shareX, 1 + shareX, -shareY, 1 + shareY];
  return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
}

function distance(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}

/** In upper case, without what stands between the letters and digits. */
function charactersOf({ characters }: TextLine): Plate['characters'] {
  return characters
    .map(({ character, probability }) => ({
      character: character.toUpperCase(),
      confidence: clamp(probability, 0, 1),
    }))
    .filter(({ character }) => LETTER_OR_DIGIT.test(character));
}

function requireFourKeypoints({ manifest }: Model): void {
  const decoder = manifest.files[DETECTOR_FILE]?.decoder;
  if (decoder?.name !== 'yolo-pose' || decoder.keypoints === 4) return;
  throw new Error(`files.${DETECTOR_FILE}.decoder.keypoints must be 4, the corners of a plate as it is read`);
}

function areaOf({ x0, y0, x1, y1 }: Box): number {
  return (x1 - x0) * (y1 - y0);
}
