import { expect, test } from '@jest/globals';
import { MEGABYTE } from '../../../src/contracts/media-limits.ts';
import { applyParameters } from '../../../src/endpoints/vin.read/apply-parameters.ts';
import { checkDigit } from '../../../src/endpoints/vin.read/check-digit.ts';
import { vinRead } from '../../../src/endpoints/vin.read/contract.ts';
import type { Result } from '../../../src/endpoints/vin.read/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'vin.read';
const LOCATIONS = ['windscreen', 'door_jamb', 'chassis_stamping', 'engine_bay', 'registration_document'];

test('takes one JPEG, PNG or WebP of 10 MB', () => {
  expect(vinRead.files).toEqual({
    field: 'image',
    minimum: 1,
    maximum: 1,
    mediaTypes: ['image/jpeg', 'image/png', 'image/webp'],
    directMediaTypes: ['image/jpeg', 'image/png', 'image/webp'],
    maximumBytes: 10 * MEGABYTE,
  });
  expect(jsonRefusal(vinRead, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
});

test.each([
  [{ validate_check_digit: 'true' }, { code: 'parameter_invalid', param: 'validate_check_digit' }],
  [{ validate_check_digit: 1 }, { code: 'parameter_invalid', param: 'validate_check_digit' }],
  [{ location_hint: 'dashboard' }, { code: 'parameter_invalid', param: 'location_hint' }],
  [{ location_hint: ['windscreen'] }, { code: 'parameter_invalid', param: 'location_hint' }],
  [{ decode: true }, { code: 'parameter_unknown', param: 'decode' }],
  [{ validate_check_digit: false }, null],
  [{}, null],
  ...LOCATIONS.map((location_hint) => [{ location_hint }, null] as const),
])('%j is refused or accepted as the specification says', (parameters, refusal) => {
  expect(parameterRefusal(vinRead, parameters)).toEqual(refusal);
});

test('a parameter given twice is refused', () => {
  expect(multipartRefusal(vinRead, { validate_check_digit: ['true', 'false'] })).toMatchObject({
    param: 'validate_check_digit',
  });
});

test.each(['default', 'low_confidence', 'check_digit_mismatch', 'partially_unreadable'])(
  '%s spells its text and states the true check digit',
  (scenario) => {
    const { vin } = fixtureOf<Result>(SLUG, scenario);
    expect(vin?.characters.map(({ character }) => character).join('')).toBe(vin?.text);
    expect(vin?.check_digit).toEqual(checkDigit(vin?.text ?? ''));
  },
);

test('each scenario shows what its name says', () => {
  expect(fixtureOf<Result>(SLUG).vin?.check_digit?.valid).toBe(true);
  expect(fixtureOf<Result>(SLUG, 'check_digit_mismatch').vin?.check_digit?.valid).toBe(false);
  const partial = fixtureOf<Result>(SLUG, 'partially_unreadable').vin;
  expect(partial?.check_digit?.valid).toBeNull();
  expect(partial?.characters.filter(({ character }) => character === '?')).toHaveLength(2);
});

test('validate_check_digit=false leaves the check digit out and the rest as it is', () => {
  const { vin } = fixtureOf<Result>(SLUG);
  expect(applyParameters({ vin }, {})).toEqual({ vin });
  expect(applyParameters({ vin }, { validate_check_digit: false })).toEqual({ vin: { ...vin, check_digit: null } });
});

test('location_hint tells the location only where the picture does not', () => {
  const hint = { location_hint: 'door_jamb' } as const;
  expect(applyParameters(fixtureOf<Result>(SLUG), hint).vin?.location).toBe('windscreen');
  expect(applyParameters(fixtureOf<Result>(SLUG, 'partially_unreadable'), hint).vin?.location).toBe('door_jamb');
  expect(applyParameters({ vin: null }, hint)).toEqual({ vin: null });
});

test('the default fixture lies on the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
