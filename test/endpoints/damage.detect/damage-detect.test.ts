import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/damage.detect/apply-parameters.ts';
import { damageDetect } from '../../../src/endpoints/damage.detect/contract.ts';
import type { Result } from '../../../src/endpoints/damage.detect/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'damage.detect';
const whole = fixtureOf<Result>(SLUG);

test.each([
  [{ damage_types: ['dust'] }, { code: 'parameter_invalid', param: 'damage_types.0' }],
  [{ damage_types: 'dent' }, { code: 'parameter_invalid', param: 'damage_types' }],
  [{ damage_types: [] }, { code: 'parameter_invalid', param: 'damage_types' }],
  [{ damage_types: ['dent', 'dent'] }, { code: 'parameter_invalid', param: 'damage_types' }],
  [{ min_confidence: 1.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ min_confidence: -0.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ min_confidence: '0.5' }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ view_hint: 'above' }, { code: 'parameter_invalid', param: 'view_hint' }],
  [{ confidence: 0.5 }, { code: 'parameter_unknown', param: 'confidence' }],
  [{ damage_types: ['dent', 'scratch'], min_confidence: 0.5, view_hint: 'rear_left' }, null],
  [{}, null],
])('damage.detect validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(damageDetect, parameters)).toEqual(refusal);
});

test('damage.detect requires a picture and converts multipart text by the schema', () => {
  expect(jsonRefusal(damageDetect, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(damageDetect, { damage_types: 'dent', min_confidence: '0.5' })).toBeNull();
  expect(multipartRefusal(damageDetect, { damage_types: ['dent', 'rust'] })).toBeNull();
  expect(multipartRefusal(damageDetect, { min_confidence: ['0.5', '0.6'] })).toMatchObject({ param: 'min_confidence' });
});

test('damage.detect filters damages, not parts_seen, by damage_types and min_confidence', () => {
  expect(applyParameters(whole, {})).toEqual(whole);
  const chosen = applyParameters(whole, { damage_types: ['dent', 'scratch'], min_confidence: 0.9 });
  expect(chosen.damages.map(({ type }) => type)).toEqual(['dent']);
  expect(chosen.parts_seen).toEqual(whole.parts_seen);
});

test('damage.detect gives an unidentified part no side from view_hint', () => {
  const { damages } = applyParameters(fixtureOf<Result>(SLUG, 'heavy_damage'), { view_hint: 'left' });
  expect(damages.find(({ part }) => part === null)?.side).toBeNull();
});

test('damage.detect lists the damages of the default fixture most confident first, each on a part of parts_seen', () => {
  const seen = new Set(whole.parts_seen.map(({ part }) => part));
  expect(whole.damages.filter(({ part }) => part === null || !seen.has(part))).toEqual([]);
  const confidences = whole.damages.map(({ confidence }) => confidence);
  expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
});

test('the scenario undamaged lists the examined parts, and poor_image_quality lists the defects', () => {
  const undamaged = fixtureOf<Result>(SLUG, 'undamaged');
  expect(undamaged.damages).toEqual([]);
  expect(undamaged.parts_seen.length).toBeGreaterThan(3);
  expect(undamaged.quality_issues).toEqual([]);
  const poor = fixtureOf<Result>(SLUG, 'poor_image_quality');
  expect(poor.damages).toEqual([]);
  expect(poor.quality_issues.map(({ reason }) => reason)).toEqual(['blurred', 'too_dark']);
});

test('the default fixture of damage.detect lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
