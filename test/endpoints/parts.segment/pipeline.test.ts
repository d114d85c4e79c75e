/** The pipeline with a segmentation network of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/parts.segment/pipeline.ts';
import type { Result } from '../../../src/endpoints/parts.segment/result.ts';
import type { MadePicture } from '../../../src/inference/toolkit/images/made-pictures.ts';
import { partCells } from '../../inference/support/part-cells.ts';
import { modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

type Made = Omit<Result, 'mask'> & { mask: MadePicture | null };

const run = async (detector: ReturnType<typeof partCells>, parameters = {}) =>
  (await pipeline.create(modelSaying({ detector }))({ pictures: sent(picture), parameters })) as Made;

const scene = partCells({
  hood: [
    [1, 1],
    [2, 1],
    [3, 1],
    [1, 2],
    [2, 2],
    [3, 2],
  ],
  'headlight.left': [
    [1, 5],
    [6, 5],
    [7, 5],
  ],
  headlight: [[5, 0]],
});

test('parts.segment lists parts largest first, with the side of the class', async () => {
  const { parts } = await run(scene);
  expect(parts.map(({ part, side }) => [part, side])).toEqual([
    ['hood', 'none'],
    ['headlight', 'left'],
    ['headlight', null],
  ]);
  expect(parts[0]?.area_fraction).toBeGreaterThan(6 / 64);
  expect(parts.map(({ is_cut_off }) => is_cut_off)).toEqual([false, true, true]);
});

test('parts.segment merges the pieces of a split part and marks it as occluded', async () => {
  const { parts } = await run(scene);
  expect(parts.map(({ polygons }) => polygons.length)).toEqual([1, 2, 1]);
  // Unknown for a part in one piece.
  expect(parts.map(({ is_occluded }) => is_occluded)).toEqual([null, true, null]);
  expect(parts[1]?.bbox.width).toBeGreaterThan(48);
});

test('parts.segment keeps two pieces of a class without a side as two parts', async () => {
  const { parts } = await run(
    partCells({
      headlight: [
        [1, 5],
        [6, 5],
      ],
    }),
  );
  expect(parts).toHaveLength(2);
});

test('parts.segment fills the mask with the value of each listed part and 0 elsewhere', async () => {
  const { parts, mask } = await run(scene, { include_mask: true, parts: ['headlight'] });
  expect(parts.map(({ mask_value }) => mask_value)).toEqual([2, 3]);
  expect(mask).toMatchObject({ width: 64, height: 64, channels: 1, format: 'png' });
  expect(mask?.pixels[44 * 64 + 12]).toBe(2);
  expect(mask?.pixels[44 * 64 + 56]).toBe(2);
  expect(mask?.pixels[4 * 64 + 44]).toBe(3);
  // The hood was not requested.
  expect(mask?.pixels[16 * 64 + 20]).toBe(0);
});

test('parts.segment returns no mask unless requested', async () => {
  expect((await run(scene)).mask).toBeNull();
});

test('parts.segment leaves out a crumb: a piece below a tenth of the largest', async () => {
  const hood = [1, 2, 3, 4].flatMap((x) => [1, 2, 3, 4].map((y): [number, number] => [x, y]));
  const { parts } = await run(partCells({ hood: [...hood, [7, 7]] }));
  expect(parts).toMatchObject([{ part: 'hood', polygons: [expect.anything()], is_occluded: null }]);
  expect(parts[0]?.bbox.width).toBeLessThan(48);
});

test('a model for vehicles and their parts finds none without a vehicle, and the view by the parts', async () => {
  const front = { hood: [[3, 3]], front_bumper: [[3, 4]] } as const;
  const see = async (vehicle: readonly (readonly [number, number])[]) => {
    const model = modelSaying(
      { detector: partCells(front), vehicle: partCells({ car: vehicle }) },
      {},
      'vehicle-parts',
    );
    return (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Made;
  };
  const { view, parts } = await see([...front.hood, ...front.front_bumper]);
  expect(view?.value).toBe('front');
  expect(parts.map(({ part }) => part).toSorted()).toEqual(['front_bumper', 'hood']);
  expect(await see([])).toMatchObject({ view: null, parts: [] });
});

test('a part beside every vehicle is left out', async () => {
  const detector = partCells({ hood: [[1, 1]], 'taillight.left': [[6, 6]] });
  const model = modelSaying({ detector, vehicle: partCells({ car: [[1, 1]] }) }, {}, 'vehicle-parts');
  const { parts } = (await pipeline.create(model)({ pictures: sent(picture), parameters: {} })) as Made;
  expect(parts.map(({ part }) => part)).toEqual(['hood']);
});

test('a model for parts only gives no view', async () => {
  expect((await run(partCells({ hood: [[3, 3]], front_bumper: [[3, 4]] }))).view).toBeNull();
});
