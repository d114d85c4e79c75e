import { expect, test } from '@jest/globals';
import type { Parameters } from '../../../src/endpoints/dashboard.read/request.ts';
import type { Result } from '../../../src/endpoints/dashboard.read/result.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../../src/inference/fixture-backend.ts';
import { noArtefacts } from '../../inference/tiny-endpoint.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const endpointsDirectory = new URL('../../../src/endpoints/', import.meta.url);
const fixture = createFixtureBackend({ logger: log, endpoints, endpointsDirectory, writeArtefact: noArtefacts });

async function read(testScenario: string | null, parameters: Parameters = {}): Promise<Result> {
  const request = { jobId: 'job_1', endpoint: 'dashboard.read', livemode: false, inputs: [], reservedCredits: 20 };
  const { result } = await fixture.infer(
    { ...request, parameters, testScenario },
    { signal: new AbortController().signal },
  );
  return result as Result;
}

test('the default fixture has a reading, its unit, warning lights of both grades and a fuel level', async () => {
  const { cluster_lit, odometer, warning_lights, fuel_level_percent } = await read(null);
  expect(cluster_lit).toBe(true);
  expect(odometer?.unit).not.toBeNull();
  expect(new Set(warning_lights.map(({ severity }) => severity))).toEqual(new Set(['stop', 'advisory']));
  expect(fuel_level_percent).not.toBeNull();
});

test('cluster_off says that the cluster is not lit, and reads nothing', async () => {
  expect(await read('cluster_off')).toEqual({
    cluster_lit: false,
    odometer: null,
    warning_lights: [],
    fuel_level_percent: null,
  });
});

test('unit_unknown leaves the unit open unless unit_hint tells it', async () => {
  expect((await read('unit_unknown')).odometer?.unit).toBeNull();
  expect((await read('unit_unknown', { unit_hint: 'mi' })).odometer?.unit).toBe('mi');
});

test('a unit that the cluster shows is stronger than unit_hint', async () => {
  expect((await read(null, { unit_hint: 'mi' })).odometer?.unit).toBe('km');
});

test('read_warning_lights=false answers an empty list and leaves the rest', async () => {
  const { warning_lights, ...rest } = await read(null, { read_warning_lights: false });
  const { warning_lights: _, ...unasked } = await read(null);
  expect(warning_lights).toEqual([]);
  expect(rest).toEqual(unasked);
});
