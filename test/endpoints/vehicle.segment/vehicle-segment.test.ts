import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/vehicle.segment/apply-parameters.ts';
import { vehicleSegment } from '../../../src/endpoints/vehicle.segment/contract.ts';
import type { Result } from '../../../src/endpoints/vehicle.segment/result.ts';
import { fixtureOf, type Place, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'vehicle.segment';
const PICTURE_PIXELS = 960 * 640;

test.each([
  [{ include_matte: 'yes' }, { code: 'parameter_invalid', param: 'include_matte' }],
  [{ include_matte: null }, { code: 'parameter_invalid', param: 'include_matte' }],
  [{ matte: true }, { code: 'parameter_unknown', param: 'matte' }],
  [{ include_matte: false }, null],
  [{}, null],
])('vehicle.segment validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(vehicleSegment, parameters)).toEqual(refusal);
});

test('the picture is required, and multipart text must be a boolean', () => {
  expect(jsonRefusal(vehicleSegment, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(vehicleSegment, { include_matte: 'false' })).toBeNull();
  expect(multipartRefusal(vehicleSegment, { include_matte: 'perhaps' })).toMatchObject({ param: 'include_matte' });
});

test('one vehicle is the main one, and it comes first', () => {
  expect(fixtureOf<Result>(SLUG).vehicles.map(({ is_main }) => is_main)).toEqual([true, false]);
});

test.each(fixtureOf<Result>(SLUG).vehicles)(
  'the box and area of a mask are consistent with its outline',
  ({ bbox, polygon, area_fraction }) => {
    const xs = polygon.map(({ x }) => x);
    const ys = polygon.map(({ y }) => y);
    expect(Math.min(...xs)).toBeCloseTo(bbox.x, -1);
    expect(Math.max(...xs)).toBeCloseTo(bbox.x + bbox.width, -1);
    expect(Math.min(...ys)).toBeCloseTo(bbox.y, -1);
    expect(Math.max(...ys)).toBeCloseTo(bbox.y + bbox.height, -1);
    expect(areaOf(polygon) / PICTURE_PIXELS).toBeCloseTo(area_fraction, 3);
  },
);

test('the matte is as large as the picture, and white where the main vehicle is', async () => {
  const file = new URL(`../../../src/endpoints/${SLUG}/fixtures/matte.png`, import.meta.url);
  const { data, info } = await sharp(readFileSync(file))
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect(info).toMatchObject({ width: 960, height: 640, channels: 1 });
  const white = data.reduce((sum, value) => sum + value, 0) / 255 / PICTURE_PIXELS;
  const { area_fraction = 0 } = fixtureOf<Result>(SLUG).vehicles[0] ?? {};
  expect(Math.abs(white / area_fraction - 1)).toBeLessThan(0.03);
});

test('include_matte=false leaves the matte out and the masks in', () => {
  const whole = fixtureOf<Result>(SLUG);
  expect(applyParameters(whole, {})).toEqual(whole);
  expect(applyParameters(whole, { include_matte: false })).toEqual({ ...whole, matte: null });
});

test('the default fixture of vehicle.segment lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});

function areaOf(polygon: readonly Place[]): number {
  const twice = polygon.reduce((sum, { x, y }, index) => {
    const next = polygon[(index + 1) % polygon.length] ?? { x, y };
    return sum + x * next.y - next.x * y;
  }, 0);
  return Math.abs(twice) / 2;
}
