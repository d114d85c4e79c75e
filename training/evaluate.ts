/**
 * Accuracy of the installed reference models on pictures that training never saw, measured end to end: file → decoding →
 * pipeline → result, as live mode runs it. Prints a table.
 *
 *     npm run -s models:evaluate -- [--seed 20261121] [--count 300] [--pictures FOLDER] [--models FOLDER]
 *
 * `--pictures` takes a folder of pictures with a `truth.jsonl` instead of rendering the set.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dashboardRead } from '../src/endpoints/dashboard.read/contract.ts';
import type { Result } from '../src/endpoints/dashboard.read/result.ts';
import { type Backend, createBackend } from '../src/inference/backends/create-backend.ts';
import { figuresOf, type Reading } from './evaluate-figures.ts';
import { fingerprint, heldOutSet, readTruth } from './evaluate-held-out-set.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '20261121' },
    count: { type: 'string', default: '300' },
    pictures: { type: 'string' },
    models: { type: 'string', default: join(root, 'models') },
  },
});

const cache = join(root, 'training', '.cache');
const folder = options.pictures ?? (await heldOutSet(root, cache, Number(options.seed), Number(options.count)));
const log = (fields: unknown, message?: string) => process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`);
const backend = await createBackend({
  modelsDirectory: options.models,
  store: { get: (file) => readFile(join(folder, file)) },
  writeArtefact: () => Promise.reject(new Error('a reading makes no files')),
  children: 1,
  threads: 1,
  logger: { info: log, warn: log, error: log },
  endpoints: [dashboardRead],
});

try {
  const [installed] = backend.installedEndpoints();
  if (!installed) throw new Error(`no model in ${options.models} can be used`);
  const readings: Reading[] = [];
  const durationsMs: number[] = [];
  for (const truth of await readTruth(folder)) {
    const startedAt = performance.now();
    readings.push({ truth, result: await read(backend, truth.file) });
    durationsMs.push(performance.now() - startedAt);
  }
  console.log(`${installed.endpoint} by ${installed.modelVersion}, 95 % Wilson intervals`);
  console.log(`${readings.length} pictures with the fingerprint ${await fingerprint(folder)}\n`);
  const figures = figuresOf(readings);
  const width = Math.max(...figures.map(({ name }) => name.length));
  for (const { name, text } of figures) console.log(`${name.padEnd(width)}  ${text}`);
  console.log(`\n${'milliseconds per picture'.padEnd(width)}  ${describeDurations(durationsMs)}`);
} finally {
  await backend.close();
}

async function read(backend: Backend, file: string): Promise<Result> {
  const request = { jobId: file, endpoint: 'dashboard.read', livemode: true, parameters: {}, testScenario: null };
  const input = { field: 'image', storageKey: file, mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null };
  const { result, error } = await backend.infer(
    { ...request, inputs: [input], reservedCredits: 0 },
    { signal: AbortSignal.timeout(60_000) },
  );
  if (error) throw new Error(`${file}: ${error.message}`);
  return result as Result;
}

function describeDurations(durationsMs: readonly number[]): string {
  const sorted = [...durationsMs].sort((a, b) => a - b);
  const quantile = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(0);
  return `median ${quantile(0.5)}, 95th percentile ${quantile(0.95)} (one child process, one thread)`;
}
