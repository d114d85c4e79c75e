/** Networks that take something other than planes of 32-bit floats: they get what `model.json` states. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vehiclePose } from '../../../src/endpoints/vehicle.pose/contract.ts';
import type { OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { fileOf, installModel } from '../support/exported-models.ts';
import { createTinyBackend, recordingLog, tinyRequest } from '../support/tiny-endpoint.ts';

/** Red, green and blue, 0 to 255. */
type Colour = [number, number, number];

const SIDE = 64;
const LABELS = ['front', 'right', 'rear'];
const planes = { shape: ['N', 3, SIDE, SIDE], layout: 'NCHW' };
const pixels = { shape: ['N', SIDE, SIDE, 3], layout: 'NHWC' };
const shades = { colour: 'RGB', range: [0, 1], mean: [0, 0, 0], std: [1, 1, 1], resize: 'stretch', pad: 0 };
const levels = { ...shades, range: [0, 255] };
const halfFloats = { ...planes, ...shades, dtype: 'float16' };
const bytes = { ...pixels, ...levels, dtype: 'uint8' };

let modelsDirectory: string;
let backend: OnnxBackend | undefined;

beforeEach(async () => {
  modelsDirectory = await mkdtemp(join(tmpdir(), 'input-types-'));
});

afterEach(async () => {
  await backend?.close();
  backend = undefined;
  await rm(modelsDirectory, { recursive: true });
});

/** The networks of `exported/make_typed_models.py`. */
async function start(network: 'half-floats' | 'bytes', images: typeof halfFloats | typeof bytes, dtype?: string) {
  const view = fileOf(network, {
    inputs: { images },
    outputs: { logits: { shape: ['N', 3], ...(dtype && { dtype }) } },
    decoder: { name: 'softmax-classification', output: 'logits', score: 0 },
    labels: LABELS,
    batch: { max: 4 },
  });
  const [, ...rest] = images.shape as number[];
  const manifest = {
    model: 'typed',
    release: '2026-01-01',
    task: 'view-classification',
    description: 'Tells which colour there is most of.',
    license: 'Apache-2.0',
    files: { view },
    warmUp: { view: { images: [1, ...rest] } },
  };
  installModel(modelsDirectory, manifest, network);
  const stored: Buffer[] = [];
  const { log, lines } = recordingLog();
  backend = await createTinyBackend({
    modelsDirectory,
    store: { get: async (key) => stored[Number(key)] ?? Buffer.alloc(0) },
    logger: log,
    endpoints: [vehiclePose],
    endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
  });
  const started = backend;
  return {
    reasons: lines.map(({ fields }) => String(fields.reason)),
    viewOf: async ([r, g, b]: Colour) => {
      const picture = sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: { r, g, b } } });
      stored.push(await picture.png().toBuffer());
      const [input] = tinyRequest().inputs;
      const inputs = input ? [{ ...input, storageKey: String(stored.length - 1) }] : [];
      const request = tinyRequest({ endpoint: 'vehicle.pose', inputs });
      const { result } = await started.infer(request, { signal: new AbortController().signal });
      return (result as { view: { value: string; confidence: number } }).view;
    },
  };
}

/** The likeliest class, and its softmax, of 8 times the shares of the colours. */
function expected(colour: Colour): { value: string; confidence: number } {
  const powers = colour.map((level) => Math.exp((8 * level) / 255));
  const most = Math.max(...powers);
  const sum = powers.reduce((total, each) => total + each, 0);
  return { value: LABELS[powers.indexOf(most)] ?? '', confidence: most / sum };
}

const COLOURS: Colour[] = [
  [200, 120, 10],
  [33, 97, 81],
  [90, 91, 130],
  [255, 254, 0],
];

test.each([
  { what: 'half floats, in and out', network: 'half-floats' as const, images: halfFloats, within: 2 },
  { what: 'bytes, channels last', network: 'bytes' as const, images: bytes, within: 5 },
])("a network of $what gets the picture's colours, also in batches", async ({ network, images, within }) => {
  const { viewOf } = await start(network, images);
  for (const view of [await viewOf([200, 120, 10]), ...(await Promise.all(COLOURS.slice(1).map(viewOf)))]) {
    expect(LABELS).toContain(view.value);
  }
  for (const colour of COLOURS) {
    const { value, confidence } = expected(colour);
    expect(await viewOf(colour)).toEqual({ value, confidence: expect.closeTo(confidence, within) as unknown });
  }
});

test('the channel order of NHWC inputs comes from model.json, too', async () => {
  const { viewOf } = await start('bytes', { ...bytes, colour: 'BGR' });
  expect((await viewOf([255, 0, 0])).value).toBe('rear');
  expect((await viewOf([0, 0, 255])).value).toBe('front');
});

test.each([
  {
    what: 'bytes that are no levels of pixels',
    network: 'bytes' as const,
    images: { ...bytes, range: [0, 1] },
    reason: /files\.view\.inputs\.images: with the dtype uint8, range must be \[0, 255\], mean/,
  },
  {
    what: 'channels where they are not',
    network: 'bytes' as const,
    images: { ...bytes, layout: 'NCHW' },
    reason: /files\.view\.inputs\.images\.shape must be \[N, 3, height, width\] .* layout is NCHW/,
  },
  {
    what: 'another type than the network takes',
    network: 'half-floats' as const,
    images: { ...halfFloats, dtype: 'float32' },
    reason: /warmUp\.view: .*tensor\(float\).*tensor\(float16\)/,
  },
  {
    what: 'a type that there is not',
    network: 'half-floats' as const,
    images: { ...halfFloats, dtype: 'bfloat16' },
    reason: /files\.view\.inputs\.images\.dtype must be one of float32, float16, uint8, int64/,
  },
  {
    what: 'another type than the network gives',
    network: 'half-floats' as const,
    images: halfFloats,
    output: 'float32',
    reason: /files\.view\.outputs\.logits\.dtype is float32, the network's float16/,
  },
])('a model.json with $what is refused, and the field named', async ({ network, images, output, reason }) => {
  expect((await start(network, images, output)).reasons.join('\n')).toMatch(reason);
});
