/**
 * Picture → plates with their corners → each plate straightened → its line of print. Networks that find upright boxes alone
 * do not do: the result states corners. Country and region stay null: neither network tells them.
 */
import { clamp, toBoundingBox } from '../../inference/decoding/boxes.ts';
import type { TextLine } from '../../inference/decoding/ctc.ts';
import type { Point } from '../../inference/decoding/detections.ts';
import { rectify } from '../../inference/images/rectify.ts';
import type { RgbImage } from '../../inference/images/rgb-image.ts';
import { usedModel } from '../../inference/models/model.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createStraightLineReader, type StraightLineReader } from '../../inference/pipelines/line-reader.ts';
import { createPlateFinder, growQuad } from '../../inference/pipelines/plates.ts';
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
    const findPlates = createPlateFinder(model);
    const { margins, read } = createStraightLineReader(usedModel(model, 'text'));
    return async ({ pictures }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const plates: Plate[] = [];
      for (const { box, corners, confidence } of await findPlates(picture)) {
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
