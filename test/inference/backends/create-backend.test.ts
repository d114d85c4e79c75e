import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Backend, createBackend } from '../../../src/inference/backends/create-backend.ts';
import {
  endpointsDirectory,
  modelsDirectory,
  noArtefacts,
  recordingLog,
  tinyAdd,
  tinyRequest,
} from '../support/tiny-endpoint.ts';

const never = { signal: new AbortController().signal };
let backend: Backend;

beforeAll(async () => {
  const picture = await sharp({ create: { width: 6, height: 6, channels: 3, background: '#888888' } })
    .png()
    .toBuffer();
  backend = await createBackend({
    modelsDirectory: fileURLToPath(modelsDirectory),
    store: { get: async () => picture },
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    logger: recordingLog().log,
    endpoints: [tinyAdd],
    endpointsDirectory,
  });
});

afterAll(() => backend.close());

test('the backend runs a live job on the installed model', async () => {
  expect(backend.modelVersion({ endpoint: 'tiny.add', livemode: true })).toBe('tiny@2026-01-01');
  expect((await backend.infer(tinyRequest({ livemode: true }), never)).result).toMatchObject({ sum: 7 });
});

test('the backend runs a test job on a fixture, even without a model', async () => {
  expect(backend.modelVersion({ endpoint: 'tiny.add', livemode: false })).toMatch(/^fixture@/);
  expect((await backend.infer(tinyRequest({ livemode: false }), never)).result).toMatchObject({ sum: 101 });
});

test('a live job never follows a test scenario', async () => {
  const outcome = await backend.infer(tinyRequest({ livemode: true, testScenario: 'model_error' }), never);
  expect(outcome.status).toBe('succeeded');
});

test('the backend announces what live mode can serve', () => {
  expect(backend.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: 'tiny@2026-01-01' }]);
});
