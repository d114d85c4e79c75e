import { expect, test } from 'vitest';
import { MEGABYTE } from '../../../src/contracts/media-limits.ts';
import { driverLicenseRead } from '../../../src/endpoints/driver_license.read/contract.ts';
import type { Result } from '../../../src/endpoints/driver_license.read/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';

const SLUG = 'driver_license.read';
/** From the specification. */
const COUNTRIES =
  'AT BE BG CA CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK US'.split(' ');
const MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/avif'];

test('driver_license.read accepts a front and a back of 20 MB each, including AVIF', () => {
  expect(driverLicenseRead.files).toEqual({
    field: 'images',
    minimum: 1,
    maximum: 2,
    mediaTypes: MEDIA_TYPES,
    directMediaTypes: MEDIA_TYPES,
    maximumBytes: 20 * MEGABYTE,
  });
  expect(driverLicenseRead.preview).toBe(true);
});

test.each([
  [0, { code: 'parameter_invalid', param: 'input_refs' }],
  [1, null],
  [2, null],
  [3, { code: 'parameter_invalid', param: 'input_refs' }],
])('driver_license.read accepts 1 to 2 pictures: %i', (count, refusal) => {
  expect(jsonRefusal(driverLicenseRead, { input_refs: Array(count).fill(UPLOAD_ID) })).toEqual(refusal);
});

test('driver_license.read requires the pictures', () => {
  expect(jsonRefusal(driverLicenseRead, {})).toEqual({ code: 'parameter_missing', param: 'input_refs' });
});

test.each(COUNTRIES)('driver_license.read accepts country_hint %s', (country_hint) => {
  expect(parameterRefusal(driverLicenseRead, { country_hint })).toBeNull();
});

test.each([
  [{ country_hint: 'GB' }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ country_hint: 'fr' }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ country_hint: 33 }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ region_hint: 'CA' }, { code: 'parameter_invalid', param: 'region_hint' }],
  [{ region_hint: 'US-CALI' }, { code: 'parameter_invalid', param: 'region_hint' }],
  [{ region_hint: 'us-ca' }, { code: 'parameter_invalid', param: 'region_hint' }],
  [{ region_hint: 'US-CA\n' }, { code: 'parameter_invalid', param: 'region_hint' }],
  [{ region_hint: null }, { code: 'parameter_invalid', param: 'region_hint' }],
  [{ side: 'front' }, { code: 'parameter_unknown', param: 'side' }],
  [{ region_hint: 'US-CA' }, null],
  [{ country_hint: 'FR', region_hint: 'FR-75C' }, null],
  [{}, null],
])('driver_license.read validates the parameters %j as specified', (parameters, refusal) => {
  expect(parameterRefusal(driverLicenseRead, parameters)).toEqual(refusal);
});

test('driver_license.read refuses a repeated hint', () => {
  expect(multipartRefusal(driverLicenseRead, { country_hint: ['FR', 'DE'] })).toMatchObject({ param: 'country_hint' });
});

test.each(['default', 'low_confidence'])('driver_license.read states valid MRZ check digits in %s', (scenario) => {
  const { mrz, license } = fixtureOf<Result>(SLUG, scenario);
  const [line = ''] = mrz?.lines ?? [];
  expect(line).toHaveLength(30);
  // On French licences it covers everything before it.
  const number = { found: line.charAt(14), expected: mrzCheckDigit(line.slice(0, 14)), valid: true };
  const composite = { found: line.charAt(29), expected: mrzCheckDigit(line.slice(0, 29)), valid: true };
  expect(mrz?.checks).toEqual([
    { field: 'number', ...number },
    { field: 'composite', ...composite },
  ]);
  expect(number.found).toBe(number.expected);
  expect(composite.found).toBe(composite.expected);
  expect(line.slice(5, 14)).toBe(license?.number?.value);
  expect(`20${line.slice(15, 21)}`).toBe(license?.expiry_date?.value.replaceAll('-', ''));
});

test('the scenario expired_license is past its expiry date and has a PDF417 instead of an MRZ', () => {
  const { license, mrz, barcode } = fixtureOf<Result>(SLUG, 'expired_license');
  expect(license?.is_expired).toBe(true);
  expect(Date.parse(license?.expiry_date?.value ?? '')).toBeLessThan(Date.parse('2026-10-04'));
  expect(mrz).toBeNull();
  expect(barcode).toMatchObject({ symbology: 'pdf417', decoded: true, error_correction_ok: true });
});

test('the scenario front_only has no data from the back', () => {
  const { document, mrz, categories } = fixtureOf<Result>(SLUG, 'front_only');
  expect(document?.sides.map(({ side }) => side)).toEqual(['front']);
  expect(mrz).toBeNull();
  expect(categories.map(({ code, valid_from }) => [code, valid_from])).toEqual([
    ['AM', null],
    ['B', null],
  ]);
});

test('the scenario unreadable_document has a side, no values, and its issues', () => {
  const { document, holder, license, issues } = fixtureOf<Result>(SLUG, 'unreadable_document');
  expect(document?.sides).toHaveLength(1);
  expect([holder, license]).toEqual([null, null]);
  expect(issues.map(({ reason }) => reason)).toEqual(['reflections', 'low_resolution']);
});

test('the default fixture of driver_license.read lies within the example pictures', async () => {
  expect(await placesOutsideExample(SLUG, 'example.jpg')).toEqual([]);
  expect(await placesOutsideExample(SLUG, 'example-back.jpg')).toEqual([]);
});

/** ICAO 9303: weights 7, 3, 1; letters count from 10, a filler 0. */
function mrzCheckDigit(text: string): string {
  const sum = Array.from(text, (character, place) => {
    const value = character === '<' ? 0 : Number.parseInt(character, 36);
    return value * ([7, 3, 1][place % 3] ?? 0);
  }).reduce((total, term) => total + term, 0);
  return String(sum % 10);
}
