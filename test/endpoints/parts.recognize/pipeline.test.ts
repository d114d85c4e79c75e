/** The pipeline with networks of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/parts.recognize/pipeline.ts';
import type { Result } from '../../../src/endpoints/parts.recognize/result.ts';
import { EVERY_CELL, partCells } from '../../inference/support/part-cells.ts';
import { detectorSeeing, modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

const run = async (model: ReturnType<typeof modelSaying>) =>
  (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Result;

test('a detector gives boxes, most confident first, and no view', async () => {
  const detector = detectorSeeing(
    ['headlight', 'hood'],
    [
      { label: 'headlight', score: 0.6, box: [8, 8, 20, 16] },
      { label: 'hood', score: 0.9, box: [20, 8, 50, 24] },
    ],
  );
  const { view, parts } = await run(modelSaying({ detector }));
  expect(view).toBeNull();
  expect(parts.map(({ part, side, confidence }) => [part, side, Math.round(confidence * 10) / 10])).toEqual([
    ['hood', 'none', 0.9],
    ['headlight', null, 0.6],
  ]);
});

test('a model for vehicles and their parts gives the box around the pieces of a part, and the view', async () => {
  const detector = partCells({
    'front_door.left': [
      [1, 3],
      [5, 3],
    ],
    hood: [[1, 6]],
  });
  const { view, parts } = await run(
    modelSaying({ detector, vehicle: partCells({ car: EVERY_CELL }) }, {}, 'vehicle-parts'),
  );
  expect(view?.value).toBe('front_left');
  expect(parts.map(({ part, side }) => [part, side])).toEqual(
    expect.arrayContaining([
      ['front_door', 'left'],
      ['hood', 'none'],
    ]),
  );
  expect(parts).toHaveLength(2);
  expect(parts.find(({ part }) => part === 'front_door')?.bbox.width).toBeGreaterThan(36);
});
