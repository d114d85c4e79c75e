/**
 * How well the reading endpoints read, from the file to the result, beside their networks alone and Tesseract. Prints
 * one table for each endpoint, with 95 % Wilson intervals; docs/models.md explains its columns.
 *
 *     npm run -s models:evaluate -- [--only plate.read,vin.read] [--count 20] [--bad 20] [--seed 20261121]
 *                                   [--models FOLDER] [--photographs FOLDER] [--clusters]
 *                                   [--readers product,print,tesseract] [--no-large] [--json FILE]
 *
 * `--count` is the number of drawings of each kind, `--bad` that of drawings as bad photographs show them. `--photographs`
 * names a folder of real pictures; without one they are left out. `--clusters` also renders instrument clusters, with Python.
 * `--count 0` leaves the drawings of each kind out. `--no-large` leaves the picture of 12 megapixels out. `--json` keeps every
 * verdict.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { type ClusterReading, figuresOf } from './evaluate-figures.ts';
import { cpuMilliseconds, openPrint, openProduct, openTesseract, type Reader } from './evaluate-readers.ts';
import {
  judge,
  judgeLines,
  type Outcome,
  reliabilityText,
  shareText,
  tableText,
  tally,
  type Verdict,
} from './evaluate-score.ts';
import { type Case, EVALUATED, type EvaluatedEndpoint } from './evaluate-sets.ts';

const { values: options } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: 'string' },
    count: { type: 'string', default: '20' },
    bad: { type: 'string', default: '20' },
    seed: { type: 'string', default: '20261121' },
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    photographs: { type: 'string' },
    clusters: { type: 'boolean', default: false },
    readers: { type: 'string', default: 'product,print,tesseract' },
    large: { type: 'boolean', default: true },
    json: { type: 'string' },
  },
});
const { photographs, clusters } = options;
const [seed, count, bad] = [Number(options.seed), Number(options.count), Number(options.bad)];

const HEADER = ['Pictures', 'Reader', 'Exact', 'Character errors', 'Wrong', 'With `?`', 'Null', 'Invented', 'ms'];
/** Most names that get a row of their own, and only of the product. */
const MOST_PARTS = 10;
const asItIs: Fold = (text) => text;
/** 12 megapixels. */
const LARGE = { width: 4000, height: 3000 };

const open = await openProduct(options.models);
const readerNames = options.readers.split(',');
const print = readerNames.includes('print') ? await openPrint(open) : null;
const tesseract = readerNames.includes('tesseract') ? openTesseract() : null;
const lineReaders = [print, tesseract].filter((reader) => reader !== null);
const outcomes: Outcome[] = [];

console.log(
  `Drawings of seed ${seed}, ${count} of each kind, ${bad} taken badly. Photographs: ${photographs ? 'given' : 'none given, left out'}.`,
);
if (readerNames.includes('tesseract') && !tesseract) console.log('Tesseract: not installed.');
if (!clusters) console.log('Clusters held out of training: not asked for (--clusters).');
for (const each of EVALUATED) {
  if (options.only !== undefined && !options.only.split(',').includes(each.contract.slug)) continue;
  await evaluate(each);
  if (!options.json) continue;
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, JSON.stringify(outcomes));
}

async function evaluate(endpoint: EvaluatedEndpoint): Promise<void> {
  const { slug } = endpoint.contract;
  const { version, read } = await open(slug);
  console.log(`\n## ${slug} by ${version}\n`);
  const reader: Reader<unknown> = { name: 'product', read };
  const own: Outcome[] = [];
  const clustersRead: ClusterReading[] = [];
  let example: Buffer | undefined;
  for (const set of await endpoint.sets({ seed, count, bad, photographs, clusters })) {
    const cases = await set.cases();
    if (cases.length === 0) continue;
    example ??= cases[0]?.jpeg;
    const about = {
      endpoint: slug,
      version,
      set: { name: set.name, source: set.source },
      pictures: cases.length,
      negatives: cases.filter(({ shown }) => shown.length === 0).length,
    };
    const { alike } = endpoint;
    const isLoose = alike !== undefined && set.source === 'photographs';
    const results = await readAll(reader, cases);
    const judged = (fold: Fold) =>
      cases.flatMap(({ shown }, index) =>
        judge(folded(shown, fold), folded(endpoint.readings(results.outputs[index]), fold), endpoint.several),
      );
    const { milliseconds } = results;
    own.push({ ...about, reader: reader.name, verdicts: judged(asItIs), milliseconds });
    if (isLoose) own.push({ ...about, reader: `product, ${alike.name}`, verdicts: judged(alike.fold), milliseconds });
    for (const lineReader of lineReaders) {
      const [name, fold] = isLoose ? [`${lineReader.name}, ${alike.name}`, alike.fold] : [lineReader.name, asItIs];
      own.push({ ...about, reader: name, ...(await judgeReader(lineReader, cases, fold)) });
    }
    for (const [index, { cluster }] of cases.entries()) {
      if (cluster) clustersRead.push({ truth: cluster, result: results.outputs[index] as ClusterReading['result'] });
    }
  }
  outcomes.push(...own);
  console.log(`${tableText([HEADER, ...own.flatMap(rowsOf)])}\n`);
  printReliability(own.filter((outcome) => outcome.reader === reader.name));
  for (const { name, text } of figuresOf(clustersRead)) console.log(`- ${name}: ${text}`);
  if (example === undefined || !options.large) return;
  console.log(`\nA picture of 12 megapixels, ms: ${await largeText([reader, ...lineReaders], example)}`);
}

type Fold = (text: string) => string;

function folded<Value extends { text: string }>(values: readonly Value[], fold: Fold): Value[] {
  return values.map((value) => ({ ...value, text: fold(value.text) }));
}

async function judgeReader(reader: Reader<string[]>, cases: readonly Case[], fold: Fold) {
  const { outputs, milliseconds } = await readAll(reader, cases);
  const verdicts = cases.flatMap(({ shown }, index) =>
    judgeLines(
      folded(shown, fold),
      (outputs[index] ?? []).map((line) => fold(line.toUpperCase())),
    ),
  );
  return { verdicts, milliseconds };
}

/** One after the other. @returns the mean CPU time of a picture; without it, by the clock */
async function readAll<Output>(
  { read }: Reader<Output>,
  cases: readonly Pick<Case, 'jpeg'>[],
): Promise<{ outputs: Output[]; milliseconds: number }> {
  const [before, startedAtMs] = [cpuMilliseconds(), performance.now()];
  const outputs: Output[] = [];
  for (const { jpeg } of cases) outputs.push(await read(jpeg));
  const after = cpuMilliseconds();
  const milliseconds = before === null || after === null ? performance.now() - startedAtMs : after - before;
  return { outputs, milliseconds: milliseconds / cases.length };
}

function rowsOf(outcome: Outcome): string[][] {
  const { set, reader, pictures, negatives, verdicts, milliseconds } = outcome;
  const row = (name: string, of: readonly Verdict[], ms: string) => {
    const { shown, exact, wrong, unknown, null: missing, invented, characterErrorRate } = tally(of);
    // Lines claim nothing, so none of them is wrong.
    const counts = !reader.startsWith('product') ? ['', '', '', ''] : [wrong, unknown, missing, invented].map(String);
    const rate = shown === 0 ? '–' : `${(100 * characterErrorRate).toFixed(1)} %`;
    return [name, reader, shareText(exact, shown), rate, ...counts, ms];
  };
  const title = `${set.name}, ${pictures}${negatives > 0 && negatives < pictures ? ` (${negatives} with nothing to read)` : ''}`;
  const names = [...new Set(verdicts.map(({ name }) => name))];
  const parts = reader === 'product' && names.length > 1 && names.length <= MOST_PARTS ? names : [];
  return [
    row(title, verdicts, milliseconds.toFixed(0)),
    ...parts.map((name) =>
      row(
        `– ${name}`,
        verdicts.filter((each) => each.name === name),
        '',
      ),
    ),
  ];
}

function printReliability(own: readonly Outcome[]): void {
  for (const source of ['drawings', 'photographs'] as const) {
    const verdicts = own.filter(({ set }) => set.source === source).flatMap((outcome) => outcome.verdicts);
    const text = reliabilityText(verdicts);
    if (text !== null) console.log(`Confidences, ${source}: ${text}`);
  }
}

async function largeText(readers: readonly Reader<unknown>[], example: Buffer): Promise<string> {
  const jpeg = await sharp(example)
    .resize({ ...LARGE, fit: 'fill' })
    .jpeg({ quality: 90 })
    .toBuffer();
  const texts: string[] = [];
  for (const reader of readers) {
    const { milliseconds } = await readAll(reader, [{ jpeg }, { jpeg }]);
    texts.push(`${reader.name} ${milliseconds.toFixed(0)}`);
  }
  return texts.join(', ');
}
