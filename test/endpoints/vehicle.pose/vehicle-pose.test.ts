import { expect, test } from 'vitest';
import { COMPASS_VIEWS } from '../../../src/contracts/vocabulary/pictures.ts';
import { applyParameters } from '../../../src/endpoints/vehicle.pose/apply-parameters.ts';
import { vehiclePose } from '../../../src/endpoints/vehicle.pose/contract.ts';
import type { Result } from '../../../src/endpoints/vehicle.pose/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'vehicle.pose';

test.each([
  [{ expected_view: 'above' }, { code: 'parameter_invalid', param: 'expected_view' }],
  [{ expected_view: 7 }, { code: 'parameter_invalid', param: 'expected_view' }],
  [{ expected_view: null }, { code: 'parameter_invalid', param: 'expected_view' }],
  [{ view: 'front' }, { code: 'parameter_unknown', param: 'view' }],
  [{ expected_view: 'front_left' }, null],
  [{}, null],
])('vehicle.pose validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(vehiclePose, parameters)).toEqual(refusal);
});

test('vehicle.pose requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(vehiclePose, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(vehiclePose, { expected_view: ['front', 'rear'] })).toMatchObject({ param: 'expected_view' });
});

test.each(['default', 'low_confidence', 'poor_capture'])(
  'the scenario %s names the compass view of its azimuth',
  (scenario) => {
    const { view, camera } = fixtureOf<Result>(SLUG, scenario);
    const sector = Math.round((camera?.azimuth_degrees ?? Number.NaN) / 45) % COMPASS_VIEWS.length;
    expect(view?.value).toBe(COMPASS_VIEWS[sector]);
  },
);

test('vehicle.pose sets matches_expected_view only if the request expects a view', () => {
  const seen = fixtureOf<Result>(SLUG);
  const nothing = fixtureOf<Result>(SLUG, 'empty_result');
  expect(applyParameters(seen, {}).matches_expected_view).toBeNull();
  expect(applyParameters(seen, { expected_view: 'right' }).matches_expected_view).toBe(true);
  expect(applyParameters(seen, { expected_view: 'left' }).matches_expected_view).toBe(false);
  expect(applyParameters(nothing, { expected_view: 'left' }).matches_expected_view).toBe(false);
});

test('the scenario interior_view has a view without camera angles, and poor_capture lists its defects', () => {
  expect(fixtureOf<Result>(SLUG, 'interior_view').camera).toBeNull();
  const { framing, quality_issues } = fixtureOf<Result>(SLUG, 'poor_capture');
  expect(framing).toMatchObject({ value: 'cropped', cropped_edges: ['right'] });
  expect(quality_issues).toHaveLength(3);
});

test('the default fixture of vehicle.pose lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
