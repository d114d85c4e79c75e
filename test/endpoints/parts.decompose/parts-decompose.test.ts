import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/parts.decompose/apply-parameters.ts';
import { partsDecompose } from '../../../src/endpoints/parts.decompose/contract.ts';
import type { Result } from '../../../src/endpoints/parts.decompose/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'parts.decompose';
const whole = fixtureOf<Result>(SLUG);
type CutOut = Omit<Result['parts'][number], 'cut_out'> & { cut_out: { file: string } };
const cutOuts = fixtureOf<{ parts: CutOut[] }>(SLUG).parts;

test.each([
  [{ parts: ['engine'] }, { code: 'parameter_invalid', param: 'parts.0' }],
  [{ parts: [] }, { code: 'parameter_invalid', param: 'parts' }],
  [{ parts: 'hood' }, { code: 'parameter_invalid', param: 'parts' }],
  [{ include_exploded_view: 1 }, { code: 'parameter_invalid', param: 'include_exploded_view' }],
  [{ min_confidence: 1.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ view_hint: 'above' }, { code: 'parameter_invalid', param: 'view_hint' }],
  [{ format: 'png' }, { code: 'parameter_unknown', param: 'format' }],
  [{ parts: ['hood'], include_exploded_view: true, min_confidence: 0.5, view_hint: 'left' }, null],
  [{}, null],
])('parts.decompose validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(partsDecompose, parameters)).toEqual(refusal);
});

test('parts.decompose requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(partsDecompose, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(partsDecompose, { view_hint: ['left', 'right'] })).toMatchObject({ param: 'view_hint' });
});

test('parts.decompose returns the picture of the exploded view only on request', () => {
  expect(applyParameters(whole, { include_exploded_view: true })).toEqual(whole);
  expect(applyParameters(whole, {}).exploded_view).toEqual({ ...whole.exploded_view, image: null });
});

test('parts.decompose filters the cut-outs by parts and min_confidence, without an exploded view if none remain', () => {
  const { parts, exploded_view } = applyParameters(whole, { parts: ['hood', 'front_wheel'], min_confidence: 0.98 });
  expect(parts.map(({ part }) => part)).toEqual(['front_wheel']);
  expect(exploded_view).not.toBeNull();
  expect(applyParameters(whole, { parts: ['roof'] })).toMatchObject({ parts: [], exploded_view: null });
});

test.each(cutOuts)('$part has a transparent cut-out of the stated size, within both pictures', async (part) => {
  const { bbox, layout, cut_out } = part;
  const file = new URL(`../../../src/endpoints/${SLUG}/fixtures/${cut_out.file}`, import.meta.url);
  const { width, height, format, hasAlpha } = await sharp(readFileSync(file)).metadata();
  expect({ width, height, format, hasAlpha }).toEqual({
    width: bbox.width,
    height: bbox.height,
    format: 'webp',
    hasAlpha: true,
  });
  expect({ width, height }).toEqual({ width: layout.width, height: layout.height });
  expect(bbox.x + bbox.width).toBeLessThanOrEqual(960);
  expect(bbox.y + bbox.height).toBeLessThanOrEqual(640);
  expect(layout.x + layout.width).toBeLessThanOrEqual(whole.exploded_view?.width ?? 0);
  expect(layout.y + layout.height).toBeLessThanOrEqual(whole.exploded_view?.height ?? 0);
});
