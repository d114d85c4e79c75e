/**
 * Accuracy of the installed model for vehicles and their parts on labelled photographs, measured end to end: file → decoding →
 * pipeline → result, as live mode runs it. Prints a table.
 *
 *     node training/evaluate-parts.ts --pictures FOLDER [--labels FILE] [--wheels FILE] [--models FOLDER]
 *
 * `--pictures` holds `annotations.json` and `images/`, labelled as the DSMLR Car Parts v2 are. `--labels` is a JSON object from
 * file name to `view`, `color` and `body_type` of the vehicle; what it does not name is not measured. `--wheels` is one from file
 * name to boxes `[x0, y0, x1, y1]`, in pixels, of the vehicle's wheels that the labels leave out; wheels are then measured with them too.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { partsSegment } from '../src/endpoints/parts.segment/contract.ts';
import type { Result as PartsResult } from '../src/endpoints/parts.segment/result.ts';
import { tireDetect } from '../src/endpoints/tire.detect/contract.ts';
import type { Result as TiresResult } from '../src/endpoints/tire.detect/result.ts';
import { vehicleIdentify } from '../src/endpoints/vehicle.identify/contract.ts';
import type { Result as IdentityResult } from '../src/endpoints/vehicle.identify/result.ts';
import { vehicleSegment } from '../src/endpoints/vehicle.segment/contract.ts';
import type { Result as VehicleResult } from '../src/endpoints/vehicle.segment/result.ts';
import { createBackend } from '../src/inference/backends/create-backend.ts';
import type { Size } from '../src/inference/toolkit/decoding/boxes.ts';
import type { Point } from '../src/inference/toolkit/decoding/detections.ts';
import { areaOf, boxAround } from '../src/inference/toolkit/decoding/rotated-boxes.ts';
import { fillOutline } from '../src/inference/toolkit/segmentation/outline-mattes.ts';
import { createBoxMatches } from './box-matches.ts';

/** Labels of the data set → parts of the interface; the side where it has one. */
const PARTS: Readonly<Record<string, string>> = {
  back_bumper: 'rear_bumper',
  back_glass: 'rear_windshield',
  back_left_door: 'rear_door.left',
  back_right_door: 'rear_door.right',
  back_left_light: 'taillight.left',
  back_right_light: 'taillight.right',
  front_bumper: 'front_bumper',
  front_glass: 'windshield',
  front_left_door: 'front_door.left',
  front_right_door: 'front_door.right',
  front_left_light: 'headlight.left',
  front_right_light: 'headlight.right',
  hood: 'hood',
  left_mirror: 'mirror.left',
  right_mirror: 'mirror.right',
  tailgate: 'trunk_lid',
  trunk: 'trunk_lid',
  wheel: 'wheel',
};
/** Of a found wheel with a labelled one. */
const WHEEL_IOU = 0.5;
const CLASSES = [...new Set(Object.values(PARTS))];

interface Annotations {
  images: { id: number; file_name: string; width: number; height: number }[];
  categories: { id: number; name: string }[];
  annotations: { image_id: number; category_id: number; segmentation: number[][] }[];
}
interface Outlined {
  name: string;
  outline: readonly Point[];
}

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    pictures: { type: 'string' },
    labels: { type: 'string' },
    wheels: { type: 'string' },
  },
});
if (options.pictures === undefined) throw new Error('--pictures names the folder of the photographs');
const folder = options.pictures;
const truth = JSON.parse(await readFile(join(folder, 'annotations.json'), 'utf8')) as Annotations;
const readJson = async (path: string | undefined) =>
  path === undefined ? {} : (JSON.parse(await readFile(path, 'utf8')) as unknown);
const SUBJECTS = ['view', 'color', 'body_type'] as const;
type Labels = Readonly<Record<string, Partial<Record<(typeof SUBJECTS)[number], string>>>>;
const seen = (await readJson(options.labels)) as Labels;

let sent: Buffer = Buffer.alloc(0);
const log = (fields: unknown, message?: string) => process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
const backend = await createBackend({
  modelsDirectory: options.models,
  store: { get: async () => sent },
  writeArtefact: () => Promise.reject(new Error('outlines make no files')),
  children: 1,
  threads: 1,
  logger: { info: () => undefined, warn: log, error: log },
  endpoints: [partsSegment, tireDetect, vehicleIdentify, vehicleSegment],
});

/** By class, pixels of both and of either, over all pictures. */
const sided = new Map<string, { both: number; either: number }>();
const merged = new Map<string, { both: number; either: number }>();
const parts = { both: 0, either: 0 };
const vehicle = { partsInside: 0, parts: 0, missed: 0 };
const told = Object.fromEntries(
  SUBJECTS.map((subject) => [subject, { right: 0, wrong: [], null: [] }]),
) as unknown as Record<(typeof SUBJECTS)[number], { right: number; wrong: string[]; null: string[] }>;
const leftOut = (await readJson(options.wheels)) as Readonly<Record<string, [number, number, number, number][]>>;
const wheels = createBoxMatches(WHEEL_IOU);
const allWheels = createBoxMatches(WHEEL_IOU);
const durationsMs: number[] = [];

try {
  console.log(
    backend
      .installedEndpoints()
      .map(({ endpoint, modelVersion }) => `${endpoint} by ${modelVersion}`)
      .join(', '),
  );
  for (const image of truth.images) await measure(image);
  print();
} finally {
  await backend.close();
}

async function measure(image: Annotations['images'][number]): Promise<void> {
  sent = await readFile(join(folder, 'images', image.file_name));
  const began = performance.now();
  const result = (await infer('parts.segment', {})) as PartsResult;
  durationsMs.push(performance.now() - began);
  const { vehicles } = (await infer('vehicle.segment', { include_matte: false })) as VehicleResult;
  const { tires } = (await infer('tire.detect', {})) as TiresResult;
  const labels = labelsOf(image);
  const boxes = labels.filter(({ name }) => name === 'wheel').map(({ outline }) => boxAround(outline));
  wheels.add(tires, boxes);
  const more = (leftOut[image.file_name] ?? []).map(([x0, y0, x1, y1]) => ({ x0, y0, x1, y1 }));
  allWheels.add(tires, [...boxes, ...more]);
  const labelled = paint(labels, image);
  const found = paint(
    result.parts.flatMap(({ part, side, polygons }) => {
      const paired = side === 'left' || side === 'right' ? `${part}.${side}` : part;
      return polygons.map((outline) => ({ name: part.endsWith('_wheel') ? 'wheel' : paired, outline }));
    }),
    image,
  );
  count(labelled, found, sided, (name) => name);
  count(labelled, found, merged, (name) => name.split('.')[0] ?? name);
  const inside = vehicles[0] ? fillOutline(vehicles[0].polygon, image) : new Uint8Array(labelled.length);
  if (!vehicles[0]) vehicle.missed += 1;
  for (let pixel = 0; pixel < labelled.length; pixel += 1) {
    if (labelled[pixel] !== -1 || found[pixel] !== -1) parts.either += 1;
    if (labelled[pixel] === -1) continue;
    if (found[pixel] !== -1) parts.both += 1;
    vehicle.parts += 1;
    if (inside[pixel]) vehicle.partsInside += 1;
  }
  const expected = seen[image.file_name];
  if (expected === undefined) return;
  const { color, body_type } = (await infer('vehicle.identify', {})) as IdentityResult;
  const answers = { view: result.view, color, body_type };
  for (const subject of SUBJECTS) {
    if (expected[subject] === undefined) continue;
    const answer = answers[subject];
    const line = `${image.file_name}: ${expected[subject]} as ${answer?.value} ${answer?.confidence.toFixed(2)}`;
    if (!answer) told[subject].null.push(image.file_name);
    else if (answer.value === expected[subject]) told[subject].right += 1;
    else told[subject].wrong.push(line);
  }
}

async function infer(endpoint: string, parameters: Record<string, unknown>): Promise<unknown> {
  const outcome = await backend.infer(
    {
      jobId: 'job_1111111111111111111111',
      endpoint,
      livemode: true,
      parameters,
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
      reservedCredits: 20,
    },
    { signal: new AbortController().signal },
  );
  if (outcome.error) throw new Error(outcome.error.message);
  return outcome.result;
}

function labelsOf({ id }: Annotations['images'][number]): Outlined[] {
  const names = new Map(truth.categories.map((category) => [category.id, category.name]));
  return truth.annotations
    .filter(({ image_id }) => image_id === id)
    .flatMap(({ category_id, segmentation }) => {
      const name = PARTS[names.get(category_id) ?? ''];
      return name === undefined ? [] : segmentation.map((flat) => ({ name, outline: toPoints(flat) }));
    })
    .toSorted((a, b) => areaOf(b.outline) - areaOf(a.outline));
}

function toPoints(flat: readonly number[]): Point[] {
  return Array.from({ length: flat.length / 2 }, (_, index) => ({
    x: flat[2 * index] ?? 0,
    y: flat[2 * index + 1] ?? 0,
  }));
}

/** The class of each pixel, -1 for none; later outlines cover earlier ones. */
function paint(outlines: readonly Outlined[], size: Size): Int16Array {
  const classes = new Int16Array(size.width * size.height).fill(-1);
  for (const { name, outline } of outlines) {
    const index = CLASSES.indexOf(name);
    fillOutline(outline, size).forEach((inside, pixel) => {
      if (inside > 0) classes[pixel] = index;
    });
  }
  return classes;
}

function count(
  labelled: Int16Array,
  found: Int16Array,
  sums: Map<string, { both: number; either: number }>,
  nameOf: (name: string) => string,
): void {
  const names = CLASSES.map(nameOf);
  for (let pixel = 0; pixel < labelled.length; pixel += 1) {
    const [a, b] = [names[labelled[pixel] ?? -1], names[found[pixel] ?? -1]];
    if (a !== undefined) add(sums, a, a === b);
    if (b !== undefined && b !== a) add(sums, b, false);
  }
}

function add(sums: Map<string, { both: number; either: number }>, name: string, isBoth: boolean): void {
  const sum = sums.get(name) ?? { both: 0, either: 0 };
  sum.either += 1;
  if (isBoth) sum.both += 1;
  sums.set(name, sum);
}

function print(): void {
  const iou = ({ both, either }: { both: number; either: number }) => both / either;
  const mean = (sums: Map<string, { both: number; either: number }>) =>
    [...sums.values()].reduce((sum, each) => sum + iou(each), 0) / sums.size;
  const rows: [string, string][] = [
    ...CLASSES.map((name): [string, string] => [name, iou(sided.get(name) ?? { both: 0, either: 1 }).toFixed(3)]),
    [`mean IoU of ${sided.size} classes, wheels as one`, mean(sided).toFixed(3)],
    [`mean IoU of ${merged.size} classes, left and right merged`, mean(merged).toFixed(3)],
    ['all parts against the rest, IoU', iou(parts).toFixed(3)],
    [`wheels: box F1 at IoU ${WHEEL_IOU}`, wheels.f1().toFixed(3)],
    ['the same, with the wheels that the labels leave out', allWheels.f1().toFixed(3)],
    ['vehicle: share of labelled parts inside', (vehicle.partsInside / vehicle.parts).toFixed(3)],
    ['vehicle: pictures without one', `${vehicle.missed} of ${truth.images.length}`],
  ];
  for (const subject of SUBJECTS) {
    const { right, wrong, null: untold } = told[subject];
    const of = right + wrong.length + untold.length;
    if (of > 0) rows.push([`${subject} right, wrong, null`, `${right}, ${wrong.length}, ${untold.length} of ${of}`]);
  }
  const sorted = durationsMs.toSorted((a, b) => a - b);
  rows.push(['milliseconds per picture, median', `${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)}`]);
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, text] of rows) console.log(`${name.padEnd(width)}  ${text}`);
  for (const each of SUBJECTS.flatMap((subject) => told[subject].wrong)) console.log(`  ${each}`);
}
