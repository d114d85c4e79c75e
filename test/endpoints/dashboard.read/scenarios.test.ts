import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Parameters } from '../../../src/endpoints/dashboard.read/request.ts';
import type { Result } from '../../../src/endpoints/dashboard.read/result.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../../src/inference/backends/fixture-backend.ts';
import { readTruth } from '../../../training/evaluate-held-out-set.ts';
import { noArtefacts } from '../../inference/support/tiny-endpoint.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const endpointsDirectory = new URL('../../../src/endpoints/', import.meta.url);
const examplesDirectory = new URL('../../../training/examples/', import.meta.url);
const truths = await readTruth(fileURLToPath(examplesDirectory));
const fixture = createFixtureBackend({ logger: log, endpoints, endpointsDirectory, writeArtefact: noArtefacts });

async function read(testScenario: string | null, parameters: Parameters = {}): Promise<Result> {
  const request = { jobId: 'job_1', endpoint: 'dashboard.read', livemode: false, inputs: [], reservedCredits: 20 };
  const { result } = await fixture.infer(
    { ...request, parameters, testScenario },
    { signal: new AbortController().signal },
  );
  return result as Result;
}

test.each([
  [null, 'night-kilometres.jpg'],
  ['low_confidence', 'night-kilometres.jpg'],
  ['unit_unknown', 'day-mechanical-drums.jpg'],
])('the fixture of the scenario %s matches the drawing %s', async (scenario, file) => {
  const truth = truths.find((known) => known.file === file);
  const { cluster_lit, odometer, warning_lights, fuel_level_percent } = await read(scenario);
  expect({ cluster_lit, fuel_level_percent }).toEqual({
    cluster_lit: truth?.cluster_lit,
    fuel_level_percent: truth?.fuel_level_percent,
  });
  const { confidence: _, ...reading } = odometer ?? { confidence: 0 };
  expect(truth?.odometer).toMatchObject(reading);
  expect(Object.keys(reading)).toHaveLength(4);
  const places = warning_lights?.map(({ code, bbox }) => ({ code, bbox }));
  expect(places).toHaveLength(truth?.warning_lights.length ?? -1);
  expect(places).toEqual(expect.arrayContaining([...(truth?.warning_lights ?? [])]));
});

test('the example picture of the default fixture is the drawing that it describes', () => {
  const example = readFileSync(new URL('dashboard.read/fixtures/example.jpg', endpointsDirectory));
  expect(example.equals(readFileSync(new URL('night-kilometres.jpg', examplesDirectory)))).toBe(true);
});

test('the scenario default has a reading, a unit, warning lights of both grades and a fuel level', async () => {
  const { cluster_lit, odometer, warning_lights, fuel_level_percent } = await read(null);
  expect(cluster_lit).toBe(true);
  expect(odometer?.unit).not.toBeNull();
  expect(new Set(warning_lights?.map(({ severity }) => severity))).toEqual(new Set(['stop', 'advisory']));
  expect(fuel_level_percent).not.toBeNull();
});

test('the scenario cluster_off has an unlit cluster and no readings', async () => {
  expect(await read('cluster_off')).toEqual({
    cluster_lit: false,
    odometer: null,
    warning_lights: [],
    fuel_level_percent: null,
    fuel_level_confidence: null,
    quality_issues: [{ reason: 'no_odometer', confidence: 0.9 }],
  });
});

test('the scenario unit_unknown has a null unit without unit_hint', async () => {
  expect((await read('unit_unknown')).odometer?.unit).toBeNull();
  expect((await read('unit_unknown', { unit_hint: 'mi' })).odometer?.unit).toBe('mi');
});

test('dashboard.read prefers the displayed unit to unit_hint', async () => {
  expect((await read(null, { unit_hint: 'mi' })).odometer?.unit).toBe('km');
});

test('read_warning_lights=false makes the warning lights null, not an empty list, and leaves the rest', async () => {
  const { warning_lights, ...rest } = await read(null, { read_warning_lights: false });
  const { warning_lights: _, ...unasked } = await read(null);
  expect(warning_lights).toBeNull();
  expect(rest).toEqual(unasked);
});
