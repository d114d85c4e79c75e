import { describe, expect, test } from 'vitest';
import { DAMAGE_TYPES, SEVERITIES } from '../../../src/contracts/vocabulary/damages.ts';
import { PARTS } from '../../../src/contracts/vocabulary/parts.ts';
import type { Result as Detected } from '../../../src/endpoints/damage.detect/result.ts';
import type { Result as Graded } from '../../../src/endpoints/damage.severity/result.ts';
import type { Result as Inspected } from '../../../src/endpoints/inspections/result.ts';
import { pricingRepair } from '../../../src/endpoints/pricing.repair/contract.ts';
import type { Result } from '../../../src/endpoints/pricing.repair/result.ts';
import { methodOf, repairs } from '../../../src/endpoints/shared/repair-rules.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const JOB_ID = 'job_1111111111111111111111';
const damage = { type: 'dent', part: 'hood' };
const damages = [damage];
const DETECTED = fixtureOf<Detected>('damage.detect');

const estimated = async (parameters: Record<string, unknown>, scenario?: string, found: unknown = DETECTED) => {
  const results = { [JOB_ID]: found };
  return (await testModeOutcome<Result>(pricingRepair, { parameters, results, ...(scenario && { scenario }) })).result;
};

describe('the request', () => {
  test('pricing.repair accepts 0 to 10 pictures', () => {
    expect(jsonRefusal(pricingRepair, { damages })).toBeNull();
    expect(jsonRefusal(pricingRepair, { damages, input_refs: Array(11).fill(UPLOAD_ID) })).toEqual({
      code: 'parameter_invalid',
      param: 'input_refs',
    });
  });

  test.each([
    [{ damages: [] }, 'parameter_invalid', 'damages'],
    [{ damages: Array(101).fill(damage) }, 'parameter_invalid', 'damages'],
    [{ damages: [{ part: 'hood' }] }, 'parameter_missing', 'damages.0.type'],
    [{ damages: [{ type: 'dent' }] }, 'parameter_missing', 'damages.0.part'],
    [{ damages: [{ ...damage, type: 'bump' }] }, 'parameter_invalid', 'damages.0.type'],
    [{ damages: [{ ...damage, severity: 'bad' }] }, 'parameter_invalid', 'damages.0.severity'],
    [{ damages: [{ ...damage, repair_method: 'pray' }] }, 'parameter_invalid', 'damages.0.repair_method'],
    [{ damages: [{ ...damage, length_mm: -1 }] }, 'parameter_invalid', 'damages.0.length_mm'],
    [{ damages: [{ ...damage, price: 1 }] }, 'parameter_unknown', 'damages.0.price'],
    [{ job_id: 'job 1' }, 'parameter_invalid', 'job_id'],
    [{ damages, vehicle: { wheels: 4 } }, 'parameter_unknown', 'vehicle.wheels'],
    [{ damages, country: 'Germany' }, 'parameter_invalid', 'country'],
    [{ damages, currency: 'EURO' }, 'parameter_invalid', 'currency'],
    [{ damages, labour_rate: -1 }, 'parameter_invalid', 'labour_rate'],
    [{ damages, labour_rate: 115.5 }, 'parameter_invalid', 'labour_rate'],
    [{ damages, paint_rate: '128' }, 'parameter_invalid', 'paint_rate'],
    [{ damages, part_quality: 'cheap' }, 'parameter_invalid', 'part_quality'],
    [{ damages, tax: 19 }, 'parameter_unknown', 'tax'],
  ])('pricing.repair refuses the parameters %j', (parameters, code, param) => {
    expect(parameterRefusal(pricingRepair, parameters)).toEqual({ code, param });
  });

  test('pricing.repair refuses a repeated parameter', () => {
    expect(multipartRefusal(pricingRepair, { labour_rate: ['1', '2'] })?.param).toBe('labour_rate');
  });

  test.each([
    [{ damages }, null],
    [{ job_id: JOB_ID }, null],
    [{}, 'damages'],
    [{ damages, job_id: JOB_ID }, 'job_id'],
    [{ damages: [{ ...damage, id: 'a' }, damage, { ...damage, id: 'a' }] }, 'damages.2.id'],
    [{ damages: [{ ...damage, id: 'damage_2' }, damage] }, 'damages.1.id'],
    [{ damages: [damage, { ...damage, id: 'a' }] }, null],
  ])('pricing.repair requires damages from one source with unique ids: %j', (parameters, param) => {
    expect(pricingRepair.refine({ parameters, files: [] })?.param ?? null).toBe(param);
  });

  test('pricing.repair accepts jobs that find damages', () => {
    expect(pricingRepair.jobReferences).toEqual([
      { parameter: 'job_id', endpoints: ['damage.detect', 'damage.severity', 'inspections'], isExhaustive: true },
    ]);
  });

  test.each([
    ['polish', 'scratch', 'headlight', null],
    ['polish', 'dent', 'hood', 'damages.1.repair_method'],
    ['touch_up', 'chip', 'hood', null],
    ['touch_up', 'chip', 'windshield', 'damages.1.repair_method'],
    ['paintless_dent_repair', 'hail', 'roof', null],
    ['paintless_dent_repair', 'dent', 'front_wheel', 'damages.1.repair_method'],
    ['paintless_dent_repair', 'scratch', 'hood', 'damages.1.repair_method'],
    ['spot_repair', 'broken_light', 'taillight', 'damages.1.repair_method'],
    ['repair_and_paint', 'missing_part', 'mirror', 'damages.1.repair_method'],
    ['repair_and_paint', 'deformation', 'front_door', null],
    ['glass_repair', 'chip', 'windshield', null],
    ['glass_repair', 'dent', 'hood', 'damages.1.repair_method'],
    ['glass_repair', 'broken_glass', 'windshield', 'damages.1.repair_method'],
    ['replace', 'missing_part', 'mirror', null],
    ['none', 'scratch', 'hood', null],
  ])('pricing.repair takes a stated %s only where it can repair %s on %s', (repair_method, type, part, param) => {
    const parameters = { damages: [damage, { type, part, repair_method }] };
    expect(pricingRepair.refine({ parameters, files: [] })?.param ?? null).toBe(param);
  });

  test('pricing.repair takes every method that the rules choose', () => {
    for (const type of DAMAGE_TYPES) {
      for (const part of PARTS) {
        for (const severity of SEVERITIES) {
          const method = methodOf({ type, part, severity, method: null });
          expect({ method, type, part, repairs: repairs(method, { type, part }) }).toMatchObject({ repairs: true });
        }
      }
    }
  });
});

describe('an estimate', () => {
  test.each(['default', 'low_confidence', 'empty_result', 'not_all_priced'])(
    'the estimate of the scenario %s adds up',
    (scenario) => {
      expectSums(fixtureOf<Result>(pricingRepair.slug, scenario));
    },
  );

  test('pricing.repair prices the damages of the request and adds up', async () => {
    const requested = [
      { id: 'left', type: 'scratch', part: 'front_fender', side: 'left' },
      { type: 'crack', part: 'front_bumper', repair_method: 'replace' },
      { type: 'dent', part: 'roof' },
      { type: 'dent', part: 'hood' },
    ];
    const result = await estimated({ damages: requested });
    expectSums(result);
    expect(result.operations.flatMap(({ damage_ids }) => damage_ids).toSorted()).toEqual(
      ['damage_2', 'damage_3', 'damage_4', 'left'].toSorted(),
    );
    expect(result.operations.find(({ damage_ids }) => damage_ids[0] === 'left')).toMatchObject({
      part: 'front_fender',
      side: 'left',
    });
  });

  test('pricing.repair uses the requested rates, and the labour rate for paint by default', async () => {
    const result = await estimated({ job_id: JOB_ID, labour_rate: 10_000 });
    expectSums(result);
    expect(result.rates).toEqual({ labour: 10_000, paint: 10_000, source: 'request' });
    expect((await estimated({ job_id: JOB_ID, labour_rate: 1, paint_rate: 2 })).rates.paint).toBe(2);
  });

  test('pricing.repair uses cheaper parts of another quality', async () => {
    const [original, used] = [await estimated({}), await estimated({ part_quality: 'used' })];
    expectSums(used);
    expect(used.totals.parts).toBeLessThan(original.totals.parts);
    expect(used.operations.flatMap(({ parts }) => parts.map(({ quality }) => quality))).toEqual(['used']);
  });

  test('pricing.repair lists what it cannot price', async () => {
    const result = await estimated({ damages: [damage, { ...damage, id: 'last' }] }, 'not_all_priced');
    expect(result.not_priced).toEqual([{ damage_id: 'last', reason: 'no_repair_data' }]);
    expect(result.operations).toHaveLength(1);
  });

  test.each([
    ['damage.detect', DETECTED.damages.map(({ id, part, side }) => ({ id, part, side }))],
    ['damage.severity', fixtureOf<Graded>('damage.severity').damages.map(({ id, part, side }) => ({ id, part, side }))],
    [
      'inspections',
      fixtureOf<Inspected>('inspections').parts.flatMap(({ part, side, damages: on }) =>
        on.map(({ id }) => ({ id, part, side })),
      ),
    ],
  ])('pricing.repair prices or lists every damage of the named %s job, on its part', async (slug, expected) => {
    const { operations, not_priced } = await estimated({ job_id: JOB_ID }, undefined, fixtureOf(slug));
    const priced = operations.flatMap(({ damage_ids, part, side }) => damage_ids.map((id) => ({ id, part, side })));
    expect(priced.toSorted(byId)).toEqual(expected.toSorted(byId));
    expect(not_priced).toEqual([]);
  });

  test('pricing.repair lists damages on an unknown part, and dirt, as not priced', async () => {
    const found = { ...DETECTED, damages: DETECTED.damages.map((one) => ({ ...one, part: null })) };
    const { operations, not_priced } = await estimated({ job_id: JOB_ID }, undefined, found);
    expect(operations).toEqual([]);
    expect(not_priced).toEqual(found.damages.map(({ id }) => ({ damage_id: id, reason: 'part_unknown' })));
    expect((await estimated({ damages: [{ ...damage, type: 'dirt_or_stain' }] })).not_priced).toEqual([
      { damage_id: 'damage_1', reason: 'cleaning_only' },
    ]);
  });

  test('pricing.repair lists a damage of the named job as not priced if its method cannot repair it', async () => {
    const [first, ...others] = fixtureOf<Graded>('damage.severity').damages;
    if (!first) throw new Error('the fixture has a damage');
    const odd = {
      ...first,
      type: 'dent',
      part: 'hood',
      repair_method: { ...first.repair_method, value: 'glass_repair' },
    };
    const { operations, not_priced } = await estimated({ job_id: JOB_ID }, undefined, { damages: [odd, ...others] });
    expect(not_priced).toEqual([{ damage_id: first.id, reason: 'no_repair_data' }]);
    expect(operations.flatMap(({ damage_ids }) => damage_ids)).not.toContain(first.id);
  });

  test('the estimate for a named job without damages costs nothing', async () => {
    const result = await estimated({ job_id: JOB_ID }, undefined, { ...DETECTED, damages: [] });
    expect(result).toMatchObject({ operations: [], not_priced: [], repair_days: 0, totals: { gross: 0 } });
  });

  test('pricing.repair fails after the result of the named job is deleted', async () => {
    const outcome = await testModeOutcome<Result>(pricingRepair, { parameters: { job_id: JOB_ID } });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'input_unreadable' }, chargedCredits: 0 });
  });

  test.each([
    [{ type: 'scratch', part: 'hood' }, 'polish', []],
    [{ type: 'scratch', part: 'hood', severity: 'severe' }, 'repair_and_paint', []],
    [{ type: 'dent', part: 'rear_door', side: 'left' }, 'paintless_dent_repair', []],
    [{ type: 'chip', part: 'windshield' }, 'glass_repair', []],
    [{ type: 'broken_glass', part: 'windshield' }, 'replace', ['windshield']],
    [{ type: 'broken_light', part: 'taillight', side: 'right' }, 'replace', ['taillight']],
    [{ type: 'crack', part: 'front_bumper', severity: 'critical' }, 'replace', ['front_bumper']],
    [{ type: 'dent', part: 'hood', repair_method: 'replace' }, 'replace', ['hood']],
  ])('pricing.repair repairs %j with %s and buys %j', async (one, method, parts) => {
    const { operations } = await estimated({ damages: [one] });
    expect(operations).toHaveLength(1);
    expect(operations[0]).toMatchObject({ method, part: one.part });
    expect(operations[0]?.parts.map(({ part }) => part)).toEqual(parts);
  });

  test('pricing.repair replaces a part once for all its damages', async () => {
    const onBumper = { type: 'scratch', part: 'front_bumper' };
    const { operations } = await estimated({ damages: [onBumper, { ...onBumper, type: 'missing_part' }, damage] });
    expect(operations.map(({ part, damage_ids }) => [part, damage_ids])).toEqual([
      ['front_bumper', ['damage_1', 'damage_2']],
      ['hood', ['damage_3']],
    ]);
  });

  test('a repair costs more with a higher severity', async () => {
    const gross = async (severity: string) => (await estimated({ damages: [{ ...damage, severity }] })).totals.gross;
    const [minor, moderate, severe] = [await gross('minor'), await gross('moderate'), await gross('severe')];
    expect(minor).toBeLessThan(moderate);
    expect(moderate).toBeLessThan(severe);
  });

  test('the estimate of the scenario empty_result costs nothing', async () => {
    expect((await estimated({ damages }, 'empty_result')).totals).toMatchObject({ net: 0, tax: 0, gross: 0 });
  });
});

const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);

function expectSums({ operations, totals, range, rates }: Result): void {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  for (const { labour, labour_hours, paint, paint_hours, paint_materials, parts, net } of operations) {
    expect(labour).toBe(Math.round(labour_hours * rates.labour));
    expect(paint).toBe(Math.round(paint_hours * rates.paint));
    for (const part of parts) expect(part.total).toBe(part.quantity * part.unit_price);
    expect(net).toBe(labour + paint + paint_materials + sum(parts.map(({ total }) => total)));
  }
  expect(totals.net).toBe(sum(operations.map(({ net }) => net)));
  expect(totals.net).toBe(totals.labour + totals.paint + totals.paint_materials + totals.parts);
  expect(totals.tax).toBe(Math.round((totals.net * totals.tax_rate_percent) / 100));
  expect(totals.gross).toBe(totals.net + totals.tax);
  expect(operations.map(({ net }) => net)).toEqual(operations.map(({ net }) => net).toSorted((a, b) => b - a));
  if (range) expect(range.low <= totals.gross && totals.gross <= range.high).toBe(true);
}
