import { describe, expect, test } from 'vitest';
import { damageSeverity } from '../../../src/endpoints/damage.severity/contract.ts';
import { inspections } from '../../../src/endpoints/inspections/contract.ts';
import type { Result } from '../../../src/endpoints/inspections/result.ts';
import { STAGES } from '../../../src/endpoints/inspections/stage-plan.ts';
import { pricingRepair } from '../../../src/endpoints/pricing.repair/contract.ts';
import { endpointPath } from '../../../src/endpoints/shared/endpoint-path.ts';
import { fixtureOf, placesOutside } from '../../support/example-pictures.ts';
import { jsonRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const JOB_ID = 'job_1111111111111111111111';
const jpegs = (count: number) => Array<string>(count).fill('image/jpeg');
const inspected = (parameters: Record<string, unknown> = {}, { scenario = '', mediaTypes = jpegs(4) } = {}) =>
  testModeOutcome<Result>(inspections, { parameters, mediaTypes, ...(scenario && { scenario }) });
const damageIds = ({ parts }: Result) => parts.flatMap(({ damages }) => damages.map(({ id }) => id)).toSorted();

describe('the request', () => {
  test('the path of inspections has no dot to replace', () => {
    expect(endpointPath(inspections.slug)).toBe('/v1/inspections');
  });

  test('an inspection accepts 1 to 200 pictures and videos, pictures also directly', () => {
    expect(jsonRefusal(inspections, { input_refs: Array(200).fill(UPLOAD_ID) })).toBeNull();
    expect(jsonRefusal(inspections, { input_refs: Array(201).fill(UPLOAD_ID) })?.param).toBe('input_refs');
    expect(jsonRefusal(inspections, {})).toEqual({ code: 'parameter_missing', param: 'input_refs' });
    expect(inspections.files.mediaTypes).toContain('video/mp4');
    expect(inspections.files.directMediaTypes).not.toContain('video/mp4');
  });

  test.each([
    [{ vehicle: { wheels: 4 } }, 'parameter_unknown', 'vehicle.wheels'],
    [{ expected_views: [] }, 'parameter_invalid', 'expected_views'],
    [{ expected_views: ['left', 'left'] }, 'parameter_invalid', 'expected_views'],
    [{ expected_views: ['above'] }, 'parameter_invalid', 'expected_views.0'],
    [{ baseline_job_id: 'upl_1' }, 'parameter_invalid', 'baseline_job_id'],
    [{ include_repair_estimate: 'yes' }, 'parameter_invalid', 'include_repair_estimate'],
    [{ include_report: 1 }, 'parameter_invalid', 'include_report'],
    [{ country: 'DEU' }, 'parameter_invalid', 'country'],
    [{ currency: 'eur' }, 'parameter_invalid', 'currency'],
    [{ labour_rate: -1 }, 'parameter_invalid', 'labour_rate'],
    [{ paint_rate: 0.5 }, 'parameter_invalid', 'paint_rate'],
    [{ stages: ['intake'] }, 'parameter_unknown', 'stages'],
  ])('an inspection refuses the parameters %j', (parameters, code, param) => {
    expect(parameterRefusal(inspections, parameters)).toEqual({ code, param });
  });

  test('an inspection costs the sum of its requested stages, by pictures and videos', () => {
    const files = [{ mediaType: 'image/jpeg' }, { mediaType: 'image/jpeg' }];
    expect(inspections.priceCredits).toBe(130);
    expect(inspections.price({ parameters: {}, files })).toBe(2 * 80 + 50);
    expect(inspections.price({ parameters: { include_repair_estimate: false }, files })).toBe(2 * 80);
    expect(inspections.price({ parameters: {}, files: [{ mediaType: 'video/mp4' }] })).toBe(1_500 + 8 * 60 + 50);
    expect(inspections.stagePlan({ parameters: {}, files }).map(({ name }) => name)).toEqual([...STAGES]);
  });
});

describe('test mode', () => {
  test('an inspection succeeds in every stage and charges the whole hold', async () => {
    const { status, stages = [], chargedCredits, reservedCredits } = await inspected();
    expect(status).toBe('succeeded');
    expect(stages.map(({ name }) => name)).toEqual([...STAGES]);
    for (const stage of stages) {
      expect(stage).toMatchObject({ status: 'succeeded', progress: 1, started_at: expect.any(Number), error: null });
      expect(stage.credits.charged).toBe(stage.credits.reserved);
    }
    expect(stages.reduce((sum, { credits }) => sum + credits.charged, 0)).toBe(chargedCredits);
    expect(chargedCredits).toBe(reservedCredits);
  });

  test('an inspection settles as partial after an optional stage fails, without charging it', async () => {
    const { status, result, stages, chargedCredits, reservedCredits } = await inspected(
      {},
      { scenario: 'partial_inspection' },
    );
    expect(status).toBe('partial');
    expect(result.repair_estimate).toBeNull();
    expect(chargedCredits).toBe(reservedCredits - 50);
    expect(stages?.find(({ name }) => name === 'repair_estimate')).toMatchObject({
      status: 'failed',
      credits: { reserved: 50, charged: 0 },
      error: { type: 'processing_error', code: 'model_inference_failed' },
    });
  });

  test('an inspection skips the stages that the request leaves out', async () => {
    const parameters = { include_repair_estimate: false, include_report: false };
    const { result, stages = [], chargedCredits, reservedCredits } = await inspected(parameters);
    expect(result).toMatchObject({ repair_estimate: null, report: null });
    expect(stages.filter(({ status }) => status === 'skipped').map(({ name }) => name)).toEqual([
      'repair_estimate',
      'report',
    ]);
    expect(chargedCredits).toBe(reservedCredits);
  });

  test('an inspection reports a vehicle without damages, without charging for grading or an estimate', async () => {
    const {
      status,
      result,
      stages = [],
      chargedCredits,
      reservedCredits,
    } = await inspected({}, { scenario: 'undamaged' });
    expect(status).toBe('succeeded');
    expect(damageIds(result)).toEqual([]);
    expect(result.repair_estimate).toBeNull();
    expect(result.report).toMatchObject({ media_type: 'application/pdf' });
    const skipped = stages.filter((stage) => stage.status === 'skipped');
    expect(skipped.map(({ name, credits }) => [name, credits.charged])).toEqual([
      ['severity_grading', 0],
      ['repair_estimate', 0],
    ]);
    expect(chargedCredits).toBe(reservedCredits - 4 * damageSeverity.priceCredits - pricingRepair.priceCredits);
    const without = await inspected({ include_report: false }, { scenario: 'undamaged' });
    expect(without.result.report).toBeNull();
  });

  test.each(['default', 'low_confidence', 'undamaged', 'empty_result'])(
    'an inspection reproduces the fixture of %s from its stages and the merge',
    async (scenario) => {
      const { frame: _, ...rest } = fixtureOf<Result>(inspections.slug, scenario).views[0] ?? {};
      const count = fixtureOf<Result>(inspections.slug, scenario).views.length;
      const { result } = await inspected(
        {},
        { scenario: scenario === 'default' ? '' : scenario, mediaTypes: jpegs(count) },
      );
      const { overall, parts, missing_views, repair_estimate } = fixtureOf<Result>(inspections.slug, scenario);
      expect(result).toMatchObject({ overall, parts, missing_views, repair_estimate });
      expect(result.views[0]).toMatchObject(rest);
    },
  );

  test('an inspection lists each damage once with all its views, and each finding under one damage', async () => {
    const { result } = await inspected();
    expect(damageIds(result)).toEqual(['damage_1', 'damage_2', 'damage_3']);
    const findings = result.views.flatMap(({ findings: found }, index) => found.map((item) => ({ ...item, index })));
    for (const { part, side, damages } of result.parts) {
      for (const { id, type, views } of damages) {
        const sights = findings.filter(({ damage_id }) => damage_id === id);
        expect(sights.map(({ index }) => index)).toEqual(views);
        for (const sight of sights) expect(sight).toMatchObject({ type, part, side });
      }
    }
    expect(result.repair_estimate?.operations.flatMap(({ damage_ids }) => damage_ids).toSorted()).toEqual(
      damageIds(result),
    );
  });

  test('an inspection finds only what the pictures show, and lists missing views', async () => {
    const one = await inspected({}, { mediaTypes: jpegs(1) });
    expect(one.result.views).toHaveLength(1);
    expect(one.result.missing_views).toEqual(['rear_left', 'rear_right', 'front_right']);
    expect(damageIds(one.result)).toEqual(['damage_1', 'damage_2']);
    expect(one.result.repair_estimate?.operations).toHaveLength(2);
    const six = await inspected({}, { mediaTypes: jpegs(6) });
    expect(six.result.views.map(({ image_index }) => image_index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(six.result.parts.find(({ part }) => part === 'front_door')?.views).toContain(4);
  });

  test('an inspection returns frames and time offsets for videos only', async () => {
    const { result } = await inspected({}, { mediaTypes: ['image/jpeg', 'video/mp4'] });
    expect(result.views.map(({ image_index, time_offset_ms }) => [image_index, time_offset_ms])).toEqual([
      [0, null],
      [1, 1_500],
      [1, 5_500],
      [1, 9_500],
      [1, 13_500],
    ]);
    expect(result.views.map(({ frame }) => frame !== null)).toEqual([false, true, true, true, true]);
  });

  test('an inspection applies the expected views, the baseline and the rates', async () => {
    const plain = (await inspected()).result;
    expect((await inspected({ expected_views: ['front_left', 'dashboard'] })).result.missing_views).toEqual([
      'dashboard',
    ]);
    const newOf = (result: Result) => result.parts.flatMap(({ damages }) => damages.map(({ is_new }) => is_new));
    expect(newOf(plain)).toEqual([null, null, null]);
    expect(newOf((await inspected({ baseline_job_id: JOB_ID })).result)).not.toContain(null);
    const cheap = (await inspected({ labour_rate: 100, currency: 'PLN' })).result.repair_estimate;
    expect(cheap?.currency).toBe('PLN');
    expect(cheap?.totals.gross).toBeLessThan(plain.repair_estimate?.totals.gross ?? 0);
  });

  test('an inspection keeps findings within their pictures', async () => {
    expect(placesOutside((await inspected()).result, { width: 600, height: 400 })).toEqual([]);
  });
});
