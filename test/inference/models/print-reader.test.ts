/** The networks that read print, as a clone has them, on the examples that the project draws. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { tireRead } from '../../../src/endpoints/tire.read/contract.ts';
import { vinRead } from '../../../src/endpoints/vin.read/contract.ts';
import { createOnnxBackend, type OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { noArtefacts, recordingLog, tinyRequest } from '../support/tiny-endpoint.ts';

const EXAMPLES = new URL('../../../training/print-examples/', import.meta.url);

/** On a machine that is busy with other tests. */
const LOADED_WITHIN_MS = 100_000;
let backend: OnnxBackend;
const { log, lines } = recordingLog();

beforeAll(async () => {
  backend = await createOnnxBackend({
    modelsDirectory: fileURLToPath(new URL('../../../models', import.meta.url)),
    store: { get: async (name) => readFileSync(new URL(name, EXAMPLES)) },
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    logger: log,
    patienceMs: LOADED_WITHIN_MS,
    endpoints: [vinRead, tireRead],
    endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
  });
}, 120_000);
afterAll(() => backend.close());

it('serve both endpoints from one set of processes', () => {
  const modelVersion = 'print-reader@2026-11-22';
  expect(backend.installedEndpoints()).toEqual([
    { endpoint: 'vin.read', modelVersion },
    { endpoint: 'tire.read', modelVersion },
  ]);
  expect(backend.loaded).toEqual([modelVersion]);
  expect(backend.pids).toHaveLength(1);
  expect(lines.filter(({ fields }) => 'reason' in fields)).toEqual([]);
});

it.each(JSON.parse(readFileSync(new URL('truth.json', EXAMPLES), 'utf8')) as { file: string; result: object }[])(
  'read $file',
  async ({ file, result }) => {
    const endpoint = file.startsWith('tire') ? 'tire.read' : 'vin.read';
    const inputs = [
      { field: 'image', storageKey: file, mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null },
    ];
    const outcome = await backend.infer(tinyRequest({ endpoint, inputs }), { signal: new AbortController().signal });
    expect(outcome.error).toBeNull();
    expect(outcome.result).toMatchObject(result);
  },
  60_000,
);
