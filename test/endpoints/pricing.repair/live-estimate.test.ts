/** Estimates by an invented book, as body shops calculate: work that damages share is done once. */
import { describe, expect, it } from 'vitest';
import { estimateRepairs } from '../../../src/endpoints/pricing.repair/live-estimate.ts';
import type { ResolvedParameters } from '../../../src/endpoints/pricing.repair/references.ts';
import type { Result } from '../../../src/endpoints/pricing.repair/result.ts';
import type { RepairPlan } from '../../../src/price-books/repairs/plan-repair.ts';
import {
  REPAIR_COLUMNS,
  type RepairColumn,
  type RepairEntry,
  readRepairEntry,
} from '../../../src/price-books/repairs/repair-entry.ts';
import { repairRows } from '../../support/price-files.ts';

const MARKET = { country: 'GB', currency: 'GBP' };

function entriesOf(rows: readonly string[]): RepairEntry[] {
  return rows.map((row) => {
    const values = row.split(',');
    const named = Object.fromEntries(REPAIR_COLUMNS.map((name, at) => [name, values[at] ?? '']));
    return readRepairEntry(named as Record<RepairColumn, string>, MARKET).entry;
  });
}

const BOOK = repairRows();

function estimate(
  damages: ResolvedParameters['damages'],
  {
    rows = BOOK,
    parameters = {},
    plan = {},
  }: { rows?: string[]; parameters?: object; plan?: Partial<RepairPlan> } = {},
): Result {
  const entries = entriesOf(rows);
  const rates = entries.find((entry) => entry.kind === 'rate' && entry.region === '');
  if (rates?.kind !== 'rate') throw new Error('the book has rates');
  const version = { book: 'invented', version: 2, ...MARKET, observedTo: '2026-06-01' } as RepairPlan['version'];
  return estimateRepairs({
    plan: { kind: 'planned', version, rates, currency: 'GBP', rate: null, ...plan },
    entries: entries.filter((entry) => entry.kind !== 'rate').filter(({ make }) => make === ''),
    parameters: { ...(damages && { damages }), ...parameters },
  });
}

const stepsOf = ({ operations }: Result) =>
  operations.flatMap(({ steps = [] }) => steps.map(({ kind, part, side }) => `${kind} ${part} ${side}`));

const onDoor = (rest: object = {}) => ({
  type: 'dent' as const,
  part: 'front_door' as const,
  side: 'left' as const,
  ...rest,
});

function expectSums({ operations, totals, rates }: Result): void {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  for (const { steps = [], ...operation } of operations) {
    expect(operation.labour_hours).toBeCloseTo(sum(steps.map(({ labour_hours }) => labour_hours)), 9);
    expect(operation.paint_hours).toBeCloseTo(sum(steps.map(({ paint_hours }) => paint_hours)), 9);
    expect(operation.paint_materials).toBe(sum(steps.map(({ paint_materials }) => paint_materials)));
    expect(operation.labour).toBe(Math.round(operation.labour_hours * rates.labour));
    expect(operation.paint).toBe(Math.round(operation.paint_hours * rates.paint));
    const parts = sum(operation.parts.map(({ total }) => total));
    expect(operation.net).toBe(operation.labour + operation.paint + operation.paint_materials + parts);
  }
  expect(totals.net).toBe(sum(operations.map(({ net }) => net)));
  expect(totals.gross).toBe(totals.net + Math.round((totals.net * totals.tax_rate_percent) / 100));
  for (const amount of [totals.net, totals.tax, totals.gross]) expect(Number.isInteger(amount)).toBe(true);
}

describe('an estimate', () => {
  it('a repair estimate states its book, day, rates and steps, and adds up to the penny', () => {
    const result = estimate([
      onDoor({ severity: 'severe' }),
      { type: 'broken_light', part: 'headlight', side: 'left' },
    ]);
    expect(result).toMatchObject({
      price_book: 'invented@2',
      priced_on: '2026-06-01',
      currency: 'GBP',
      country: 'GB',
      region: null,
      rates: { labour: 5_800, paint: 6_100, source: 'regional_average' },
      range: null,
    });
    expectSums(result);
    // The severe row of the book: 4 h, then mirror and handle, then the blended neighbours.
    expect(result.operations.find(({ part }) => part === 'front_door')).toMatchObject({
      method: 'repair_and_paint',
      labour_hours: 4 + 0.3 + 0.3 + 2 * 0.2,
      paint_hours: 2.4 + 2 * 0.9 + 0.8,
      paint_materials: 9_000 + 2 * 2_100 + 2_600,
      confidence: null,
    });
    expect(result.operations.find(({ part }) => part === 'headlight')).toMatchObject({
      method: 'replace',
      labour_hours: 0.6 + 0.8,
      parts: [{ part: 'headlight', side: 'left', unit_price: 45_000, total: 45_000, quality: 'original' }],
    });
  });

  it('a repair estimate scales the hours of a moderate damage where the book has no row of the severity', () => {
    const hours = (severity: 'minor' | 'moderate' | 'severe') =>
      estimate([{ type: 'scratch', part: 'hood', severity, repair_method: 'polish' }]).operations[0]?.labour_hours;
    expect([hours('minor'), hours('moderate'), hours('severe')]).toEqual([0.4, 0.5, 0.7]);
  });

  it('a repair estimate paints a part once for all its damages, and replaces it once', () => {
    const painted = estimate([onDoor({ severity: 'severe' }), onDoor({ type: 'scratch', severity: 'minor' })]);
    expect(painted.operations.map(({ method, damage_ids }) => [method, damage_ids])).toEqual([
      ['repair_and_paint', ['damage_1', 'damage_2']],
    ]);
    const alone = estimate([onDoor({ severity: 'severe' })]);
    expect(painted.totals).toEqual(alone.totals);
    const replaced = estimate([
      onDoor({ severity: 'critical' }),
      onDoor({ type: 'scratch' }),
      onDoor({ type: 'rust' }),
    ]);
    expect(replaced.operations.map(({ method, damage_ids }) => [method, damage_ids])).toEqual([
      ['replace', ['damage_1', 'damage_2', 'damage_3']],
    ]);
  });

  it('a repair estimate removes and refits a part once, and not at all if it is replaced', () => {
    const headlights = (['left', 'right'] as const).map((side) => ({
      type: 'broken_light' as const,
      part: 'headlight' as const,
      side,
    }));
    const bumper = 'remove_and_refit front_bumper none';
    expect(stepsOf(estimate(headlights)).filter((step) => step === bumper)).toHaveLength(1);
    const withBumper = estimate([...headlights, { type: 'missing_part', part: 'front_bumper' }]);
    expect(stepsOf(withBumper)).not.toContain(bumper);
    expectSums(withBumper);
  });

  it('a repair estimate blends each neighbour once, and none that is painted itself', () => {
    const severe = { severity: 'severe' as const };
    const doors = estimate([onDoor(severe), { type: 'dent', part: 'rear_door', side: 'left', ...severe }]);
    expect(stepsOf(doors).filter((step) => step.startsWith('blend'))).toEqual([
      'blend front_fender left',
      'blend quarter_panel left',
    ]);
    const both = estimate([
      { type: 'dent', part: 'hood', ...severe },
      { type: 'dent', part: 'front_door', side: 'right', ...severe },
    ]);
    expect(stepsOf(both).filter((step) => step === 'blend front_fender right')).toHaveLength(1);
    expect(stepsOf(both).filter((step) => step === 'blend front_fender left')).toHaveLength(1);
  });

  it('a repair estimate prepares the paint once, and not for work without paint', () => {
    const severe = { severity: 'severe' as const };
    const painted = estimate([
      onDoor(severe),
      { type: 'dent', part: 'hood', ...severe },
      { type: 'chip', part: 'roof' },
    ]);
    expect(stepsOf(painted).filter((step) => step.startsWith('paint_preparation'))).toHaveLength(1);
    expect(stepsOf(estimate([{ type: 'scratch', part: 'headlight', side: 'left', severity: 'minor' }]))).toEqual([
      'repair headlight left',
    ]);
  });

  it('a repair estimate does not push a dent out of plastic', () => {
    const method = (part: 'hood' | 'front_bumper', material?: 'metal' | 'plastic') =>
      estimate([{ type: 'dent', part, ...(material && { material }) }]).operations[0]?.method;
    expect(method('hood')).toBe('paintless_dent_repair');
    expect(method('hood', 'plastic')).toBe('repair_and_paint');
    expect(method('front_bumper')).toBe('repair_and_paint');
  });

  it('a repair estimate uses parts of the requested quality, and original ones where the book has no other', () => {
    const broken = [{ type: 'broken_light' as const, part: 'taillight' as const, side: 'left' as const }];
    const partOf = (rows: string[]) =>
      estimate(broken, { rows, parameters: { part_quality: 'used' } }).operations[0]?.parts[0];
    expect(partOf(BOOK)).toMatchObject({ quality: 'used', unit_price: 6_600 });
    expect(partOf(BOOK.filter((row) => !row.includes(',used,')))).toMatchObject({
      quality: 'original',
      unit_price: 16_500,
    });
  });

  it('a repair estimate uses the rates that the request states', () => {
    const result = estimate([onDoor()], { parameters: { labour_rate: 10_000 } });
    expect(result.rates).toEqual({ labour: 10_000, paint: 10_000, source: 'request' });
    expectSums(result);
  });

  it.each([
    ['EUR', 1.1737, 6_807],
    ['JPY', 197.3, 11_443],
  ])(
    'a repair estimate in %s is converted at the imported rate, with every amount rounded once',
    (currency, rate, labour) => {
      const result = estimate([onDoor({ severity: 'critical' })], {
        plan: { currency, rate: { base: 'GBP', quote: currency, ratedOn: '2026-06-30', rate } },
      });
      expect(result).toMatchObject({ currency, exchange_rate: { rate }, rates: { labour } });
      expectSums(result);
    },
  );

  it('an operation takes the least confidence of its seen damages', () => {
    const seen = (id: string, confidence: number) => ({
      id,
      type: 'scratch' as const,
      part: 'hood' as const,
      side: 'none' as const,
      severity: null,
      repairMethod: null,
      lengthMm: null,
      widthMm: null,
      confidence,
    });
    const { operations } = estimate(undefined, { parameters: { foundDamages: [seen('a', 0.9), seen('b', 0.6)] } });
    expect(operations).toMatchObject([{ damage_ids: ['a', 'b'], confidence: 0.6 }]);
  });
});

describe('an estimate by an incomplete book', () => {
  const without = (pattern: RegExp) => BOOK.filter((row) => !pattern.test(row));

  it.each([
    ['the work', /,work,.*,glass_repair,/, { type: 'chip', part: 'windshield' }],
    ['the part', /,part,.*,windshield,/, { type: 'broken_glass', part: 'windshield' }],
    ['the removal of what is in the way', /,remove_and_refit,/, { type: 'broken_light', part: 'headlight' }],
  ] as const)('a damage is not priced where the book lacks %s, and no amount stands for it', (_, pattern, damage) => {
    const other = { type: 'scratch' as const, part: 'hood' as const, severity: 'minor' as const };
    const result = estimate([damage, other], { rows: without(pattern) });
    expect(result.not_priced).toEqual([{ damage_id: 'damage_1', reason: 'no_repair_data' }]);
    expect(result.operations.map(({ damage_ids }) => damage_ids)).toEqual([['damage_2']]);
    expectSums(result);
  });

  it('work shared with a damage that is not priced is done for the next damage', () => {
    const result = estimate(
      [
        { type: 'broken_light', part: 'headlight', side: 'left' },
        { type: 'dent', part: 'front_fender', side: 'left', severity: 'critical' },
      ],
      { rows: without(/,part,.*,headlight,/) },
    );
    expect(result.not_priced.map(({ damage_id }) => damage_id)).toEqual(['damage_1']);
    expect(stepsOf(result)).toContain('remove_and_refit front_bumper none');
  });

  it('dirt needs cleaning only and costs nothing', () => {
    const result = estimate([{ type: 'dirt_or_stain', part: 'hood' }]);
    expect(result).toMatchObject({
      operations: [],
      not_priced: [{ damage_id: 'damage_1', reason: 'cleaning_only' }],
      totals: { gross: 0 },
      repair_days: 0,
    });
  });
});
