/** Networks that say for each picture of a walk what a test tells them. */
import { COMPASS_VIEWS } from '../../../src/contracts/vocabulary/pictures.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import { cellsWithin } from './damage-models.ts';
import { partCells } from './part-cells.ts';
import { logits, modelSaying, picture, sent } from './saying-model.ts';

/** What a picture shows. */
export interface Shot {
  view: (typeof COMPASS_VIEWS)[number];
  /** Corners of the vehicle, in cells of 8 of 64 pixels; null without a vehicle. */
  cells?: [[number, number], [number, number]] | null;
  /** Level of all its pixels. */
  level?: number;
}

export const shots = (...views: Shot['view'][]): Shot[] => views.map((view) => ({ view }));

/** One model for each shot, which takes its turn when its picture is decoded: the networks cannot see. */
export function scene(taken: readonly Shot[]) {
  const models = taken.map(
    ({
      view,
      cells = [
        [2, 2],
        [5, 5],
      ],
    }) =>
      modelSaying(
        {
          // Glass tells no view, so the classifier alone does.
          detector: partCells({ windshield: cells ? cellsWithin(...cells) : [] }),
          vehicle: partCells({ car: cells ? cellsWithin(...cells) : [] }),
          view: {
            labels: COMPASS_VIEWS,
            decoder: { name: 'softmax-classification', output: 'logits', score: 0.4 },
            says: { logits: logits(8, { index: COMPASS_VIEWS.indexOf(view), probability: 0.9 }) },
          },
        },
        {},
        'vehicle-parts',
      ),
  );
  let turn = 0;
  const [first] = models;
  if (!first) throw new Error('no shot');
  // The networks see nothing, so no run may stand for that of another picture.
  const model: Model = {
    ...first,
    run: async (file, inputs) => (models[turn] ?? first).run(file, inputs),
  };
  const pictures = taken.map(({ level = 128 }, index) => {
    const image = { ...picture, pixels: new Uint8Array(picture.pixels.length).fill(level + (index % 2)) };
    const [sentOne] = sent(image);
    if (!sentOne) throw new Error('no picture');
    return {
      ...sentOne,
      decode: async () => {
        turn = index;
        return image;
      },
    };
  });
  return { model, pictures };
}
