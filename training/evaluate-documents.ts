/**
 * Accuracy of the installed models on vehicle documents that `document-pictures.ts` draws, measured end to end as live mode
 * runs it. A field is right when its name and its value are those that were drawn. Prints a table.
 *
 *     node training/evaluate-documents.ts [--models FOLDER] [--seed 7] [--count 5] [--turn 0] [--keep FOLDER] [--only KIND]
 *
 * `--count` is the number of each kind of document, `--turn` rotates the pictures by 90, 180 or 270 degrees, and `--keep`
 * names a folder for the pictures and lists the differences.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { documentRead } from '../src/endpoints/document.read/contract.ts';
import type { Result } from '../src/endpoints/document.read/result.ts';
import { createBackend } from '../src/inference/backends/create-backend.ts';
import { DOCUMENT_KINDS, drawDocument } from './document-pictures.ts';
import { randomFrom } from './print-pictures.ts';

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    seed: { type: 'string', default: '7' },
    count: { type: 'string', default: '5' },
    turn: { type: 'string', default: '0' },
    only: { type: 'string' },
    keep: { type: 'string' },
  },
});
const [seed, count] = [Number(options.seed), Number(options.count)];
if (options.keep) await mkdir(options.keep, { recursive: true });

let sent: Buffer = Buffer.alloc(0);
const log = (fields: unknown, message?: string) => process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
const backend = await createBackend({
  modelsDirectory: options.models,
  store: { get: async () => sent },
  writeArtefact: () => Promise.reject(new Error('a reading makes no files')),
  children: 1,
  threads: 1,
  logger: { info: () => undefined, warn: log, error: log },
  endpoints: [documentRead],
});

const totals = { drawn: 0, read: 0, right: 0 };
const durationsMs: number[] = [];

try {
  const [served] = backend.installedEndpoints();
  if (!served) throw new Error(`no model in ${options.models} serves ${documentRead.slug}`);
  console.log(`${served.endpoint} by ${served.modelVersion}, drawings turned by ${options.turn} degrees`);
  console.log('kind                    precision  recall  type  country  page');
  for (const [place, kind] of DOCUMENT_KINDS.entries()) {
    if (options.only === undefined || options.only === kind) await evaluateKind(kind, seed + 1_000_000 * place);
  }
  console.log(`all fields: precision ${share(totals.right, totals.read)}, recall ${share(totals.right, totals.drawn)}`);
  const sorted = durationsMs.toSorted((a, b) => a - b);
  console.log(`milliseconds per picture: median ${Math.round(sorted[sorted.length >> 1] ?? 0)}`);
} finally {
  await backend.close();
}

async function evaluateKind(kind: (typeof DOCUMENT_KINDS)[number], firstSeed: number): Promise<void> {
  const sums = { drawn: 0, read: 0, right: 0, type: 0, country: 0, page: 0 };
  for (let index = 0; index < count; index += 1) {
    const truth = await drawDocument(kind, randomFrom(firstSeed + index), Number(options.turn));
    const name = `${kind.replaceAll(' ', '-')}-${index}`;
    const result = await read(truth.jpeg, name);
    const missed = truth.fields.map(({ name: field, value }) => `${field}=${value}`);
    const wrong: string[] = [];
    for (const field of result.fields) {
      const found = missed.indexOf(`${field.name}=${field.value}`);
      if (found >= 0) missed.splice(found, 1);
      else wrong.push(`${field.name}=${field.value} (${field.label}, ${field.confidence.toFixed(2)})`);
    }
    sums.drawn += truth.fields.length;
    sums.read += result.fields.length;
    sums.right += truth.fields.length - missed.length;
    sums.type += Number(result.document_type?.value === truth.type);
    sums.country += Number((result.country?.value ?? null) === truth.country);
    sums.page += Number(result.pages.length === 1);
    if (options.keep && missed.length + wrong.length > 0) {
      console.log(`  ${name}\n    missed: ${missed.join(' | ')}\n    wrong:  ${wrong.join(' | ')}`);
    }
  }
  for (const key of ['drawn', 'read', 'right'] as const) totals[key] += sums[key];
  const cells = [share(sums.right, sums.read).padStart(10), share(sums.right, sums.drawn).padStart(7)];
  const whole = [sums.type, sums.country, sums.page].map((hits) => `${hits}/${count}`.padStart(6));
  console.log(`${kind.padEnd(22)} ${cells.join(' ')} ${whole.join(' ')}`);
}

function share(hits: number, all: number): string {
  return all === 0 ? 'none' : `${((100 * hits) / all).toFixed(1)} %`;
}

async function read(jpeg: Buffer, name: string): Promise<Result> {
  sent = jpeg;
  if (options.keep) await writeFile(join(options.keep, `${name}.jpg`), jpeg);
  const startedAt = performance.now();
  const outcome = await backend.infer(
    {
      jobId: 'job_1111111111111111111111',
      endpoint: 'document.read',
      livemode: true,
      parameters: {},
      inputs: [
        { field: 'images', storageKey: name, mediaType: 'image/jpeg', bytes: jpeg.length, sha256: '', uploadId: null },
      ],
      testScenario: null,
      reservedCredits: 20,
    },
    { signal: new AbortController().signal },
  );
  durationsMs.push(performance.now() - startedAt);
  if (outcome.error) throw new Error(`${name}: ${outcome.error.message}`);
  return outcome.result as Result;
}
