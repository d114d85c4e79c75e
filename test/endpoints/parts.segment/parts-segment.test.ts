import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/parts.segment/apply-parameters.ts';
import { partsSegment } from '../../../src/endpoints/parts.segment/contract.ts';
import type { Result } from '../../../src/endpoints/parts.segment/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'parts.segment';
const whole = fixtureOf<Result>(SLUG);

test.each([
  [{ parts: ['engine'] }, { code: 'parameter_invalid', param: 'parts.0' }],
  [{ parts: [] }, { code: 'parameter_invalid', param: 'parts' }],
  [{ parts: ['hood', 'hood'] }, { code: 'parameter_invalid', param: 'parts' }],
  [{ parts: 'hood' }, { code: 'parameter_invalid', param: 'parts' }],
  [{ include_mask: 'yes' }, { code: 'parameter_invalid', param: 'include_mask' }],
  [{ min_confidence: 1.1 }, { code: 'parameter_invalid', param: 'min_confidence' }],
  [{ view_hint: 'above' }, { code: 'parameter_invalid', param: 'view_hint' }],
  [{ mask: true }, { code: 'parameter_unknown', param: 'mask' }],
  [{ parts: ['hood', 'roof'], include_mask: true, min_confidence: 0.5, view_hint: 'left' }, null],
  [{}, null],
])('parts.segment validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(partsSegment, parameters)).toEqual(refusal);
});

test('parts.segment requires a picture and converts multipart text by the schema', () => {
  expect(jsonRefusal(partsSegment, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(partsSegment, { parts: ['hood', 'roof'], include_mask: 'true' })).toBeNull();
  expect(multipartRefusal(partsSegment, { include_mask: ['true', 'false'] })).toMatchObject({ param: 'include_mask' });
});

test('parts.segment returns the mask only on request', () => {
  expect(applyParameters(whole, {})).toEqual({ ...whole, mask: null });
  expect(applyParameters(whole, { include_mask: true })).toEqual(whole);
});

test('parts.segment filters parts by parts and min_confidence', () => {
  const { parts } = applyParameters(whole, { parts: ['hood', 'rocker_panel', 'roof'], min_confidence: 0.95 });
  expect(parts.map(({ part }) => part)).toEqual(['hood']);
});

test.each(['default', 'low_confidence', 'occluded_part'])(
  "the scenario %s has a mask of the picture's size, with as many pixels of each part as its area says",
  async (scenario) => {
    const { parts, mask } = fixtureOf<Omit<Result, 'mask'> & { mask: { file: string } }>(SLUG, scenario);
    const file = new URL(`../../../src/endpoints/${SLUG}/fixtures/${mask.file}`, import.meta.url);
    const { data, info } = await sharp(readFileSync(file))
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 960, height: 640, channels: 1 });
    const pixels = new Map<number, number>();
    for (const value of data) pixels.set(value, (pixels.get(value) ?? 0) + 1);
    expect(new Set(pixels.keys())).toEqual(new Set([0, ...parts.map(({ mask_value }) => mask_value)]));
    for (const { mask_value, area_fraction } of parts) {
      expect((pixels.get(mask_value) ?? 0) / data.length).toBeCloseTo(area_fraction, 2);
    }
  },
);

test('the scenario occluded_part has parts with two outlines', () => {
  const { parts } = fixtureOf<Result>(SLUG, 'occluded_part');
  const parted = parts.filter(({ is_occluded }) => is_occluded);
  expect(parted.map(({ polygons }) => polygons.length)).toEqual([2, 2, 2]);
});

test('the default fixture of parts.segment lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
