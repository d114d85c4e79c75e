/**
 * Accuracy of the installed models on VINs and tire sidewalls that `print-pictures.ts` draws, measured end to end: file →
 * decoding → pipeline → result, as live mode runs it. Prints a table.
 *
 *     node training/evaluate-text.ts [--models FOLDER] [--seed 7] [--count 100] [--only vin.read] [--keep FOLDER]
 *
 * `--count` is the number of each kind of picture, `--only` selects one of the two endpoints, and `--keep` names a folder for
 * the pictures.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tireRead } from '../src/endpoints/tire.read/contract.ts';
import type { Result as TireResult } from '../src/endpoints/tire.read/result.ts';
import { vinRead } from '../src/endpoints/vin.read/contract.ts';
import type { Result as VinResult } from '../src/endpoints/vin.read/result.ts';
import { createBackend } from '../src/inference/backends/create-backend.ts';
import { boxAround } from '../src/inference/toolkit/decoding/rotated-boxes.ts';
import { wilsonInterval } from './evaluate-figures.ts';
import { drawArc, drawTire, drawVin, randomFrom, VIN_KINDS } from './print-pictures.ts';

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    seed: { type: 'string', default: '7' },
    count: { type: 'string', default: '100' },
    only: { type: 'string' },
    keep: { type: 'string' },
  },
});
const [seed, count] = [Number(options.seed), Number(options.count)];
if (options.keep) await mkdir(options.keep, { recursive: true });

/** Arc of the tire that a size and its service description span. */
const ARCS_DEGREES = [10, 30, 60, 90];

let sent: Buffer = Buffer.alloc(0);
const log = (fields: unknown, message?: string) => process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
const backend = await createBackend({
  modelsDirectory: options.models,
  store: { get: async () => sent },
  writeArtefact: () => Promise.reject(new Error('a reading makes no files')),
  children: 1,
  threads: 1,
  logger: { info: () => undefined, warn: log, error: log },
  endpoints: [vinRead, tireRead],
});

const figures: [name: string, text: string][] = [];
const durationsMs: number[] = [];

try {
  const served = backend.installedEndpoints();
  for (const { slug } of [vinRead, tireRead]) {
    if (!served.some(({ endpoint }) => endpoint === slug))
      throw new Error(`no model in ${options.models} serves ${slug}`);
  }
  console.log(served.map(({ endpoint, modelVersion }) => `${endpoint} by ${modelVersion}`).join(', '));
  if (isAsked(vinRead.slug)) {
    for (const [place, kind] of VIN_KINDS.entries()) await evaluateVins(kind, seed + 1_000_000 * place);
  }
  if (isAsked(tireRead.slug)) {
    await evaluateTires(seed + 1_000_000 * VIN_KINDS.length);
    for (const span of ARCS_DEGREES) await evaluateArcs(span, seed + 1_000_000 * (VIN_KINDS.length + 1));
  }
  const width = Math.max(...figures.map(([name]) => name.length));
  for (const [name, text] of figures) console.log(`${name.padEnd(width)}  ${text}`);
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (share: number) => `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)}`;
  console.log(`${'milliseconds per picture'.padEnd(width)}  median ${at(0.5)}, 95 % within ${at(0.95)}`);
} finally {
  await backend.close();
}

function isAsked(endpoint: string): boolean {
  return options.only === undefined || options.only === endpoint;
}

async function evaluateVins(kind: (typeof VIN_KINDS)[number], firstSeed: number): Promise<void> {
  const outcomes: { truth: string | null; read: string | null; confidence: number }[] = [];
  const shifts: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const { jpeg, vin: truth, places } = await drawVin(kind, randomFrom(firstSeed + index));
    const { vin } = (await read('vin.read', jpeg, `${kind}-${index}`)) as VinResult;
    outcomes.push({ truth, read: vin?.text ?? null, confidence: vin?.confidence ?? 0 });
    if (options.keep && (vin?.text ?? null) !== truth)
      console.log(`${kind}-${index}: ${truth} read as ${vin?.text} ${vin?.confidence}`);
    if (vin && vin.text === truth) {
      for (const [each, { bbox }] of vin.characters.entries()) {
        const cell = boxAround(places[each] ?? []);
        const off = bbox.x + bbox.width / 2 - (cell.x0 + cell.x1) / 2;
        shifts.push(Math.abs(off) / (cell.x1 - cell.x0));
      }
    }
  }
  if (kind === 'without_vin') {
    figures.push([`vin.read, ${kind}: nothing is read`, share(outcomes.filter(({ read }) => read === null).length)]);
    return;
  }
  figures.push([`vin.read, ${kind}: all 17 right`, share(outcomes.filter(({ truth, read }) => truth === read).length)]);
  figures.push([
    `vin.read, ${kind}: wrong`,
    share(outcomes.filter(({ truth, read }) => read !== null && truth !== read).length),
  ]);
  const sure = outcomes.filter(({ confidence }) => confidence >= 0.9);
  const sureAndRight = sure.filter(({ truth, read }) => truth === read);
  figures.push([
    `vin.read, ${kind}: right of those of a confidence of 0.9 or more`,
    `${sureAndRight.length} of ${sure.length}`,
  ]);
  const sorted = shifts.toSorted((a, b) => a - b);
  const at = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN).toFixed(2);
  figures.push([
    `vin.read, ${kind}: middle of a character off, in characters`,
    `median ${at(0.5)}, 95 % within ${at(0.95)}`,
  ]);
}

async function evaluateTires(firstSeed: number): Promise<void> {
  const right = { size: 0, load_index: 0, speed_index: 0, dot: 0, date: 0, brand: 0, marks: 0, all: 0 };
  const wrong = { size: 0, load_index: 0, speed_index: 0, dot: 0, date: 0, brand: 0 };
  for (let index = 0; index < count; index += 1) {
    const truth = await drawTire(randomFrom(firstSeed + index));
    const result = (await read('tire.read', truth.jpeg, `tire-${index}`)) as TireResult;
    const bare = (text: string | undefined) => text?.replaceAll(' ', '') ?? null;
    const names = { mud_and_snow: 'M+S', tubeless: 'TUBELESS', extra_load: 'XL' } as Record<string, string>;
    const found = result.marks.map(({ mark }) => names[mark] ?? mark).toSorted();
    const said: Record<keyof typeof wrong, [actual: unknown, expected: unknown]> = {
      size: [bare(result.size?.text), bare(truth.size)],
      load_index: [result.load_index?.value ?? null, truth.loadIndex],
      speed_index: [result.speed_index?.value ?? null, truth.speedIndex],
      dot: [bare(result.dot?.text), bare(truth.dot)],
      date: [result.dot?.week ? `${result.dot.week}/${result.dot.year}` : null, `${truth.week}/${truth.year}`],
      brand: [result.brand?.value ?? null, truth.brand],
    };
    let isAll = true;
    for (const [name, [actual, expected]] of Object.entries(said) as [keyof typeof wrong, [unknown, unknown]][]) {
      if (actual === expected) right[name] += 1;
      else if (actual !== null) wrong[name] += 1;
      if (actual !== expected) isAll = false;
      if (options.keep && actual !== expected)
        console.log(`tire-${index}: ${name} ${String(expected)} read as ${String(actual)}`);
    }
    const areMarksRight = found.join() === truth.marks.toSorted().join();
    if (areMarksRight) right.marks += 1;
    else if (options.keep) console.log(`tire-${index}: marks ${truth.marks.join()} read as ${found.join()}`);
    if (isAll && areMarksRight) right.all += 1;
  }
  for (const [name, hits] of Object.entries(right)) {
    const misread = wrong[name as keyof typeof wrong];
    figures.push([`tire.read: ${name} right`, `${share(hits)}${misread === undefined ? '' : `, wrong ${misread}`}`]);
  }
}

async function evaluateArcs(span: number, firstSeed: number): Promise<void> {
  let [right, wrong] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    const truth = await drawArc(randomFrom(firstSeed + index), span);
    const { size, load_index, speed_index } = (await read(
      'tire.read',
      truth.jpeg,
      `arc-${span}-${index}`,
    )) as TireResult;
    const actual = [size?.text.replaceAll(' ', ''), load_index?.value, speed_index?.value];
    const expected = [truth.size.replaceAll(' ', ''), truth.loadIndex, truth.speedIndex];
    if (actual.join(' ') === expected.join(' ')) right += 1;
    else if (actual.some((value, place) => value !== undefined && value !== expected[place])) wrong += 1;
    if (options.keep) console.log(`arc-${span}-${index}: ${expected.join(' ')} read as ${actual.join(' ')}`);
  }
  figures.push([`tire.read, along ${span} degrees: size and indexes right`, `${share(right)}, wrong ${wrong}`]);
}

async function read(endpoint: string, jpeg: Buffer, name: string): Promise<unknown> {
  sent = jpeg;
  if (options.keep) await writeFile(join(options.keep, `${name}.jpg`), jpeg);
  const startedAt = performance.now();
  const outcome = await backend.infer(
    {
      jobId: 'job_1111111111111111111111',
      endpoint,
      livemode: true,
      parameters: {},
      inputs: [
        { field: 'image', storageKey: name, mediaType: 'image/jpeg', bytes: jpeg.length, sha256: '', uploadId: null },
      ],
      testScenario: null,
      reservedCredits: 20,
    },
    { signal: new AbortController().signal },
  );
  durationsMs.push(performance.now() - startedAt);
  if (outcome.error) throw new Error(`${name}: ${outcome.error.message}`);
  return outcome.result;
}

function share(hits: number): string {
  const percent = (value: number) => (100 * value).toFixed(1);
  const { low, high } = wilsonInterval(hits, count);
  return `${hits} of ${count}: ${percent(hits / count)} % (${percent(low)} to ${percent(high)})`;
}
