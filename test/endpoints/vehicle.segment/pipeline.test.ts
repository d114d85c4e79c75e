/** The pipeline with a segmentation and a matting network of known outputs. */
import { expect, test } from 'vitest';
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

/** The same scene as a camera sees it: the car red, from 15 to 33, and the van blue, on grey. */
const seen = {
  width: 64,
  height: 64,
  pixels: Uint8Array.from({ length: 64 * 64 * 3 }, (_, index) => {
    const [pixel, channel] = [Math.floor(index / 3), index % 3];
    const [x, y] = [pixel % 64, Math.floor(pixel / 64)];
    const isCar = x >= 15 && x < 33 && y >= 15 && y < 33;
    const colour = isCar ? [190, 40, 40] : x >= 56 && y < 8 ? [40, 60, 190] : [120, 120, 120];
    return (colour[channel] ?? 0) + ((x * 7 + y * 5) % 6);
  }),
};

const run = async (model: ReturnType<typeof modelSaying>, parameters = {}, shown = picture) =>
  (await pipeline.create(model)({ pictures: sent(shown), parameters })) as Made;

test('the largest vehicle is the main one and comes first; one at the edge is cut off', async () => {
  const { vehicles } = await run(modelSaying({ detector }), {}, seen);
  expect(vehicles).toMatchObject([
    { class: 'car', is_main: true, is_cut_off: false, bbox: { x: 15, y: 15, width: 18, height: 18 } },
    { class: 'van', is_main: false, is_cut_off: true },
  ]);
  expect(vehicles[0]?.area_fraction).toBeGreaterThan((16 * 16) / (64 * 64));
  expect(vehicles[0]?.area_fraction).toBeLessThan((20 * 20) / (64 * 64));
});

test('without a matting network the matte follows the edges of the picture, not the cells of the network', async () => {
  const { matte } = await run(modelSaying({ detector }), {}, seen);
  expect(matte).toMatchObject({ object: 'made_picture', width: 64, height: 64 });
  for (let pixel = 0; pixel < 64 * 64; pixel += 1) {
    const [x, y] = [pixel % 64, Math.floor(pixel / 64)];
    const isInside = (matte?.pixels[pixel] ?? 0) >= 128;
    expect([x, y, isInside]).toEqual([x, y, x >= 15 && x < 33 && y >= 15 && y < 33]);
  }
});

test.each([
  { said: 0.5, inside: 128 },
  // The matting network disagrees, but the inside of the outline stays the vehicle.
  { said: 0.4, inside: 255 },
])(
  'vehicle.segment softens the edge of the main vehicle by a matting network that returns $said',
  async ({ said, inside }) => {
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
  },
);

test('there is no matte where none is wanted, and none without a vehicle', async () => {
  expect((await run(modelSaying({ detector }), { include_matte: false })).matte).toBeNull();
  const says = { logits: { shape: [1, 3, 8, 8], data: new Float32Array(3 * 64).fill(5, 0, 64) } };
  expect(await run(modelSaying({ detector: { ...detector, says } }))).toEqual({ vehicles: [], matte: null });
});

test('the file `vehicle` of a model for vehicles and their parts finds the vehicles', async () => {
  const other = { ...detector, labels: ['hood', 'roof', null] };
  const { vehicles } = await run(modelSaying({ detector: other, vehicle: detector }, {}, 'vehicle-parts'));
  expect(vehicles.map((each) => each.class)).toEqual(['car', 'van']);
});
