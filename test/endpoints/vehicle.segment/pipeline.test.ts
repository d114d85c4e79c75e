/** The pipeline with a segmentation and a matting network of known outputs. */
import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/endpoints/vehicle.segment/pipeline.ts';
import type { Result } from '../../../src/endpoints/vehicle.segment/result.ts';
import type { MadePicture } from '../../../src/inference/toolkit/images/made-pictures.ts';
import { modelSaying, picture, sent } from '../../inference/support/saying-model.ts';

type Made = Omit<Result, 'matte'> & { matte: MadePicture | null };

/** Logits [1, 3, 8, 8]: two cells by two of a car, one of a van at the edge. */
const scene = new Float32Array(3 * 64).fill(5, 0, 64);
for (const [classIndex, x, y] of [
  [1, 2, 2],
  [1, 3, 2],
  [1, 2, 3],
  [1, 3, 3],
  [2, 7, 0],
] as const) {
  scene[classIndex * 64 + y * 8 + x] = 20;
}
const detector = {
  labels: [null, 'car', 'van'],
  decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
  says: { logits: { shape: [1, 3, 8, 8], data: scene } },
};

const run = async (model: ReturnType<typeof modelSaying>, parameters = {}) =>
  (await pipeline.create(model)({ pictures: sent(picture), parameters })) as Made;

test('the largest vehicle is the main one and comes first; one at the edge is cut off', async () => {
  const { vehicles } = await run(modelSaying({ detector }));
  expect(vehicles).toMatchObject([
    { class: 'car', is_main: true, is_cut_off: false, bbox: { x: 14, y: 14, width: 20, height: 20 } },
    { class: 'van', is_main: false, is_cut_off: true },
  ]);
  expect(vehicles[0]?.area_fraction).toBeGreaterThan((16 * 16) / (64 * 64));
  expect(vehicles[0]?.area_fraction).toBeLessThan((20 * 20) / (64 * 64));
});

test('without a matting network the matte is the outline filled', async () => {
  const { matte } = await run(modelSaying({ detector }));
  expect(matte).toMatchObject({ object: 'made_picture', width: 64, height: 64 });
  expect([...new Set(matte?.pixels)].toSorted((a, b) => a - b)).toEqual([0, 255]);
  expect(matte?.pixels[24 * 64 + 24]).toBe(255);
  expect(matte?.pixels[4 * 64 + 60]).toBe(0);
});

test.each([
  { said: 0.5, inside: 128 },
  // The matting network disagrees, but the inside of the outline stays the vehicle.
  { said: 0.4, inside: 255 },
])('softens the edge of the main vehicle by a matting network that returns $said', async ({ said, inside }) => {
  const matting = {
    labels: [],
    decoder: { name: 'alpha-matte', output: 'alpha' },
    says: { alpha: { shape: [1, 1, 4, 4], data: new Float32Array(16).fill(said) } },
  };
  const { matte } = await run(modelSaying({ detector, matting }));
  // The outline runs from 14 to 34, with a tolerance of a twentieth.
  const across = [12, 13, 14, 15, 24, 33, 34, 35].map((x) => matte?.pixels[24 * 64 + x]);
  const edge = Math.round(said * 255);
  expect(across).toEqual([0, edge, edge, inside, inside, edge, edge, 0]);
});

test('there is no matte where none is wanted, and none without a vehicle', async () => {
  expect((await run(modelSaying({ detector }), { include_matte: false })).matte).toBeNull();
  const says = { logits: { shape: [1, 3, 8, 8], data: new Float32Array(3 * 64).fill(5, 0, 64) } };
  expect(await run(modelSaying({ detector: { ...detector, says } }))).toEqual({ vehicles: [], matte: null });
});
