/** Inputs of `fit`: as large as the picture, within bounds. */
import { expect, it } from 'vitest';
import { parseManifest } from '../../../../src/inference/models/manifest.ts';
import type { Model } from '../../../../src/inference/models/model.ts';
import { createPictureInput } from '../../../../src/inference/toolkit/images/picture-input.ts';
import { giveBack, takeFloats } from '../../../../src/inference/toolkit/images/spare-floats.ts';

const SIDES = { shortest: 64, longest: 160, multipleOf: 32 };

function modelWith(fields: object): Model {
  const input = {
    shape: [1, 3, 'H', 'W'],
    layout: 'NCHW',
    dtype: 'float32',
    colour: 'RGB',
    range: [0, 1],
    mean: [0, 0, 0],
    std: [1, 1, 1],
    pad: 0,
    ...fields,
  };
  const manifest = {
    model: 'fitting',
    release: '2026-01-01',
    task: 'fitting',
    description: 'Takes pictures of many sizes.',
    license: 'Apache-2.0',
    files: { detector: { path: 'a.onnx', sha256: '0'.repeat(64), inputs: { x: input }, outputs: {} } },
    warmUp: {},
  };
  return {
    manifest: parseManifest(JSON.stringify(manifest)),
    uses: {},
    run: () => Promise.reject(new Error('unused')),
  };
}

const grey = (width: number, height: number) => ({
  width,
  height,
  pixels: new Uint8Array(3 * width * height).fill(128),
});

it.each([
  ['a small picture is enlarged until its shorter side is long enough', [40, 32], [96, 64]],
  ['a picture within the bounds keeps its size, padded', [100, 70], [128, 96]],
  ['a large picture is shrunk', [640, 320], [160, 96]],
  ['the longer side counts before the shorter one', [640, 64], [160, 32]],
])('%s', (_, [width = 0, height = 0], expected) => {
  const input = createPictureInput(modelWith({ resize: 'fit', sides: SIDES }), 'detector');
  const { tensor, size, toPicture } = input.prepare(grey(width, height));
  expect([size.width, size.height]).toEqual(expected);
  expect(tensor.shape).toEqual([1, 3, size.height, size.width]);
  const [from, to] = [toPicture({ x: 0, y: 0 }), toPicture({ x: size.width, y: size.height })];
  // The picture stands in the middle of its padding.
  expect(Math.abs((from.x + to.x - width) / 2)).toBeLessThan(2);
  expect(Math.abs((from.y + to.y - height) / 2)).toBeLessThan(2);
  expect(to.x - from.x).toBeGreaterThanOrEqual(width - 1);
});

it.each([
  ['fit without bounds', { resize: 'fit' }],
  ['bounds without fit', { resize: 'letterbox', shape: [1, 3, 64, 64], sides: SIDES }],
])('%s is refused by name', (_, fields) => {
  expect(() => createPictureInput(modelWith(fields), 'detector')).toThrow(
    'fitting@2026-01-01: files.detector.inputs.x: sides are the bounds of resize "fit", and belong to no other',
  );
});

it('the memory of the largest tensor that was given back goes to the next one, once', () => {
  for (const length of [1000, 30_000, 1000]) giveBack({ data: new Float32Array(length).fill(7), shape: [length] });
  expect(takeFloats(20_000)).toEqual(new Float32Array(20_000).fill(7));
  expect(takeFloats(20_000)).toEqual(new Float32Array(20_000));
});

it('whoever still holds a tensor that was given back sees nothing of the next one', () => {
  const held = { data: new Float32Array(30_000), shape: [30_000] };
  giveBack(held);
  takeFloats(30_000).fill(7);
  expect(held.data).toHaveLength(0);
});

it.each([
  ['NCHW', [1, 3, 32, 64]],
  ['NHWC', [1, 32, 64, 3]],
])('reused memory keeps nothing of an earlier tensor, layout %s', (layout, shape) => {
  const input = createPictureInput(modelWith({ layout, shape, resize: 'letterbox', pad: 1 }), 'detector');
  giveBack({ data: new Float32Array(10_000).fill(7), shape: [10_000] });
  const { data } = input.prepare(grey(32, 32)).tensor;
  expect(data.buffer.byteLength).toBe(10_000 * Float32Array.BYTES_PER_ELEMENT);
  expect(data).toHaveLength(3 * 32 * 64);
  expect(new Set(data)).toEqual(new Set([1, Math.fround(128 / 255)]));
});
