/**
 * Picture → plates with corners → each plate rectified → its text. The result states corners, so the detector must return
 * keypoints, not just boxes. Country and region stay null: no network determines them.
 */
import { usedModel } from '../../inference/models/model.ts';
import { clamp, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { TextLine } from '../../inference/toolkit/decoding/ctc.ts';
import { createPlateFinder } from '../../inference/toolkit/detection/plates.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createStraightLineReader } from '../../inference/toolkit/text/line-reader.ts';
import { growQuad, straighten } from '../../inference/toolkit/text/straighten.ts';
import type { Result } from './result.ts';

type Plate = Result['plates'][number];

/** No plate anywhere has more. */
const MOST_CHARACTERS = 16;
const LETTER_OR_DIGIT = /^[\p{L}\p{N}]$/u;

export const pipeline: PipelineDefinition = {
  tasks: ['plate-detection'],
  create: (model) => {
    const findPlates = createPlateFinder(model);
    const { margins, read } = createStraightLineReader(usedModel(model, 'text'));
    return async ({ pictures }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const plates: Plate[] = [];
      for (const { box, corners, confidence } of await findPlates(picture)) {
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
      return { plates };
    };
  },
};

/** Upper-case letters and digits only; separators are dropped. */
function charactersOf({ characters }: TextLine): Plate['characters'] {
  return characters
    .map(({ character, probability }) => ({
      character: character.toUpperCase(),
      confidence: clamp(probability, 0, 1),
    }))
    .filter(({ character }) => LETTER_OR_DIGIT.test(character));
}
