/** The installed models on the example pictures, run like live mode. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Parameters } from '../../../src/endpoints/dashboard.read/request.ts';
import type { Result } from '../../../src/endpoints/dashboard.read/result.ts';
import { type Backend, createBackend } from '../../../src/inference/backends/create-backend.ts';
import { type Box, intersectionOverUnion } from '../../../src/inference/toolkit/decoding/boxes.ts';
import { readTruth, type Truth } from '../../../training/evaluate-held-out-set.ts';
import { noArtefacts } from '../../inference/support/tiny-endpoint.ts';
import { copyModels, OF_DASHBOARD_READ } from '../../support/models.ts';

type Corners = [number, number, number, number];

/** Output of the Python reader; see goldens/make_goldens.py. */
interface Goldens {
  /** SHA-256 of each model file. */
  models: Record<string, string>;
  pictures: Record<
    string,
    {
      cluster_lit: boolean | null;
      odometer:
        | (Pick<NonNullable<Result['odometer']>, 'value' | 'unit' | 'display_type' | 'confidence'> & { box: Corners })
        | null;
      warning_lights: { code: string; confidence: number; box: Corners }[];
      fuel_level_percent: number | null;
      fuel_level_confidence: number | null;
    }
  >;
}

const examplesDirectory = fileURLToPath(new URL('../../../training/examples/', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'examples-'));
const modelsDirectory = copyModels(directory, OF_DASHBOARD_READ);
const goldens = JSON.parse(readFileSync(new URL('./goldens/readings.json', import.meta.url), 'utf8')) as Goldens;
const truths: Truth[] = await readTruth(examplesDirectory);
const withDashboard = truths.filter(({ dashboard }) => dashboard);

/** Pictures that a test substitutes for an example. */
const replaced = new Map<string, Buffer>();
let backend: Backend;

beforeAll(async () => {
  backend = await createBackend({
    modelsDirectory,
    // On a machine that is busy with other tests.
    patienceMs: 60_000,
    store: { get: async (key) => replaced.get(key) ?? readFile(`${examplesDirectory}${key}`) },
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    logger: { info: () => undefined, warn: () => undefined, error: console.error },
  });
});

afterAll(async () => {
  await backend.close();
  rmSync(directory, { recursive: true });
});

async function read(file: string, parameters: Parameters = {}): Promise<Result> {
  const input = { field: 'image', storageKey: file, mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null };
  const request = {
    jobId: 'job_1',
    endpoint: 'dashboard.read',
    livemode: true,
    testScenario: null,
    reservedCredits: 20,
  };
  const { result, error } = await backend.infer(
    { ...request, parameters, inputs: [input] },
    { signal: new AbortController().signal },
  );
  expect(error).toBeNull();
  return result as Result;
}

test.each(withDashboard)('dashboard.read reads the odometer and the power of the cluster in $file', async (truth) => {
  const { cluster_lit, odometer } = await read(truth.file);
  expect(cluster_lit).toBe(truth.cluster_lit);
  expect(odometer).toMatchObject({
    value: truth.odometer?.value,
    unit: truth.odometer?.unit,
    display_type: truth.odometer?.display_type,
  });
  expect(intersectionOverUnion(cornersOf(odometer?.bbox), cornersOf(truth.odometer?.bbox))).toBeGreaterThan(0.5);
});

test.each(withDashboard)('dashboard.read finds the lamps of $file that are lit, and no others', async (truth) => {
  expect(codes((await read(truth.file)).warning_lights ?? [])).toEqual(codes(truth.warning_lights));
});

test.each(withDashboard)('dashboard.read reads the fuel level of $file to within 5 points', async (truth) => {
  const { fuel_level_percent, fuel_level_confidence } = await read(truth.file);
  expect(Math.abs((fuel_level_percent ?? Number.NaN) - (truth.fuel_level_percent ?? Number.NaN))).toBeLessThanOrEqual(
    5,
  );
  expect(fuel_level_confidence).toBeGreaterThanOrEqual(0.6);
});

test('dashboard.read gives no fuel level from the temperature gauge of a cluster whose fuel gauge is hidden', async () => {
  const night = withDashboard.find(({ file }) => file === 'night-kilometres.jpg');
  const { x = 0, y = 0, width = 0, height = 0 } = night?.fuel_bbox ?? {};
  const grown = { width: Math.ceil(width) + 12, height: Math.ceil(height) + 12 };
  const cover = { create: { ...grown, channels: 3 as const, background: { r: 3, g: 4, b: 4 } } };
  const hidden = sharp(`${examplesDirectory}${night?.file}`).composite([
    { input: cover, left: Math.floor(x) - 6, top: Math.floor(y) - 6 },
  ]);
  replaced.set('hidden.jpg', await hidden.jpeg({ quality: 95 }).toBuffer());
  const { odometer, ...rest } = await read('hidden.jpg');
  expect(odometer?.value).toBe(night?.odometer?.value);
  expect(rest).toMatchObject({ fuel_level_percent: null, fuel_level_confidence: null });
});

test.each(truths.filter(({ dashboard }) => !dashboard))(
  'dashboard.read returns no reading for $file',
  async ({ file }) => {
    expect(await read(file)).toEqual({
      cluster_lit: null,
      odometer: null,
      warning_lights: [],
      fuel_level_percent: null,
      fuel_level_confidence: null,
      quality_issues: [{ reason: 'no_dashboard', confidence: 0.9 }],
    });
  },
);

test('the goldens are those of the installed models', async () => {
  for (const [path, sha256] of Object.entries(goldens.models)) {
    const bytes = await readFile(join(modelsDirectory, path));
    expect([path, createHash('sha256').update(bytes).digest('hex')]).toEqual([path, sha256]);
  }
});

test.each(truths)('dashboard.read matches the Python reader on $file within tolerance', async ({ file }) => {
  const expected = goldens.pictures[file];
  const { odometer, warning_lights, ...rest } = await read(file);
  expect(rest.cluster_lit).toBe(expected?.cluster_lit);
  expect(odometer?.value).toBe(expected?.odometer?.value);
  expect(odometer?.unit).toBe(expected?.odometer?.unit);
  expect(odometer?.display_type).toBe(expected?.odometer?.display_type);
  const lamps = expected?.warning_lights ?? [];
  expect(codes(warning_lights ?? [])).toEqual(codes(lamps));
  for (const lamp of lamps) {
    const nearest = (warning_lights ?? [])
      .filter(({ code }) => code === lamp.code)
      .map((light) => distance(light, lamp));
    expect(Math.min(...nearest)).toBeLessThan(1);
  }
  const fuel = [rest.fuel_level_percent, expected?.fuel_level_percent];
  expect(Math.abs((fuel[0] ?? 0) - (fuel[1] ?? 0))).toBeLessThanOrEqual(1);
  const sure = [rest.fuel_level_confidence, expected?.fuel_level_confidence];
  expect(Math.abs((sure[0] ?? 0) - (sure[1] ?? 0))).toBeLessThanOrEqual(0.02);
});

test('dashboard.read returns boxes in the displayed orientation of a picture with EXIF orientation', async () => {
  const [{ file } = { file: '' }] = withDashboard;
  const upright = await read(file);
  // Rotated by a quarter to the left, with the EXIF orientation that rotates it back.
  const turned = await sharp(await sharp(`${examplesDirectory}${file}`).rotate(270).png().toBuffer())
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 95 })
    .toBuffer();
  replaced.set('turned.jpg', turned);
  const result = await read('turned.jpg');
  expect(result.odometer?.value).toBe(upright.odometer?.value);
  const overlap = intersectionOverUnion(cornersOf(result.odometer?.bbox), cornersOf(upright.odometer?.bbox));
  expect(overlap).toBeGreaterThan(0.9);
});

test('dashboard.read returns null lamps and the same odometer with read_warning_lights=false', async () => {
  const [{ file } = { file: '' }] = withDashboard;
  const { warning_lights, odometer } = await read(file, { read_warning_lights: false });
  expect(warning_lights).toBeNull();
  expect(odometer).toEqual((await read(file)).odometer);
});

interface Found {
  confidence: number;
  bbox: { x: number; y: number; width: number; height: number };
}

/** Maximum corner distance in pixels; a confidence difference of 0.02 counts as one pixel. */
function distance({ confidence, bbox }: Found, expected: { confidence: number; box: Corners }): number {
  const { x0, y0, x1, y1 } = cornersOf(bbox);
  const gaps = [x0, y0, x1, y1].map((value, place) => Math.abs(value - (expected.box[place] ?? Number.NaN)));
  return Math.max(...gaps, Math.abs(confidence - expected.confidence) / 0.02);
}

function cornersOf(bbox: Found['bbox'] | undefined): Box {
  const { x = 0, y = 0, width = 0, height = 0 } = bbox ?? {};
  return { x0: x, y0: y, x1: x + width, y1: y + height };
}

function codes(lamps: readonly { code: string }[]): string[] {
  return lamps.map(({ code }) => code).sort();
}
