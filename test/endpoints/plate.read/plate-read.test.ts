import { expect, test } from 'vitest';
import { plateRead } from '../../../src/endpoints/plate.read/contract.ts';
import type { Result } from '../../../src/endpoints/plate.read/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'plate.read';

test.each([
  [{ country_hint: 'de' }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ country_hint: 'DEU' }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ country_hint: 49 }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ region_hint: 'US-CA' }, { code: 'parameter_unknown', param: 'region_hint' }],
  [{ country_hint: 'DE' }, null],
  [{}, null],
])('plate.read validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(plateRead, parameters)).toEqual(refusal);
});

test('plate.read requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(plateRead, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(plateRead, { country_hint: ['DE', 'FR'] })).toMatchObject({ param: 'country_hint' });
});

test.each(['default', 'low_confidence', 'several_plates'])(
  'the characters of the scenario %s spell its texts',
  (scenario) => {
    const { plates } = fixtureOf<Result>(SLUG, scenario);
    expect(plates.length).toBeGreaterThan(0);
    for (const { characters, text } of plates) {
      expect(characters.map(({ character }) => character).join('')).toBe(text);
    }
  },
);

test('the scenario several_plates lists the largest first, with null for an unknown country', () => {
  const { plates } = fixtureOf<Result>(SLUG, 'several_plates');
  const areas = plates.map(({ bbox }) => bbox.width * bbox.height);
  expect(areas).toEqual(areas.toSorted((a, b) => b - a));
  expect(plates.map(({ country, region }) => [country?.value, region?.value])).toEqual([
    ['DE', undefined],
    ['US', 'US-CA'],
    [undefined, undefined],
  ]);
});

test('the default fixture of plate.read lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
