import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/engine.detect/apply-parameters.ts';
import { engineDetect } from '../../../src/endpoints/engine.detect/contract.ts';
import type { Result } from '../../../src/endpoints/engine.detect/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'engine.detect';

test.each([
  [{ min_confidence: -0.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ min_confidence: 1.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ min_confidence: '0.5' }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ propulsion: 'electric' }, { code: 'parameter_unknown', param: 'propulsion' }],
  [{ min_confidence: 0.5 }, null],
  [{}, null],
])('engine.detect validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(engineDetect, parameters)).toEqual(refusal);
});

test('engine.detect requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(engineDetect, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(engineDetect, { min_confidence: ['0.5', '0.6'] })).toMatchObject({ param: 'min_confidence' });
});

test('engine.detect filters only parts by min_confidence', () => {
  const whole = fixtureOf<Result>(SLUG);
  expect(applyParameters(whole, {})).toEqual(whole);
  const { parts, ...rest } = applyParameters(whole, { min_confidence: 0.93 });
  expect(parts.map(({ part }) => part)).toEqual(['engine_cover', 'battery', 'air_filter_housing']);
  expect(whole).toMatchObject(rest);
});

test.each([
  ['default', 'combustion'],
  ['electric', 'electric'],
  ['hybrid', 'hybrid'],
])('the scenario %s returns the propulsion %s, with its parts by confidence', (scenario, guess) => {
  const { propulsion, parts } = fixtureOf<Result>(SLUG, scenario);
  expect(propulsion?.value).toBe(guess);
  const confidences = parts.map(({ confidence }) => confidence);
  expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
  const hasHighVoltage = parts.some(({ part }) => part === 'high_voltage_cable');
  expect(hasHighVoltage).toBe(guess !== 'combustion');
});

test('the default fixture of engine.detect lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
