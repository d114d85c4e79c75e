/** Models that an operator drops into the folder serve their endpoints, on the real ONNX Runtime. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ArtefactFile, WriteArtefact } from '../../../src/artefacts/artefact-writer.ts';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import { engineDetect } from '../../../src/endpoints/engine.detect/contract.ts';
import { partsRecognize } from '../../../src/endpoints/parts.recognize/contract.ts';
import { renderBackground } from '../../../src/endpoints/render.background/contract.ts';
import { renderEnhance } from '../../../src/endpoints/render.enhance/contract.ts';
import { tireDetect } from '../../../src/endpoints/tire.detect/contract.ts';
import { vehicleSegment } from '../../../src/endpoints/vehicle.segment/contract.ts';
import { createOnnxBackend, type OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { fileOf, installModel, manifestOfGuide, type Patch, paint, smoothPicture } from '../support/exported-models.ts';
import { noArtefacts, recordingLog, rejectionOf, standInArtefacts, tinyRequest } from '../support/tiny-endpoint.ts';

/** A whole cell of the networks, column 2 of row 1: x 32 to 48 and y 0 to 16 of the picture. */
const PATCH: Patch = { colour: '#ff0000', x: 32, y: 0, width: 16, height: 16 };

/** Scaling mixes the edge of a patch with the grey around it. */
const nearlyOne = expect.closeTo(0.95, 1) as unknown;

/** What PyTorch makes of `smoothPicture` with the network of `exported/enlarging.onnx`. */
const { enlarging: enlarged } = JSON.parse(
  readFileSync(new URL('../goldens/exports.json', import.meta.url), 'utf8'),
) as { enlarging: { width: number; height: number; scale: number; pixels: string } };

/** The same by the tiles of Real-ESRGAN's own package. */
const { realEsrganTiles } = JSON.parse(
  readFileSync(new URL('../goldens/made-pictures.json', import.meta.url), 'utf8'),
) as { realEsrganTiles: { pixels: string } };

let modelsDirectory: string;
let backend: OnnxBackend | null = null;
const { log, lines } = recordingLog();

beforeEach(async () => {
  modelsDirectory = await mkdtemp(join(tmpdir(), 'installed-models-'));
  lines.length = 0;
});

afterEach(async () => {
  await backend?.close();
  backend = null;
  await rm(modelsDirectory, { recursive: true });
});

async function start(
  seen: readonly Patch[] | Buffer,
  endpoints: readonly EndpointContract[] = [tireDetect],
  writeArtefact: WriteArtefact = noArtefacts,
) {
  const picture = Buffer.isBuffer(seen) ? seen : await paint(seen);
  backend = await createOnnxBackend({
    modelsDirectory,
    store: { get: async () => picture },
    writeArtefact,
    children: 1,
    threads: 1,
    logger: log,
    endpoints,
    endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
  });
  return backend;
}

async function resultOf(started: OnnxBackend, endpoint: string): Promise<unknown> {
  const outcome = await started.infer(tinyRequest({ endpoint }), { signal: new AbortController().signal });
  expect(outcome.error).toBeNull();
  return outcome.result;
}

const reasons = () => lines.map(({ fields }) => fields.reason);

test("the guide's model.json makes tire.detect return results in pixels of the picture", async () => {
  installModel(modelsDirectory, manifestOfGuide(), 'yolo-detection');
  const started = await start([PATCH]);
  expect(started.installedEndpoints()).toEqual([{ endpoint: 'tire.detect', modelVersion: 'my-tires@2026-12-01' }]);
  // The box of a cell is 12 pixels wide, 24 of the picture, and cut off by its upper edge.
  expect(await resultOf(started, 'tire.detect')).toEqual({
    tires: [
      {
        id: 'tire_1',
        position: null,
        confidence: nearlyOne,
        bbox: { x: 28, y: 0, width: 24, height: 20 },
        tread: null,
        sidewall_damages: [],
      },
    ],
    wheels: [],
    quality_issues: [],
  });
});

test('a picture without findings has empty lists as its result', async () => {
  installModel(modelsDirectory, manifestOfGuide(), 'yolo-detection');
  expect(await resultOf(await start([]), 'tire.detect')).toEqual({ tires: [], wheels: [], quality_issues: [] });
});

test('channel order and scaling of a network come from model.json', async () => {
  const { images } = manifestOfGuide().files.detector.inputs as { images: Record<string, unknown> };
  const inputs = { images: { ...images, colour: 'BGR', range: [0, 255], mean: [0, 0, 0], std: [255, 255, 255] } };
  const file = fileOf('yolo-detection', { inputs });
  installModel(modelsDirectory, { ...manifestOfGuide(), files: { detector: file } }, 'yolo-detection');
  // Blue comes first now, and the first class is the tire.
  const result = await resultOf(await start([{ ...PATCH, colour: '#0000ff' }]), 'tire.detect');
  expect(result).toMatchObject({ tires: [{ confidence: nearlyOne }] });
});

test('a network that takes its input size gets it, on any endpoint', async () => {
  const file = fileOf('detr-with-postprocessor', {
    inputs: {
      ...(manifestOfGuide().files.detector.inputs as object),
      orig_target_sizes: { shape: [1, 2], dtype: 'int64' },
    },
    outputs: { labels: { shape: [1, 64] }, boxes: { shape: [1, 64, 4] }, scores_out: { shape: [1, 64] } },
    decoder: {
      name: 'detr-with-postprocessor',
      boxes: 'boxes',
      scores: 'scores_out',
      labels: 'labels',
      sizeInput: 'orig_target_sizes',
      score: 0.5,
    },
    labels: ['battery', 'engine_bay', null],
  });
  const warmUp = { detector: { images: [1, 3, 64, 64], orig_target_sizes: [1, 2] } };
  const manifest = { ...manifestOfGuide(), task: 'engine-part-detection', files: { detector: file }, warmUp };
  installModel(modelsDirectory, manifest, 'detr-with-postprocessor');
  const bay = { ...PATCH, colour: '#00ff00', y: 48 };
  const started = await start([PATCH, bay, { ...PATCH, colour: '#0000ff', x: 96 }], [engineDetect]);
  expect(await resultOf(started, 'engine.detect')).toEqual({
    engine_bay: { confidence: nearlyOne, bbox: { x: 28, y: 44, width: 24, height: 24 } },
    propulsion: null,
    parts: [{ part: 'battery', confidence: nearlyOne, bbox: { x: 28, y: 0, width: 24, height: 20 } }],
  });
});

test('a model may label parts with and without a side', async () => {
  const file = fileOf('yolo-detection', { labels: ['headlight.left', 'headlight', 'hood'] });
  installModel(
    modelsDirectory,
    { ...manifestOfGuide(), task: 'part-detection', files: { detector: file } },
    'yolo-detection',
  );
  const patches = ['#ff0000', '#00ff00', '#0000ff'].map((colour, index) => ({ ...PATCH, colour, x: 32 * index }));
  const result = (await resultOf(await start(patches, [partsRecognize]), 'parts.recognize')) as {
    parts: { part: string; side: string | null; bbox: { x: number } }[];
  };
  const fromTheLeft = result.parts.toSorted((a, b) => a.bbox.x - b.bbox.x);
  expect(fromTheLeft.map(({ part, side }) => [part, side])).toEqual([
    ['headlight', 'left'],
    ['headlight', null],
    ['hood', 'none'],
  ]);
});

test("a pipeline's picture is stored as a PNG, and its artefact returned", async () => {
  const file = fileOf('semantic-segmentation', {
    outputs: { logits: { shape: [1, 4, 8, 8] } },
    decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
    labels: [null, 'car', 'van', null],
  });
  const manifest = { ...manifestOfGuide(), task: 'vehicle-segmentation', files: { detector: file } };
  installModel(modelsDirectory, manifest, 'semantic-segmentation');
  const stored: ArtefactFile[] = [];
  const writeArtefact: WriteArtefact = (made) => {
    stored.push(made);
    return standInArtefacts(made);
  };
  const small = { ...PATCH, colour: '#00ff00', x: 96 };
  const started = await start([{ ...PATCH, y: 32, width: 32 }, small], [vehicleSegment], writeArtefact);
  expect(await resultOf(started, 'vehicle.segment')).toMatchObject({
    vehicles: [
      { class: 'car', is_main: true, is_cut_off: false },
      { class: 'van', is_main: false, is_cut_off: true },
    ],
    matte: { object: 'artefact', media_type: 'image/png', width: 128, height: 96 },
  });
  const { data, info } = await sharp(stored[0]?.content)
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect(info).toMatchObject({ width: 128, height: 96, channels: 1 });
  // White in the middle of the car, black on the van.
  expect([data[40 * 128 + 48], data[8 * 128 + 104]]).toEqual([255, 0]);
});

test('a network of Real-ESRGAN enlarges a picture in tiles as PyTorch enlarges it whole, and its own package in tiles', async () => {
  const { width, height, scale, pixels } = enlarged;
  const { images } = manifestOfGuide().files.detector.inputs as { images: Record<string, unknown> };
  const file = fileOf('enlarging', {
    inputs: { input: { ...images, shape: [1, 3, 32, 32], resize: undefined, pad: undefined } },
    outputs: { output: { shape: [1, 3, 64, 64] } },
    decoder: { name: 'image-to-image', output: 'output', scale, overlap: 16, range: [0, 1] },
  });
  const manifest = {
    ...manifestOfGuide(),
    task: 'picture-enhancement',
    files: { upscale: file },
    warmUp: { upscale: { input: [1, 3, 32, 32] } },
  };
  installModel(modelsDirectory, manifest, 'enlarging');
  const given = smoothPicture(width, height);
  const sent = await sharp(given.pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  const stored: ArtefactFile[] = [];
  const started = await start(sent, [renderEnhance], (made) => {
    stored.push(made);
    return standInArtefacts(made);
  });
  const parameters = { operations: ['upscale'], upscale_factor: 2, fidelity: 0, output_format: 'png' };
  const outcome = await started.infer(tinyRequest({ endpoint: 'render.enhance', parameters, reservedCredits: 100 }), {
    signal: new AbortController().signal,
  });
  expect(outcome).toMatchObject({
    status: 'succeeded',
    chargedCredits: 100,
    result: { image: { media_type: 'image/png', width: 150, height: 100 }, operations_skipped: [] },
  });
  const { data } = await sharp(stored[0]?.content).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const expected = Buffer.from(pixels, 'base64');
  expect(data.length).toBe(expected.length);
  expect(Math.max(...data.map((level, place) => Math.abs(level - (expected[place] ?? -255))))).toBeLessThanOrEqual(1);

  // Its own tiles give the same, but for the mirror that it puts beside the right and the lower edge.
  const tiled = Buffer.from(realEsrganTiles.pixels, 'base64');
  const edge = 4 * scale;
  const inner = Array.from(data, (level, place) => {
    const [x, y] = [Math.floor(place / 3) % (width * scale), Math.floor(place / 3 / (width * scale))];
    return x < width * scale - edge && y < height * scale - edge ? Math.abs(level - (tiled[place] ?? -255)) : 0;
  });
  expect(tiled.length).toBe(data.length);
  expect(Math.max(...inner)).toBeLessThanOrEqual(1);
});

test("an installed model replaces a vehicle's background, and a picture without a vehicle is not charged", async () => {
  const file = fileOf('semantic-segmentation', {
    outputs: { logits: { shape: [1, 4, 8, 8] } },
    decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
    labels: [null, 'car', null, null],
  });
  const manifest = { ...manifestOfGuide(), task: 'vehicle-segmentation', files: { detector: file } };
  installModel(modelsDirectory, manifest, 'semantic-segmentation');
  const stored: ArtefactFile[] = [];
  const keep: WriteArtefact = (made) => {
    stored.push(made);
    return standInArtefacts(made);
  };
  const parameters = { background_color: '#0000ff', output_format: 'webp' };
  const request = tinyRequest({ endpoint: 'render.background', parameters, reservedCredits: 100 });
  const signal = new AbortController().signal;
  // No rectangle: the box around it has a corner outside of it.
  const vehicle = [
    { ...PATCH, y: 16 },
    { ...PATCH, y: 32, width: 32 },
  ];
  const started = await start(vehicle, [renderBackground], keep);
  expect(await started.infer(request, { signal })).toMatchObject({
    status: 'succeeded',
    chargedCredits: 100,
    result: {
      vehicle: { class: 'car' },
      cut_out: { media_type: 'image/png' },
      composite: { media_type: 'image/webp' },
    },
  });
  // The cut-out can be seen through in a corner, the composite nowhere.
  const [cutOut, composite] = await Promise.all(stored.map(({ content }) => sharp(content).stats()));
  expect([cutOut?.isOpaque, composite?.isOpaque]).toEqual([false, true]);
  await started.close();

  const empty = await start([], [renderBackground]);
  expect(await empty.infer(request, { signal })).toMatchObject({
    status: 'succeeded',
    chargedCredits: 0,
    result: { vehicle: null, cut_out: null, composite: null },
  });
});

test('an unreachable file store is retryable', async () => {
  const file = fileOf('semantic-segmentation', {
    outputs: { logits: { shape: [1, 4, 8, 8] } },
    decoder: { name: 'semantic-segmentation', output: 'logits', score: 0.5, minimumPixels: 20 },
    labels: [null, 'car', null, null],
  });
  const manifest = { ...manifestOfGuide(), task: 'vehicle-segmentation', files: { detector: file } };
  installModel(modelsDirectory, manifest, 'semantic-segmentation');
  const started = await start([PATCH], [vehicleSegment], () => Promise.reject(new Error('no space left')));
  const running = started.infer(tinyRequest({ endpoint: 'vehicle.segment' }), { signal: new AbortController().signal });
  expect(await rejectionOf(running)).toMatchObject({ code: 'service_unavailable', retryable: true });
});

test('the newest of several releases serves, whatever its model', async () => {
  installModel(modelsDirectory, { ...manifestOfGuide(), model: 'others', release: '2026-11-30' }, 'yolo-detection');
  installModel(modelsDirectory, { ...manifestOfGuide(), release: '2025-01-01' }, 'yolo-detection');
  installModel(modelsDirectory, { ...manifestOfGuide(), model: 'b', release: '2026-12-24' }, 'yolo-detection');
  installModel(modelsDirectory, { ...manifestOfGuide(), model: 'a', release: '2026-12-24' }, 'yolo-detection');
  const started = await start([]);
  const otherVersions = ['b@2026-12-24', 'others@2026-11-30', 'my-tires@2025-01-01'];
  expect(started.installedEndpoints()).toEqual([
    { endpoint: 'tire.detect', modelVersion: 'a@2026-12-24', otherVersions },
  ]);
});

test('a network that differs from model.json is not announced', async () => {
  installModel(modelsDirectory, manifestOfGuide(), 'detr-with-postprocessor');
  expect((await start([])).installedEndpoints()).toEqual([]);
  expect(reasons()[0]).toMatch(/^files\.detector\.sha256: tires\.onnx has [0-9a-f]{64}, model\.json says/);
});

test('a network whose output shape differs from model.json is not announced', async () => {
  const file = fileOf('yolo-detection', { outputs: { output0: { shape: [1, 7, 8400] } } });
  installModel(modelsDirectory, { ...manifestOfGuide(), files: { detector: file } }, 'yolo-detection');
  expect((await start([])).installedEndpoints()).toEqual([]);
  expect(reasons()[0]).toMatch(
    /files\.detector\.outputs\.output0\.shape is \[1, 7, 8400\], the network's \[1, 7, 64\]/,
  );
});

test('a field missing from model.json is logged, and the endpoint is not announced', async () => {
  const file = fileOf('yolo-detection', { labels: ['tire', 'wheel', null] });
  installModel(modelsDirectory, { ...manifestOfGuide(), files: { detector: file } }, 'yolo-detection');
  expect((await start([])).installedEndpoints()).toEqual([]);
  expect(reasons()[0]).toMatch(/files\.detector\.labels\.1 must be one of tire, rim\.alloy, /);
});

test('a task that no endpoint uses is logged as a warning', async () => {
  installModel(modelsDirectory, { ...manifestOfGuide(), task: 'tyre-detection' }, 'yolo-detection');
  await start([]);
  expect(lines).toContainEqual({
    fields: { model: 'my-tires', release: '2026-12-01', task: 'tyre-detection' },
    message: 'no endpoint asks for models with this task',
  });
});
