import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/tire.detect/apply-parameters.ts';
import { tireDetect } from '../../../src/endpoints/tire.detect/contract.ts';
import type { Result } from '../../../src/endpoints/tire.detect/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'tire.detect';
const whole = fixtureOf<Result>(SLUG);

test.each([
  [{ min_confidence: 2 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ min_confidence: -1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ min_confidence: '0.5' }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ position: 'spare' }, { code: 'parameter_unknown', param: 'position' }],
  [{ min_confidence: 0.5 }, null],
  [{}, null],
])('tire.detect validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(tireDetect, parameters)).toEqual(refusal);
});

test('tire.detect requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(tireDetect, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(tireDetect, { min_confidence: ['0', '1'] })).toMatchObject({ param: 'min_confidence' });
});

test('tire.detect filters tires by min_confidence and clears references to them', () => {
  expect(applyParameters(whole, {})).toEqual(whole);
  expect(applyParameters(whole, { min_confidence: 0.985 }).tires.map(({ id }) => id)).toEqual(['tire_1']);
  const [wheel] = whole.wheels;
  const surer: Result = { ...whole, wheels: wheel ? [{ ...wheel, confidence: 1 }] : [] };
  const { tires, wheels } = applyParameters(surer, { min_confidence: 0.995 });
  expect(tires).toEqual([]);
  expect(wheels.map(({ tire_id }) => tire_id)).toEqual([null]);
});

test.each(['default', 'low_confidence', 'worn_tread', 'damaged_rim'])(
  'the scenario %s states the tire of each wheel',
  (scenario) => {
    const { tires, wheels } = fixtureOf<Result>(SLUG, scenario);
    const ids = tires.map(({ id }) => id);
    expect(wheels.filter(({ tire_id }) => tire_id === null || !ids.includes(tire_id))).toEqual([]);
  },
);

test('a tire of the scenario worn_tread is worn to the limit on one shoulder', () => {
  expect(fixtureOf<Result>(SLUG, 'worn_tread').tires[0]?.tread).toMatchObject({
    wear: { value: 'at_limit' },
    depth: { value: 'under_1_6_mm' },
    pattern: { value: 'one_shoulder' },
  });
});

test('the default fixture of tire.detect lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
