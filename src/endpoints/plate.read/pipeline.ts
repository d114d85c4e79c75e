/**
 * Picture → plates with their corners → each plate straightened → its line of print. Networks that find upright boxes alone
 * do not do: the result states corners. Country and region stay null: neither network tells them.
 */
import { clamp, toBoundingBox } from '../../inference/decoding/boxes.ts';
import type { TextLine } from '../../inference/decoding/ctc.ts';
import { usedModel } from '../../inference/models/model.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createStraightLineReader } from '../../inference/pipelines/line-reader.ts';
import { createPlateFinder } from '../../inference/pipelines/plates.ts';
import { growQuad, straighten } from '../../inference/pipelines/straighten.ts';
import type { Result } from './result.ts';

type Plate = Result['plates'][number];

/** No plate of the world has more. */
const MOST_CHARACTERS = 16;
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
        const plate = straighten(picture, growQuad(corners, margins.marginX, margins.marginY));
        const characters = charactersOf(await read(plate));
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

/** In upper case, without what stands between the letters and digits. */
function charactersOf({ characters }: TextLine): Plate['characters'] {
  return characters
    .map(({ character, probability }) => ({
      character: character.toUpperCase(),
      confidence: clamp(probability, 0, 1),
    }))
    .filter(({ character }) => LETTER_OR_DIGIT.test(character));
}
