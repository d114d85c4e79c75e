import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/parts.recognize/apply-parameters.ts';
import { partsRecognize } from '../../../src/endpoints/parts.recognize/contract.ts';
import type { Result } from '../../../src/endpoints/parts.recognize/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'parts.recognize';
const whole = fixtureOf<Result>(SLUG);

test.each([
  [{ max_alternatives: 6 }, { code: 'parameter_invalid', param: 'max_alternatives' }],
  [{ max_alternatives: -1 }, { code: 'parameter_invalid', param: 'max_alternatives' }],
  [{ max_alternatives: 1.5 }, { code: 'parameter_invalid', param: 'max_alternatives' }],
  [{ max_alternatives: '3' }, { code: 'parameter_invalid', param: 'max_alternatives' }],
  [{ min_confidence: 1.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ view_hint: 'above' }, { code: 'parameter_invalid', param: 'view_hint' }],
  [{ parts: ['hood'] }, { code: 'parameter_unknown', param: 'parts' }],
  [{ max_alternatives: 5, min_confidence: 0, view_hint: 'left' }, null],
  [{}, null],
])('parts.recognize validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(partsRecognize, parameters)).toEqual(refusal);
});

test('parts.recognize requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(partsRecognize, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(partsRecognize, { max_alternatives: ['1', '2'] })).toMatchObject({
    param: 'max_alternatives',
  });
});

test('parts.recognize limits the alternatives of each part to max_alternatives', () => {
  expect(applyParameters(whole, {})).toEqual(whole);
  const { parts } = applyParameters(whole, { max_alternatives: 1 });
  expect(parts.map(({ alternatives }) => alternatives.length)).toEqual([1, 0, 1, 1]);
});

test('parts.recognize filters parts, including the main one, by min_confidence', () => {
  expect(applyParameters(whole, { min_confidence: 0.93 })).toMatchObject({
    main_part: { part: 'headlight' },
    parts: [{ part: 'headlight' }, { part: 'front_bumper' }],
  });
  expect(applyParameters(whole, { min_confidence: 0.99 })).toMatchObject({ main_part: null, parts: [] });
});

test.each([
  [undefined, null],
  ['front', null],
  ['left', 'left'],
  ['rear_right', 'right'],
] as const)('the scenario side_unclear with view_hint %s has the side %s', (view_hint, side) => {
  const open = fixtureOf<Result>(SLUG, 'side_unclear');
  const { main_part, parts } = applyParameters(open, view_hint ? { view_hint } : {});
  const sides = [main_part, ...parts, ...parts.flatMap(({ alternatives }) => alternatives)].map((part) => part?.side);
  expect(sides).toEqual([side, side, side]);
});

test('parts.recognize prefers a visible side to view_hint', () => {
  expect(applyParameters(whole, { view_hint: 'right' })).toEqual(whole);
});

test.each(['default', 'low_confidence', 'loose_part', 'side_unclear'])(
  'parts.recognize lists the main part of %s among its parts',
  (name) => {
    const { main_part, parts } = fixtureOf<Result>(SLUG, name);
    expect(parts.map(({ part, side, confidence }) => ({ part, side, confidence }))).toContainEqual(main_part);
  },
);

test('the default fixture of parts.recognize lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
