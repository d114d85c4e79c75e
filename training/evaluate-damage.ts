/**
 * `damage.detect` with the installed model on labelled photographs, measured end to end: file → decoding → pipeline → result, as
 * live mode runs it. Prints a table.
 *
 *     node training/evaluate-damage.ts --damage FOLDER --cars FOLDER [--models FOLDER] [--others FOLDER]
 *
 * `--damage` holds the folders of the sets, as for `training/damage_data.py`; the pictures of `check` in
 * `training/labels/damage-split.json` are measured. `--cars` holds undamaged cars, and `--others` pictures without a vehicle, in
 * any subfolder. Where the sets name parts (those of a collision), the stated part of a damage is compared with them.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { damageDetect } from '../src/endpoints/damage.detect/contract.ts';
import type { Result } from '../src/endpoints/damage.detect/result.ts';
import { createBackend } from '../src/inference/backends/create-backend.ts';
import type { Size } from '../src/inference/toolkit/decoding/boxes.ts';
import type { Point } from '../src/inference/toolkit/decoding/detections.ts';
import { boxAround } from '../src/inference/toolkit/decoding/rotated-boxes.ts';
import { fillOutline } from '../src/inference/toolkit/segmentation/outline-mattes.ts';
import { createBoxMatches } from './box-matches.ts';

const DAMAGES = ['scratch', 'dent', 'damage'];
const PARTS: Readonly<Record<string, string>> = {
  headlamp: 'headlight',
  door: 'door',
  front_bumper: 'front_bumper',
  hood: 'hood',
  rear_bumper: 'rear_bumper',
};
const BOX_IOU = 0.3;

interface Annotations {
  images: { id: number; file_name: string; width: number; height: number }[];
  categories: { id: number; name: string }[];
  annotations: { image_id: number; category_id: number; segmentation: number[][] }[];
}
interface Labelled extends Size {
  file: string;
  damages: Point[][];
  parts: { name: string; outline: Point[] }[];
}

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    damage: { type: 'string' },
    cars: { type: 'string' },
    others: { type: 'string' },
  },
});
if (options.damage === undefined || options.cars === undefined) {
  throw new Error('--damage and --cars name folders of photographs');
}

let sent: Buffer = Buffer.alloc(0);
const log = (fields: unknown, message?: string) => process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
const backend = await createBackend({
  modelsDirectory: options.models,
  store: { get: async () => sent },
  writeArtefact: () => Promise.reject(new Error('damages make no files')),
  children: 1,
  threads: 1,
  logger: { info: () => undefined, warn: log, error: log },
  endpoints: [damageDetect],
});

const damaged = { pictures: 0, seen: 0, hit: 0 };
const boxes = createBoxMatches(BOX_IOU);
const pixels = { both: 0, either: 0 };
const parts = { stated: 0, right: 0, wrong: [] as string[] };
const alarms = new Map<string, { pictures: number; alarms: string[] }>();
const durationsMs: number[] = [];

try {
  console.log(
    backend
      .installedEndpoints()
      .map(({ endpoint, modelVersion }) => `${endpoint} by ${modelVersion}`)
      .join(', '),
  );
  for (const picture of await readChecked(options.damage)) {
    if (picture.damages.length > 0) await measureDamaged(picture);
    else await measureUndamaged('undamaged pictures of the damage sets', picture.file);
  }
  for (const file of await filesIn(options.cars)) await measureUndamaged('whole undamaged cars', file);
  for (const file of options.others === undefined ? [] : await filesIn(options.others)) {
    await measureUndamaged('pictures without a vehicle', file);
  }
  print();
} finally {
  await backend.close();
}

/** The pictures of `check`, those that several sets share once. */
async function readChecked(root: string): Promise<Labelled[]> {
  const split = JSON.parse(await readFile(new URL('labels/damage-split.json', import.meta.url), 'utf8')) as {
    check: string[];
  };
  const byContent = new Map<string, Labelled>();
  for (const set of (await readdir(root)).toSorted()) {
    const truth = JSON.parse(await readFile(join(root, set, 'annotations.json'), 'utf8')) as Annotations;
    const nameOf = new Map(truth.categories.map(({ id, name }) => [id, name]));
    for (const { id, file_name: name, width, height } of truth.images) {
      if (!split.check.includes(`${set}/${name}`)) continue;
      const file = join(root, set, 'images', name);
      const content = (await readFile(file)).toString('base64');
      const labelled = byContent.get(content) ?? { file, width, height, damages: [], parts: [] };
      byContent.set(content, labelled);
      for (const { image_id, category_id, segmentation } of truth.annotations) {
        if (image_id !== id) continue;
        const label = nameOf.get(category_id) ?? '';
        for (const outline of segmentation.map(toPoints)) {
          if (DAMAGES.includes(label) && !isKnown(outline, labelled.damages)) labelled.damages.push(outline);
          else if (PARTS[label] !== undefined) labelled.parts.push({ name: PARTS[label], outline });
        }
      }
    }
  }
  return [...byContent.values()];
}

function isKnown(outline: readonly Point[], others: readonly (readonly Point[])[]): boolean {
  return others.some((other) => JSON.stringify(other) === JSON.stringify(outline));
}

function toPoints(flat: readonly number[]): Point[] {
  return Array.from({ length: flat.length / 2 }, (_, index) => ({
    x: flat[2 * index] ?? 0,
    y: flat[2 * index + 1] ?? 0,
  }));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries
    .filter((name) => /\.(jpe?g|png|webp)$/i.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

async function detect(file: string): Promise<Result['damages']> {
  sent = await readFile(file);
  const began = performance.now();
  const outcome = await backend.infer(
    {
      jobId: 'job_1111111111111111111111',
      endpoint: 'damage.detect',
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
      reservedCredits: 30,
    },
    { signal: new AbortController().signal },
  );
  durationsMs.push(performance.now() - began);
  if (outcome.error) throw new Error(`${file}: ${outcome.error.message}`);
  return (outcome.result as Result).damages;
}

async function measureUndamaged(kind: string, file: string): Promise<void> {
  const count = alarms.get(kind) ?? { pictures: 0, alarms: [] };
  alarms.set(kind, count);
  count.pictures += 1;
  if ((await detect(file)).length > 0) count.alarms.push(file);
}

async function measureDamaged(picture: Labelled): Promise<void> {
  const found = await detect(picture.file);
  const labelled = union(picture.damages, picture);
  const said = union(
    found.map(({ polygon }) => polygon),
    picture,
  );
  const area = picture.width * picture.height;
  let both = 0;
  let either = 0;
  for (let pixel = 0; pixel < area; pixel += 1) {
    if (labelled[pixel] && said[pixel]) both += 1;
    if (labelled[pixel] || said[pixel]) either += 1;
  }
  damaged.pictures += 1;
  if (found.length > 0) damaged.seen += 1;
  if (both > 0) damaged.hit += 1;
  // Every picture weighs the same.
  pixels.both += both / area;
  pixels.either += either / area;
  boxes.add(found, picture.damages.map(boxAround));
  for (const damage of found) comparePart(damage, picture);
}

/** Right if the labelled part that covers most of the damage is the stated one. Damages on no labelled part are left out. */
function comparePart({ part, polygon }: Result['damages'][number], picture: Labelled): void {
  if (part === null || picture.parts.length === 0) return;
  const inside = fillOutline(polygon, picture);
  const shared = picture.parts.map(({ name, outline }) => {
    const filled = fillOutline(outline, picture);
    return { name, pixels: inside.reduce((sum, value, pixel) => sum + (value && filled[pixel] ? 1 : 0), 0) };
  });
  const [most] = shared.toSorted((a, b) => b.pixels - a.pixels);
  const whole = inside.reduce((sum, value) => sum + (value ? 1 : 0), 0);
  if (!most || most.pixels < 0.35 * whole) return;
  parts.stated += 1;
  if (part.replace(/^(front|rear)_door$/, 'door') === most.name) parts.right += 1;
  else parts.wrong.push(`${picture.file}: ${most.name} as ${part}`);
}

function union(outlines: readonly (readonly Point[])[], size: Size): Uint8Array {
  const filled = new Uint8Array(size.width * size.height);
  for (const outline of outlines) {
    fillOutline(outline, size).forEach((value, pixel) => {
      if (value > 0) filled[pixel] = 1;
    });
  }
  return filled;
}

function print(): void {
  const rows: [string, string][] = [
    ['damaged pictures with a damage reported', `${damaged.seen} of ${damaged.pictures}`],
    ['damaged pictures with one reported on a labelled one', `${damaged.hit} of ${damaged.pictures}`],
    ...[...alarms].map(([kind, { pictures, alarms: raised }]): [string, string] => [
      `alarms: ${kind}`,
      `${raised.length} of ${pictures}`,
    ]),
    [`box F1 at IoU ${BOX_IOU}`, boxes.f1().toFixed(3)],
    ['pixel IoU', (pixels.both / pixels.either).toFixed(3)],
    ['part right, where the label tells', `${parts.right} of ${parts.stated}`],
  ];
  const sorted = durationsMs.toSorted((a, b) => a - b);
  rows.push(['milliseconds per picture, median', `${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)}`]);
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, text] of rows) console.log(`${name.padEnd(width)}  ${text}`);
  for (const { alarms: raised } of alarms.values()) for (const file of raised) console.log(`  alarm: ${file}`);
  for (const each of parts.wrong) console.log(`  ${each}`);
}
