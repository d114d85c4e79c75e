/** The pipeline with a segmentation network of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/render.background/pipeline.ts';
import type { Result } from '../../../src/endpoints/render.background/result.ts';
import type { MadePicture } from '../../../src/inference/toolkit/images/made-pictures.ts';
import { modelSaying, sent } from '../../inference/support/saying-model.ts';

type Made = Omit<Result, 'cut_out' | 'composite'> & { cut_out: MadePicture | null; composite: MadePicture | null };

const SIDE = 64;
/** Green, so that remains of it are recognisable. */
const GREEN = [20, 160, 60];
const picture = {
  width: SIDE,
  height: SIDE,
  pixels: new Uint8Array(SIDE * SIDE * 3).map((_, index) => GREEN[index % 3] ?? 0),
};

/** Logits [1, 2, 8, 8]: cells of a car from (2, 2) to (5, 4), or down to the lower edge; or none. */
function detector({ rows = [2, 3, 4], columns = [2, 3, 4, 5] } = {}) {
  const data = new Float32Array(2 * 64).fill(5, 0, 64);
  for (const y of rows) for (const x of columns) data[64 + y * 8 + x] = 20;
  return {
    labels: [null, 'car'],
    decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
    says: { logits: { shape: [1, 2, 8, 8], data } },
  };
}

const run = async (parameters = {}, model = modelSaying({ detector: detector() })) =>
  (await pipeline.create(model)({ pictures: sent(picture), parameters })) as Made;

const at = (made: MadePicture | null, x: number, y: number) => {
  const { pixels = new Uint8Array(), width = 0, channels = 3 } = made ?? {};
  return [...pixels.subarray((y * width + x) * channels, (y * width + x + 1) * channels)];
};

test('render.background cuts the vehicle out to its box, transparent around it, with its own pixels', async () => {
  const { vehicle, cut_out } = await run();
  expect(vehicle).toMatchObject({ class: 'car', is_cut_off: false });
  const { source_bbox: box = { x: 0, y: 0, width: 0, height: 0 } } = vehicle ?? {};
  expect(vehicle?.composite_bbox).toEqual(box);
  expect(cut_out).toMatchObject({ width: box.width, height: box.height, channels: 4, format: 'png' });
  expect(at(cut_out, Math.floor(box.width / 2), Math.floor(box.height / 2))).toEqual([...GREEN, 255]);
  // The old background is gone, even where the cut-out is transparent.
  const clear = Array.from({ length: box.width * box.height }, (_, pixel) => [
    ...(cut_out?.pixels.subarray(pixel * 4, pixel * 4 + 4) ?? []),
  ]).filter(([, , , opacity]) => opacity === 0);
  for (const pixel of clear) expect(pixel).toEqual([0, 0, 0, 0]);
});

test('render.background fills everything but the vehicle and its shadow with the background colour', async () => {
  const { composite, scene, background_color, has_shadow } = await run({
    background_color: '#AA00ff',
    shadow: false,
    output_format: 'webp',
  });
  expect([scene, background_color, has_shadow]).toEqual([null, '#aa00ff', false]);
  expect(composite).toMatchObject({ width: SIDE, height: SIDE, channels: 3, format: 'webp' });
  expect(at(composite, 2, 2)).toEqual([170, 0, 255]);
  expect(at(composite, 61, 61)).toEqual([170, 0, 255]);
  expect(at(composite, 32, 28)).toEqual(GREEN);
});

test('render.background draws the shadow below the vehicle, on the ground only', async () => {
  const plain = { background_color: '#c8c8c8' };
  const [lit, shaded] = [await run({ ...plain, shadow: false }), await run(plain)];
  expect(shaded.has_shadow).toBe(true);
  const bottom = (lit.vehicle?.source_bbox.y ?? 0) + (lit.vehicle?.source_bbox.height ?? 0);
  expect(at(shaded.composite, 32, bottom)[0]).toBeLessThan(at(lit.composite, 32, bottom)[0] ?? 0);
  expect(at(shaded.composite, 32, 28)).toEqual(GREEN);
  expect(at(shaded.composite, 32, 4)).toEqual(at(lit.composite, 32, 4));
});

test('render.background adds no shadow to a vehicle that the lower edge cuts off', async () => {
  const model = modelSaying({ detector: detector({ rows: [4, 5, 6, 7] }) });
  const { vehicle, has_shadow } = await run({}, model);
  expect(vehicle?.is_cut_off).toBe(true);
  expect(has_shadow).toBe(false);
});

test.each(['studio_white', 'studio_gray', 'studio_dark', 'showroom', 'forecourt'])(
  'render.background paints %s as a wall above a ground',
  async (scene) => {
    const { composite, ...made } = await run({ scene, shadow: false });
    expect(made.scene).toBe(scene);
    expect(at(composite, 2, 2)).not.toEqual(GREEN);
    expect(at(composite, 2, 2)).not.toEqual(at(composite, 2, 61));
  },
);

test('render.background blends the background through soft matte edges', async () => {
  const matting = {
    labels: [],
    decoder: { name: 'alpha-matte', output: 'alpha', values: 'logits' },
    says: { alpha: { shape: [1, 1, 4, 4], data: new Float32Array(16) } },
  };
  const { composite, cut_out } = await run(
    { background_color: '#000000', shadow: false },
    modelSaying({ detector: detector(), matting }),
  );
  // The sigmoid of 0 is a half.
  expect(at(composite, 32, 28)).toEqual(GREEN.map((level) => Math.round((level * 128) / 255)));
  expect(at(cut_out, 10, 10)[3]).toBe(128);
});

test('render.background cuts out the largest of several vehicles, and the others go with the background', async () => {
  const { says, ...rest } = detector();
  const data = Float32Array.from(says.logits.data);
  for (const cell of [7, 15]) data[64 + cell] = 20;
  const both = modelSaying({ detector: { ...rest, says: { logits: { shape: [1, 2, 8, 8], data } } } });
  const [alone, several] = [
    await run({ background_color: '#aa00ff' }),
    await run({ background_color: '#aa00ff' }, both),
  ];
  expect(several.vehicle?.source_bbox).toEqual(alone.vehicle?.source_bbox);
  expect(at(several.composite, 62, 4)).toEqual([170, 0, 255]);
  expect(pipeline.chargedShare?.(several)).toBe(1);
});

test('render.background finds nothing in a picture of one pixel', async () => {
  const pixel = { width: 1, height: 1, pixels: Uint8Array.of(9, 9, 9) };
  const model = modelSaying({ detector: detector({ rows: [] }) });
  const made = (await pipeline.create(model)({ pictures: sent(pixel), parameters: {} })) as Made;
  expect(made).toMatchObject({ vehicle: null, composite: null });
  expect(pipeline.chargedShare?.(made)).toBe(0);
});

test('render.background returns null pictures and charges nothing without a vehicle', async () => {
  const made = await run({}, modelSaying({ detector: detector({ rows: [] }) }));
  expect(made).toMatchObject({
    vehicle: null,
    cut_out: null,
    composite: null,
    scene: 'studio_white',
    has_shadow: false,
  });
  expect(pipeline.chargedShare?.(made)).toBe(0);
  expect(pipeline.chargedShare?.(await run())).toBe(1);
});
