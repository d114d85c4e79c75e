/** The pipeline with networks of known outputs. */
import { expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/render.enhance/pipeline.ts';
import type { Result } from '../../../src/endpoints/render.enhance/result.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import type { FloatTensor } from '../../../src/inference/models/tensors.ts';
import type { MadePicture } from '../../../src/inference/toolkit/images/made-pictures.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import { measureQuality } from '../../../src/inference/toolkit/quality/picture-quality.ts';
import { smoothPicture } from '../../inference/support/exported-models.ts';
import { modelSaying, sent } from '../../inference/support/saying-model.ts';

type Made = Omit<Result, 'image'> & { image: MadePicture };

const SIDE = 64;

/** Single-tile networks with a constant output. */
function model({ scale = 2, hasDenoiser = true } = {}): Model {
  const network = (factor: number, value: number) => ({
    labels: [],
    decoder: { name: 'image-to-image', output: 'output', scale: factor, overlap: 16, range: [0, 1] },
    says: {
      output: {
        shape: [1, 3, SIDE * factor, SIDE * factor],
        data: new Float32Array(3 * (SIDE * factor) ** 2).fill(value),
      } satisfies FloatTensor,
    },
  });
  return modelSaying({ upscale: network(scale, 1), ...(hasDenoiser && { denoise: network(1, 0) }) });
}

/** Grey 128 with noise of this many levels. */
function noisy(levels: number): RgbImage {
  let state = 1;
  const pixels = new Uint8Array(40 * 30 * 3);
  for (let index = 0; index < pixels.length; index += 3) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    pixels.fill(128 + Math.round((state / 2 ** 31 - 0.5) * 2 * levels), index, index + 3);
  }
  return { width: 40, height: 30, pixels };
}

const run = async (parameters: Record<string, unknown>, given: RgbImage = noisy(60), made: Model = model()) =>
  (await pipeline.create(made)({ pictures: sent(given), parameters })) as Made;

test('render.enhance denoises a noisy picture by its strength and reports nothing else', async () => {
  const { image, operations_applied, before, after } = await run({ operations: ['denoise'], strength: 0.5 });
  expect(operations_applied).toEqual([
    { operation: 'denoise', confidence: expect.any(Number) as unknown, parameters: { amount: 0.5 } },
  ]);
  expect(operations_applied[0]?.confidence).toBeCloseTo(1 - before.quality.noise, 10);
  expect(image).toMatchObject({ width: 40, height: 30, channels: 3, format: 'jpg' });
  const [first] = noisy(60).pixels;
  expect(image.pixels[0]).toBe(Math.round((first ?? 0) / 2));
  expect(after.quality.noise).toBeGreaterThan(before.quality.noise);
});

test('render.enhance returns a picture that needs nothing unchanged', async () => {
  const quiet: RgbImage = { width: 40, height: 30, pixels: new Uint8Array(40 * 30 * 3).fill(128) };
  const { image, operations_applied, operations_skipped, before, after } = await run(
    { operations: ['denoise', 'upscale'], output_format: 'png' },
    quiet,
  );
  expect(operations_applied).toEqual([]);
  expect(operations_skipped).toEqual([
    { operation: 'denoise', reason: 'not_needed' },
    { operation: 'upscale', reason: 'upscale_factor_is_1' },
  ]);
  expect(image.pixels).toEqual(quiet.pixels);
  expect(image.format).toBe('png');
  expect(after).toEqual(before);
  expect(pipeline.chargedShare?.({ operations_applied })).toBe(0);
});

test('render.enhance applies to a dark picture what it needs, and charges it; to the result nothing more', async () => {
  const dark = smoothPicture(40, 30);
  dark.pixels = dark.pixels.map((level) => Math.round(level * 0.25));
  const { image, operations_applied, before, after } = await run(
    { operations: ['exposure_correction'], strength: 1 },
    dark,
  );
  expect(operations_applied.map(({ operation }) => operation)).toEqual(['exposure_correction']);
  expect(after.quality.exposure).toBeGreaterThan(before.quality.exposure);
  expect(pipeline.chargedShare?.({ operations_applied })).toBe(1);
  const again = await run({ operations: ['exposure_correction'], strength: 1 }, image);
  expect(again.operations_skipped).toEqual([{ operation: 'exposure_correction', reason: 'not_needed' }]);
  expect(pipeline.chargedShare?.(again)).toBe(0);
  expect(again.image.pixels).toEqual(image.pixels);
});

test('render.enhance takes nothing from a picture by a network that makes it noisier', async () => {
  const worse = model();
  let state = 0;
  const noisier: Model = {
    ...worse,
    run: async (file, inputs) => {
      const outputs = await worse.run(file, inputs);
      return {
        ...outputs,
        floats: (name) => ({
          ...outputs.floats(name),
          data: outputs.floats(name).data.map(() => {
            state = (state * 75 + 74) % 65_537;
            return state / 65_537;
          }),
        }),
      };
    },
  };
  const { operations_applied, operations_skipped } = await run(
    { operations: ['denoise'], strength: 1 },
    noisy(30),
    noisier,
  );
  expect(operations_applied).toEqual([]);
  expect(operations_skipped).toEqual([{ operation: 'denoise', reason: 'would_do_harm' }]);
});

test('render.enhance charges the full price once an operation is applied', async () => {
  expect(pipeline.chargedShare?.(await run({}))).toBe(1);
  expect(pipeline.chargedShare?.(await run({ upscale_factor: 2 }))).toBe(1);
});

test.each([2, 4])(
  'render.enhance does not score an enlargement by %d lower than plain interpolation',
  async (factor) => {
    const { before, after } = await run(
      { operations: ['upscale'], upscale_factor: factor, fidelity: 1 },
      smoothPicture(40, 30),
    );
    expect(after.quality).toEqual(before.quality);
    expect([before.width, after.width]).toEqual([40, 40 * factor]);
  },
);

test('render.enhance skips operations without a network as not supported', async () => {
  const requested = { operations: ['denoise', 'reflection_removal', 'perspective_correction'] };
  const { operations_applied, operations_skipped } = await run(requested, noisy(60), model({ hasDenoiser: false }));
  expect(operations_applied).toEqual([]);
  expect(operations_skipped).toEqual(requested.operations.map((operation) => ({ operation, reason: 'not_supported' })));
});

test.each([
  [2, 2],
  [4, 2],
  [2, 4],
  [4, 4],
])('render.enhance enlarges by %d with a ×%d network', async (factor, scale) => {
  const requested = { operations: ['upscale'], upscale_factor: factor, fidelity: 0 };
  const { image, operations_applied, after } = await run(requested, noisy(60), model({ scale }));
  expect([image.width, image.height, after.width, after.height]).toEqual(
    [40, 30, 40, 30].map((length) => length * factor),
  );
  expect(operations_applied).toEqual([{ operation: 'upscale', confidence: 1, parameters: { factor } }]);
  // The network returns white everywhere.
  expect(new Set(image.pixels)).toEqual(new Set([255]));
});

test('render.enhance adds no generated detail at full fidelity', async () => {
  const given = smoothPicture(40, 30);
  const { image } = await run({ operations: ['upscale'], upscale_factor: 2, fidelity: 1 }, given);
  const mean = (pixels: Uint8Array) => pixels.reduce((sum, level) => sum + level, 0) / pixels.length;
  expect(Math.abs(mean(image.pixels) - mean(given.pixels))).toBeLessThan(1);
});

test('render.enhance enlarges a picture of one pixel, with scores that are numbers', async () => {
  const pixel = { width: 1, height: 1, pixels: Uint8Array.of(120, 120, 120) };
  const { image, before, after } = await run({ upscale_factor: 2 }, pixel);
  expect(image).toMatchObject({ width: 2, height: 2 });
  for (const score of [...Object.values(before.quality), ...Object.values(after.quality)]) {
    expect(score).toBeGreaterThanOrEqual(0);
    expect(score).toBeLessThanOrEqual(1);
  }
});

test('render.enhance refuses an output that would be too large and says what to change', async () => {
  const large = { width: 8000, height: 4000, pixels: new Uint8Array(0) };
  await expect(run({ upscale_factor: 2 }, large)).rejects.toMatchObject({
    code: 'input_unreadable',
    param: 'upscale_factor',
    message: expect.stringContaining('at most 50,000,000 pixels') as unknown,
  });
  const long = { width: 9000, height: 4, pixels: new Uint8Array(0) };
  await expect(run({ upscale_factor: 2, output_format: 'webp' }, long)).rejects.toThrow('at most 16383 pixels wide');
});

test('render.enhance does not replace fine_grain by GAN', async () => {
  await expect(run({ enhancer_model: 'fine_grain' })).rejects.toMatchObject({ code: 'model_unavailable' });
});

test('render.enhance refuses networks that do not fit their role', () => {
  expect(() => pipeline.create(model({ scale: 3 }))).toThrow('files.upscale.decoder.scale must be 2 or 4');
});

test('noise, a bad exposure and a colour cast lower their scores', () => {
  const sharp = measureQuality(smoothPicture(64, 48));
  expect(measureQuality(noisy(60)).noise).toBeLessThan(measureQuality(noisy(10)).noise);
  const shade = (level: number): RgbImage => ({ width: 8, height: 8, pixels: new Uint8Array(192).fill(level) });
  expect(measureQuality(shade(0)).exposure).toBeLessThan(0.2);
  expect(measureQuality(shade(117)).exposure).toBeGreaterThan(0.95);
  const red: RgbImage = { width: 8, height: 8, pixels: new Uint8Array(192).map((_, index) => (index % 3 ? 60 : 120)) };
  expect(measureQuality(red).color).toBeCloseTo(0.5, 5);
  expect(measureQuality(shade(120)).color).toBe(1);
  for (const score of Object.values(sharp)) {
    expect(score).toBeGreaterThanOrEqual(0);
    expect(score).toBeLessThanOrEqual(1);
  }
});

test('a blurred picture scores as less sharp', () => {
  const edges: RgbImage = {
    width: 48,
    height: 48,
    pixels: new Uint8Array(48 * 48 * 3).map((_, index) => (Math.floor(index / 3 / 6) % 2 === 0 ? 40 : 210)),
  };
  const blurred = edges.pixels.map((_, index) => {
    let sum = 0;
    for (let away = -4; away <= 4; away += 1) sum += edges.pixels[index + 3 * away] ?? edges.pixels[index] ?? 0;
    return Math.round(sum / 9);
  });
  expect(measureQuality({ ...edges, pixels: blurred }).sharpness).toBeLessThan(measureQuality(edges).sharpness);
});
