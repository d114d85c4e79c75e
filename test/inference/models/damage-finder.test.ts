/** The network that outlines damages, as a clone has it, on pictures that the project draws. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { damageDetect } from '../../../src/endpoints/damage.detect/contract.ts';
import type { Result } from '../../../src/endpoints/damage.detect/result.ts';
import { damageSeverity } from '../../../src/endpoints/damage.severity/contract.ts';
import type { Result as Grades } from '../../../src/endpoints/damage.severity/result.ts';
import { createOnnxBackend, type OnnxBackend } from '../../../src/inference/backends/onnx-backend.ts';
import { noArtefacts, recordingLog, tinyRequest } from '../support/tiny-endpoint.ts';

const modelVersion = 'damage-finder@2026-11-24';
/** A drawn car without damage, its right side towards the viewer. */
const CAR = 'render.360/fixtures/example-5.jpg';
/** Another one from behind and the right, with a scuffed rear bumper. */
const SCUFFED = 'render.360/fixtures/example-4.jpg';
/** On a machine that is busy with other tests. */
const LOADED_WITHIN_MS = 280_000;

let backend: OnnxBackend;
const { log, lines } = recordingLog();
const fixture = (name: string) => readFileSync(new URL(`../../../src/endpoints/${name}`, import.meta.url));

beforeAll(async () => {
  backend = await createOnnxBackend({
    modelsDirectory: fileURLToPath(new URL('../../../models', import.meta.url)),
    store: { get: async (name) => fixture(name) },
    writeArtefact: noArtefacts,
    children: 1,
    threads: 1,
    logger: log,
    patienceMs: LOADED_WITHIN_MS,
    endpoints: [damageDetect, damageSeverity],
    endpointsDirectory: new URL('../../../src/endpoints/', import.meta.url),
  });
}, 300_000);
afterAll(() => backend.close());

async function ask(endpoint: string, file: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
  const inputs = [{ field: 'image', storageKey: file, mediaType: 'image/jpeg', bytes: 1, sha256: '', uploadId: null }];
  const outcome = await backend.infer(tinyRequest({ endpoint, parameters, inputs }), {
    signal: new AbortController().signal,
  });
  expect(outcome.error).toBeNull();
  return outcome.result;
}

it('the damage finder serves both endpoints from one set of processes', () => {
  expect(backend.installedEndpoints()).toEqual(
    ['damage.detect', 'damage.severity'].map((endpoint) => ({ endpoint, modelVersion })),
  );
  expect(backend.loaded).toEqual([modelVersion]);
  expect(lines.filter(({ fields }) => 'reason' in fields)).toEqual([]);
});

it('the damage finder finds no damage on a drawn car, and lists the parts that it examined', async () => {
  const { damages, parts_seen: parts, view } = (await ask('damage.detect', CAR)) as Result;
  expect(damages).toEqual([]);
  expect(view?.value).toBe('right');
  expect(parts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ part: 'front_door', side: 'right' }),
      expect.objectContaining({ part: 'front_wheel', side: 'right' }),
    ]),
  );
  expect(await ask('damage.severity', CAR)).toEqual({ overall: null, damages: [], quality_issues: [] });
}, 300_000);

it.each(['dashboard.read', 'document.read', 'engine.detect'])(
  'the damage finder invents nothing on the example of %s',
  async (endpoint) => {
    const file = `${endpoint}/fixtures/example.jpg`;
    expect(await ask('damage.detect', file)).toEqual({ view: null, parts_seen: [], damages: [], quality_issues: [] });
    expect(await ask('damage.severity', file)).toEqual({ overall: null, damages: [], quality_issues: [] });
  },
  300_000,
);

it('the damage finder finds the scuff on the bumper, with its part, its place and its size', async () => {
  const { damages } = (await ask('damage.detect', SCUFFED)) as Result;
  expect(damages).toHaveLength(1);
  const [{ bbox, size, ...damage } = { bbox: undefined, size: null }] = damages;
  expect(damage).toMatchObject({ type: 'scratch', part: 'rear_bumper', side: 'none' });
  // Where it was drawn, in a picture of 480 × 320 pixels.
  expect((bbox?.x ?? 0) + (bbox?.width ?? 0) / 2).toBeCloseTo(151, -1.5);
  expect((bbox?.y ?? 0) + (bbox?.height ?? 0) / 2).toBeCloseTo(216, -1.5);
  expect(size?.length_mm).toBeGreaterThan(150);
  expect(size?.length_mm).toBeLessThan(600);
}, 300_000);

it('damages that damage.severity finds itself get the grades that they get when the request names them', async () => {
  const found = (await ask('damage.severity', SCUFFED)) as Grades;
  expect(found).toMatchObject({
    damages: [{ type: 'scratch', part: 'rear_bumper', material: { value: 'plastic' } }],
    overall: { drivable: { value: true }, total_loss: { value: false } },
  });
  const { damages } = (await ask('damage.detect', SCUFFED)) as Result;
  expect(await ask('damage.severity', SCUFFED, { damages })).toEqual(found);
}, 300_000);
