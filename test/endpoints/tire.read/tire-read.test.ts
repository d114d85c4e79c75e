import { expect, test } from 'vitest';
import { TIRE_POSITIONS } from '../../../src/contracts/vocabulary/tires.ts';
import { applyParameters } from '../../../src/endpoints/tire.read/apply-parameters.ts';
import { tireRead } from '../../../src/endpoints/tire.read/contract.ts';
import type { Result } from '../../../src/endpoints/tire.read/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'tire.read';

test.each([
  [{ position: 'middle' }, { code: 'parameter_invalid', param: 'position' }],
  [{ position: 1 }, { code: 'parameter_invalid', param: 'position' }],
  [{ position: null }, { code: 'parameter_invalid', param: 'position' }],
  [{ wheel: 'spare' }, { code: 'parameter_unknown', param: 'wheel' }],
  [{}, null],
])('tire.read validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(tireRead, parameters)).toEqual(refusal);
});

test('tire.read requires a JPEG, PNG or WebP of at most 10 MB and refuses a repeated parameter', () => {
  expect(jsonRefusal(tireRead, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(tireRead.files).toMatchObject({
    field: 'image',
    maximum: 1,
    directMediaTypes: ['image/jpeg', 'image/png', 'image/webp'],
    maximumBytes: 10 * 1024 * 1024,
  });
  expect(multipartRefusal(tireRead, { position: ['spare', 'spare'] })).toMatchObject({ param: 'position' });
});

test('tire.read carries every specified position through to the result', () => {
  expect(TIRE_POSITIONS).toEqual(['front_left', 'front_right', 'rear_left', 'rear_right', 'spare', 'unknown']);
  const whole = fixtureOf<Result>(SLUG);
  for (const position of TIRE_POSITIONS) {
    expect(parameterRefusal(tireRead, { position })).toBeNull();
    expect(applyParameters(whole, { position })).toEqual({ ...whole, position });
  }
});

test('tire.read returns a position only from the request, even in an empty result', () => {
  expect(applyParameters(fixtureOf<Result>(SLUG), {}).position).toBeNull();
  expect(applyParameters(fixtureOf<Result>(SLUG, 'empty_result'), { position: 'spare' }).position).toBe('spare');
});

test.each(['default', 'low_confidence', 'dot_unreadable', 'dot_without_date'])(
  'the scenario %s is consistent: characters spell the text, and numbers match it',
  (scenario) => {
    const { size, dot } = fixtureOf<Result>(SLUG, scenario);
    for (const line of [size, dot]) {
      const spelt = line?.characters.map(({ character }) => character).join('');
      expect(spelt).toBe(line?.text.replaceAll(' ', ''));
    }
    expect(size?.text).toBe(`${size?.width_mm}/${size?.aspect_ratio} R${size?.rim_inches}`);
    if (dot?.week) expect(dot.text.endsWith(` ${dot.week}${`${dot.year}`.slice(2)}`)).toBe(true);
  },
);

test('the scenario dot_unreadable has no DOT code, and dot_without_date has no week and year', () => {
  expect(fixtureOf<Result>(SLUG, 'dot_unreadable').dot).toBeNull();
  expect(fixtureOf<Result>(SLUG, 'dot_without_date').dot).toMatchObject({ plant_code: '7V', week: null, year: null });
});

test('the default fixture of tire.read lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
