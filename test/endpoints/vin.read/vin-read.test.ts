import { expect, test } from 'vitest';
import { MEGABYTE } from '../../../src/contracts/media-limits.ts';
import { applyParameters } from '../../../src/endpoints/vin.read/apply-parameters.ts';
import { checkDigit } from '../../../src/endpoints/vin.read/check-digit.ts';
import { vinRead } from '../../../src/endpoints/vin.read/contract.ts';
import type { Result } from '../../../src/endpoints/vin.read/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'vin.read';
const LOCATIONS = ['windscreen', 'door_jamb', 'chassis_stamping', 'engine_bay', 'registration_document'];

test('vin.read accepts one JPEG, PNG or WebP of at most 10 MB', () => {
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

test.each<[Record<string, unknown>, { code: string; param: string } | null]>([
  [{ validate_check_digit: 'true' }, { code: 'parameter_invalid', param: 'validate_check_digit' }],
  [{ validate_check_digit: 1 }, { code: 'parameter_invalid', param: 'validate_check_digit' }],
  [{ location_hint: 'dashboard' }, { code: 'parameter_invalid', param: 'location_hint' }],
  [{ location_hint: ['windscreen'] }, { code: 'parameter_invalid', param: 'location_hint' }],
  [{ decode: true }, { code: 'parameter_unknown', param: 'decode' }],
  [{ validate_check_digit: false }, null],
  [{}, null],
  ...LOCATIONS.map((location_hint) => [{ location_hint }, null] as [{ location_hint: string }, null]),
])('vin.read validates the parameters %j as specified', (parameters, refusal) => {
  expect(parameterRefusal(vinRead, parameters)).toEqual(refusal);
});

test('vin.read refuses a repeated parameter', () => {
  expect(multipartRefusal(vinRead, { validate_check_digit: ['true', 'false'] })).toMatchObject({
    param: 'validate_check_digit',
  });
});

test.each(['default', 'low_confidence', 'check_digit_mismatch', 'partially_unreadable'])(
  'the scenario %s spells its text and states the computed check digit',
  (scenario) => {
    const { vin } = fixtureOf<Result>(SLUG, scenario);
    expect(vin?.characters.map(({ character }) => character).join('')).toBe(vin?.text);
    expect(vin?.check_digit).toEqual(checkDigit(vin?.text ?? ''));
  },
);

test('the scenarios of vin.read match their names', () => {
  expect(fixtureOf<Result>(SLUG).vin?.check_digit?.valid).toBe(true);
  expect(fixtureOf<Result>(SLUG, 'check_digit_mismatch').vin?.check_digit?.valid).toBe(false);
  const partial = fixtureOf<Result>(SLUG, 'partially_unreadable').vin;
  expect(partial?.check_digit?.valid).toBeNull();
  expect(partial?.characters.filter(({ character }) => character === '?')).toHaveLength(2);
});

test('vin.read omits only the check digit with validate_check_digit=false', () => {
  const { vin } = fixtureOf<Result>(SLUG);
  expect(applyParameters({ vin }, {})).toEqual({ vin });
  expect(applyParameters({ vin }, { validate_check_digit: false })).toEqual({ vin: { ...vin, check_digit: null } });
});

test('vin.read uses location_hint only if the picture does not show the location', () => {
  const hint = { location_hint: 'door_jamb' } as const;
  expect(applyParameters(fixtureOf<Result>(SLUG), hint).vin?.location).toBe('windscreen');
  expect(applyParameters(fixtureOf<Result>(SLUG, 'partially_unreadable'), hint).vin?.location).toBe('door_jamb');
  expect(applyParameters({ vin: null }, hint)).toEqual({ vin: null });
});

test('the default fixture of vin.read lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
