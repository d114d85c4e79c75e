/**
 * How tightly the installed model outlines whole vehicles, on outlines drawn by eye, end to end: file → decoding → pipeline →
 * result, as live mode runs it. Prints a table.
 *
 *     node training/evaluate-outlines.ts --pictures FOLDER [--use judge|tune] [--models FOLDER] [--each]
 *
 * `--pictures` holds the photographs that `training/labels/outlines.json` names. Those marked `tune` chose the numbers of the method;
 * the figures of a card are those marked `judge`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { ArtefactFile } from '../src/artefacts/artefact-writer.ts';
import { vehicleSegment } from '../src/endpoints/vehicle.segment/contract.ts';
import type { Result } from '../src/endpoints/vehicle.segment/result.ts';
import { createBackend } from '../src/inference/backends/create-backend.ts';
import type { Size } from '../src/inference/toolkit/decoding/boxes.ts';
import { fillOutline } from '../src/inference/toolkit/segmentation/outline-mattes.ts';

/** Distance within which two boundaries agree, in pixels of the picture. */
const TOLERANCE_PIXELS = 5;

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    pictures: { type: 'string' },
    use: { type: 'string', default: 'judge' },
    each: { type: 'boolean', default: false },
  },
});
if (options.pictures === undefined) throw new Error('--pictures names the folder of the photographs');
const folder = options.pictures;
type Labels = Record<string, { use: string; outline: [number, number][] }>;
const labels = JSON.parse(await readFile(new URL('labels/outlines.json', import.meta.url), 'utf8')) as Labels;

let sent: Buffer = Buffer.alloc(0);
let files: ArtefactFile[] = [];
const log = (fields: unknown, message?: string) => process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
const backend = await createBackend({
  modelsDirectory: options.models,
  store: { get: async () => sent },
  writeArtefact: async (file) => {
    files.push(file);
    const { content, mediaType, extension, width, height } = file;
    return {
      id: 'art_1111111111111111111111',
      object: 'artefact',
      media_type: mediaType,
      bytes: content.byteLength,
      width,
      height,
      url: `https://artefacts.example/picture.${extension}`,
      expires_at: 1_800_000_000,
    };
  },
  children: 1,
  threads: 1,
  logger: { info: () => undefined, warn: log, error: log },
  endpoints: [vehicleSegment],
});

const scores: Record<string, { iou: number; boundary: number }[]> = { outline: [], matte: [] };
const durationsMs: number[] = [];
try {
  // A busy machine takes longer to load a model than the backend waits for.
  for (let tries = 0; backend.installedEndpoints().length < 1 && tries < 120; tries += 1) await pause(1000);
  for (const [name, label] of Object.entries(labels)) {
    if (label.use !== options.use) continue;
    sent = await readFile(join(folder, name));
    const { width, height } = await sharp(sent).metadata();
    const size = { width, height };
    const truth = fillOutline(
      label.outline.map(([x, y]) => ({ x, y })),
      size,
    );
    const began = performance.now();
    files = [];
    const { vehicles } = (await infer('vehicle.segment')) as Result;
    durationsMs.push(performance.now() - began);
    const outlined = fillOutline(vehicles[0]?.polygon ?? [], size);
    const made = { outline: outlined, matte: await matteOf(size) };
    const line = Object.entries(made).map(([measured, mask]) => {
      const score = { iou: iouOf(mask, truth), boundary: boundaryScore(mask, truth, size) };
      scores[measured]?.push(score);
      return `${score.iou.toFixed(3)} ${score.boundary.toFixed(3)}`;
    });
    if (options.each) console.log(`${name.padEnd(12)}  ${line.join('   ')}`);
  }
  for (const [measured, each] of Object.entries(scores)) {
    const mean = (key: 'iou' | 'boundary') => each.reduce((sum, score) => sum + score[key], 0) / each.length;
    console.log(
      `${measured.padEnd(8)} IoU ${mean('iou').toFixed(3)}, boundary F within ${TOLERANCE_PIXELS} pixels ${mean('boundary').toFixed(3)}, ${each.length} pictures`,
    );
  }
  const sorted = durationsMs.toSorted((a, b) => a - b);
  console.log(`vehicle.segment, median: ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms`);
} finally {
  await backend.close();
}

/** What is more than half opaque in the matte, by which `render.background` cuts out. */
async function matteOf(size: Size): Promise<Uint8Array> {
  const [file] = files;
  if (!file) return new Uint8Array(size.width * size.height);
  const data = await sharp(file.content).toColourspace('b-w').raw().toBuffer();
  return Uint8Array.from(data, (opacity) => (opacity >= 128 ? 255 : 0));
}

async function infer(endpoint: string): Promise<unknown> {
  const outcome = await backend.infer(
    {
      jobId: 'job_1111111111111111111111',
      endpoint,
      livemode: true,
      parameters: {},
      inputs: [
        {
          field: 'image',
          storageKey: 'picture',
          mediaType: 'image/jpeg',
          bytes: sent.length,
          sha256: '',
          uploadId: null,
        },
      ],
      testScenario: null,
      reservedCredits: 100,
    },
    { signal: new AbortController().signal },
  );
  if (outcome.error) throw new Error(outcome.error.message);
  return outcome.result;
}

function iouOf(one: Uint8Array, other: Uint8Array): number {
  let [both, either] = [0, 0];
  for (let pixel = 0; pixel < one.length; pixel += 1) {
    if (one[pixel] && other[pixel]) both += 1;
    if (one[pixel] || other[pixel]) either += 1;
  }
  return either === 0 ? 1 : both / either;
}

/** Harmonic mean of the shares of each boundary that lie within the tolerance of the other. */
function boundaryScore(one: Uint8Array, other: Uint8Array, size: Size): number {
  const [first, second] = [boundaryOf(one, size), boundaryOf(other, size)];
  const [precision, recall] = [shareNear(first, second, size), shareNear(second, first, size)];
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}

/** Pixels inside with a neighbour outside; the edges of the picture bound nothing. */
function boundaryOf(mask: Uint8Array, { width, height }: Size): number[] {
  return [...mask.keys()].filter((pixel) => {
    if (!mask[pixel]) return false;
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    return (
      (x > 0 && !mask[pixel - 1]) ||
      (x < width - 1 && !mask[pixel + 1]) ||
      (y > 0 && !mask[pixel - width]) ||
      (y < height - 1 && !mask[pixel + width])
    );
  });
}

function shareNear(boundary: readonly number[], other: readonly number[], { width, height }: Size): number {
  if (boundary.length === 0) return 0;
  const near = new Uint8Array(width * height);
  for (const pixel of other) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    for (let dy = -TOLERANCE_PIXELS; dy <= TOLERANCE_PIXELS; dy += 1) {
      for (let dx = -TOLERANCE_PIXELS; dx <= TOLERANCE_PIXELS; dx += 1) {
        const [column, row] = [x + dx, y + dy];
        if (dx * dx + dy * dy > TOLERANCE_PIXELS ** 2 || column < 0 || row < 0 || column >= width || row >= height)
          continue;
        near[row * width + column] = 1;
      }
    }
  }
  return boundary.filter((pixel) => near[pixel]).length / boundary.length;
}
