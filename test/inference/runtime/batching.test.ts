/** Batches on the real ONNX Runtime, in a real child process. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import type { OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import type { NetworkRun } from '../../../src/inference/runtime/messages.ts';
import { createTinyBackend, recordingLog, tinyAdd, tinyRequest } from '../support/tiny-endpoint.ts';

const tinyLookup: EndpointContract = {
  ...tinyAdd,
  slug: 'tiny.lookup',
  result: Type.Object({ values: Type.Array(Type.Union([Type.Number(), Type.Null()])) }),
};

let onnx: OnnxBackend | null = null;
afterEach(async () => {
  await onnx?.close();
  onnx = null;
});

async function lookUp(indices: number[]): Promise<{ values: unknown; runs: NetworkRun[]; waits: string[] }> {
  const runs: NetworkRun[] = [];
  const waits: string[] = [];
  onnx = await createTinyBackend({
    modelsDirectory: fileURLToPath(new URL('./models/', import.meta.url)),
    store: { get: () => Promise.reject(new Error('unused')) },
    logger: recordingLog().log,
    endpoints: [tinyLookup],
    endpointsDirectory: new URL('./endpoints/', import.meta.url),
    observer: { ran: (run) => runs.push(run), waited: (modelVersion) => waits.push(modelVersion) },
  });
  const request = tinyRequest({ endpoint: 'tiny.lookup', parameters: { indices }, inputs: [] });
  const { result } = await onnx.infer(request, { signal: new AbortController().signal });
  return { values: (result as { values: unknown }).values, runs, waits };
}

test('concurrent runs share a run of the network, up to the maximum in model.json', async () => {
  const { values, runs, waits } = await lookUp([1, 2, 3, 4, 5, 6]);
  expect(values).toEqual([10, 20, 30, 40, 50, 60]);
  // The warm-up is not reported.
  expect(runs.map(({ modelVersion, file, samples }) => `${modelVersion} ${file} ${samples}`)).toEqual([
    'lookup@2026-01-01 lookup 4',
    'lookup@2026-01-01 lookup 2',
  ]);
  expect(waits).toEqual(['lookup@2026-01-01']);
});

test('an input on which the network fails does not fail the others in its batch', async () => {
  const { values, runs } = await lookUp([1, 99, 3]);
  expect(values).toEqual([10, null, 30]);
  expect(runs.map(({ samples }) => samples)).toEqual([3, 1, 1, 1]);
});

test('a model with batches is refused where its network does not return one output per sample', async () => {
  const modelsDirectory = await mkdtemp(join(tmpdir(), 'batching-'));
  const { log, lines } = recordingLog();
  const tiny = new URL('../models/tiny/2026-01-01/', import.meta.url);
  const file = { path: 'summing.onnx', inputs: { x: { shape: ['N'] } }, outputs: { y: { shape: ['N'] } } };
  const summing = await readFile(new URL('./summing.onnx', import.meta.url));
  const sha256 = createHash('sha256').update(summing).digest('hex');
  const manifest = JSON.parse(await readFile(new URL('model.json', tiny), 'utf8')) as Record<string, unknown>;
  const folder = join(modelsDirectory, 'tiny', '2026-01-01');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'summing.onnx'), summing);
  const files = { tiny: { ...file, sha256, batch: { max: 4 } } };
  await writeFile(join(folder, 'model.json'), JSON.stringify({ ...manifest, files, warmUp: { tiny: { x: [1] } } }));
  onnx = await createTinyBackend({
    modelsDirectory,
    store: { get: () => Promise.reject(new Error('unused')) },
    logger: log,
    endpointsDirectory: new URL('../endpoints/', import.meta.url),
  });
  expect(onnx.installedEndpoints()).toEqual([]);
  expect(lines[0]?.fields.reason).toBe("files.tiny.batch.max is 4, but the network's y has 1 samples then");
  await rm(modelsDirectory, { recursive: true });
});
