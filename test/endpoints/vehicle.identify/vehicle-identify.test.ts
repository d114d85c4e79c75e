import { expect, test } from 'vitest';
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
])('vehicle.identify validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(vehicleIdentify, parameters)).toEqual(refusal);
});

test.each([
  [0, { code: 'parameter_invalid', param: 'input_refs' }],
  [1, null],
  [8, null],
  [9, { code: 'parameter_invalid', param: 'input_refs' }],
])('vehicle.identify accepts 1 to 8 pictures: %i', (count, refusal) => {
  expect(jsonRefusal(vehicleIdentify, { input_refs: Array(count).fill(UPLOAD_ID) })).toEqual(refusal);
});

test.each(['default', 'low_confidence', 'ambiguous_model', 'different_vehicles'])(
  'the scenario %s ranks its candidates, with a make at least as confident as the first',
  (scenario) => {
    const { make, candidates } = fixtureOf<Result>(SLUG, scenario);
    const confidences = candidates.map(({ confidence }) => confidence);
    expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
    expect(make?.value).toBe(candidates[0]?.make);
    expect(make?.confidence).toBeGreaterThanOrEqual(confidences[0] ?? 1);
  },
);

test('vehicle.identify truncates the list to max_candidates', () => {
  const whole = fixtureOf<Result>(SLUG);
  expect(applyParameters(whole, {})).toEqual(whole);
  expect(applyParameters(whole, { max_candidates: 1 }).candidates).toEqual(whole.candidates.slice(0, 1));
});

test('the scenario ambiguous_model is certain of the make only, and different_vehicles reports two vehicles', () => {
  const { make, candidates } = fixtureOf<Result>(SLUG, 'ambiguous_model');
  expect(make?.confidence).toBeGreaterThan(0.9);
  expect(candidates[0]?.confidence).toBeLessThan(0.5);
  expect(fixtureOf<Result>(SLUG, 'different_vehicles').same_vehicle?.value).toBe(false);
});

test('the default fixture of vehicle.identify lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
