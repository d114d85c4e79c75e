import { expect, test } from '@jest/globals';
import { applyParameters } from '../../../src/endpoints/vehicle.identify/apply-parameters.ts';
import { vehicleIdentify } from '../../../src/endpoints/vehicle.identify/contract.ts';
import type { Result } from '../../../src/endpoints/vehicle.identify/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';

const SLUG = 'vehicle.identify';

test.each([
  [{ max_candidates: 0 }, { code: 'parameter_invalid', param: 'max_candidates' }],
  [{ max_candidates: 11 }, { code: 'parameter_invalid', param: 'max_candidates' }],
  [{ max_candidates: 2.5 }, { code: 'parameter_invalid', param: 'max_candidates' }],
  [{ max_candidates: '3' }, { code: 'parameter_invalid', param: 'max_candidates' }],
  [{ make: 'Talvera' }, { code: 'parameter_unknown', param: 'make' }],
  [{ max_candidates: 10 }, null],
  [{}, null],
])('%j is refused or accepted as the parameters say', (parameters, refusal) => {
  expect(parameterRefusal(vehicleIdentify, parameters)).toEqual(refusal);
});

test.each([
  [0, { code: 'parameter_invalid', param: 'input_refs' }],
  [1, null],
  [8, null],
  [9, { code: 'parameter_invalid', param: 'input_refs' }],
])('%i pictures are refused or accepted: 1 to 8', (count, refusal) => {
  expect(jsonRefusal(vehicleIdentify, { input_refs: Array(count).fill(UPLOAD_ID) })).toEqual(refusal);
});

test.each(['default', 'low_confidence', 'ambiguous_model', 'different_vehicles'])(
  '%s ranks its candidates, and the make is at least as certain as the first of them',
  (scenario) => {
    const { make, candidates } = fixtureOf<Result>(SLUG, scenario);
    const confidences = candidates.map(({ confidence }) => confidence);
    expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
    expect(make?.value).toBe(candidates[0]?.make);
    expect(make?.confidence).toBeGreaterThanOrEqual(confidences[0] ?? 1);
  },
);

test('max_candidates shortens the list from its end', () => {
  const whole = fixtureOf<Result>(SLUG);
  expect(applyParameters(whole, {})).toEqual(whole);
  expect(applyParameters(whole, { max_candidates: 1 }).candidates).toEqual(whole.candidates.slice(0, 1));
});

test('ambiguous_model is sure of the make only; different_vehicles says so', () => {
  const { make, candidates } = fixtureOf<Result>(SLUG, 'ambiguous_model');
  expect(make?.confidence).toBeGreaterThan(0.9);
  expect(candidates[0]?.confidence).toBeLessThan(0.5);
  expect(fixtureOf<Result>(SLUG, 'different_vehicles').same_vehicle?.value).toBe(false);
});

test('the default fixture lies on the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
