/** The rules by which a live inspection makes one whole of what its views show. */
import { describe, expect, test } from '@jest/globals';
import { compareWithBaseline } from '../../../src/endpoints/inspections/compare-baseline.ts';
import { judgeOverall } from '../../../src/endpoints/inspections/judge-overall.ts';
import { placeDamages } from '../../../src/endpoints/inspections/place-damages.ts';
import { layOutReport } from '../../../src/endpoints/inspections/report/lay-out.ts';
import type { Result } from '../../../src/endpoints/inspections/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';

type Part = Result['parts'][number];
type Damage = Part['damages'][number];

const damage = (changes: Partial<Damage> = {}): Damage => ({
  id: 'damage_1',
  type: 'scratch',
  confidence: 0.9,
  severity: { value: 'minor', confidence: 0.7 },
  repair_method: { value: 'polish', confidence: 0.6 },
  size: null,
  is_new: null,
  views: [0],
  ...changes,
});
const part = (damages: Damage[], changes: Partial<Part> = {}): Part => ({
  part: 'front_door',
  side: 'left',
  confidence: 0.9,
  views: [0],
  worst_severity: null,
  damages,
  ...changes,
});

describe('a damage without a part', () => {
  const found = (x: number) => ({
    id: 'damage_1',
    type: 'scratch' as const,
    part: null,
    side: null,
    confidence: 0.9,
    polygon: [],
    size: null,
    bbox: { x, y: 100, width: 20, height: 20 },
  });
  const box = (name: Part['part'], x: number, width: number) => ({
    part: name,
    side: 'left' as const,
    confidence: 0.8,
    alternatives: [],
    bbox: { x, y: 0, width, height: 200 },
  });
  const parts = [box('front_door', 0, 200), box('front_door_handle', 90, 60), box('rear_door', 200, 200)];

  test('is on the smallest part whose box holds most of it', () => {
    expect(placeDamages([found(100)], parts)).toMatchObject([{ part: 'front_door_handle', side: 'left' }]);
    expect(placeDamages([found(20)], parts)).toMatchObject([{ part: 'front_door' }]);
    expect(placeDamages([found(195)], parts)).toMatchObject([{ part: 'rear_door' }]);
  });

  test('is on none where no box holds most of it; one that has its part keeps it', () => {
    expect(placeDamages([found(500)], parts)).toMatchObject([{ part: null }]);
    expect(placeDamages([{ ...found(20), part: 'hood' }], parts)).toMatchObject([{ part: 'hood' }]);
  });
});

describe('the vehicle as a whole', () => {
  const severe = damage({ severity: { value: 'severe', confidence: 0.6 } });

  test('is graded by its worst damage, as sure as that one is', () => {
    const parts = [part([damage()]), part([severe])];
    expect(judgeOverall({ parts, views: [0.9], drivable: [] })).toEqual({
      condition_grade: { value: 'D', confidence: 0.6 },
      drivable: { value: true, confidence: 0.6 },
    });
  });

  test('is not to be driven with a critical damage, or where a grading says so', () => {
    const critical = damage({ severity: { value: 'critical', confidence: 0.8 } });
    expect(judgeOverall({ parts: [part([critical])], views: [0.9], drivable: [] })).toMatchObject({
      condition_grade: { value: 'E' },
      drivable: { value: false, confidence: 0.8 },
    });
    const drivable = [
      { value: true, confidence: 0.9 },
      { value: false, confidence: 0.7 },
    ];
    expect(judgeOverall({ parts: [part([severe])], views: [0.9], drivable })?.drivable).toEqual(drivable[1]);
  });

  test('without damages is as sure as the least sure view; without a view nothing is said', () => {
    expect(judgeOverall({ parts: [part([])], views: [0.9, 0.4], drivable: [] })).toMatchObject({
      condition_grade: { value: 'A', confidence: 0.4 },
    });
    expect(judgeOverall({ parts: [], views: [], drivable: [] })).toBeNull();
  });
});

test('a damage is new where the baseline has none of its type on the part; an open side may be either', () => {
  const baseline = { parts: [part([damage()], { side: null })] };
  const [compared] = compareWithBaseline([part([damage(), damage({ type: 'dent' })])], baseline);
  expect(compared?.damages.map(({ is_new }) => is_new)).toEqual([false, true]);
  const [other] = compareWithBaseline([part([damage()], { side: 'right' })], { parts: [part([damage()])] });
  expect(other?.damages[0]?.is_new).toBe(true);
});

describe('the report', () => {
  const inspection = () => {
    const { overall, parts, repair_estimate: repairEstimate } = fixtureOf<Result>('inspections', 'default');
    return { overall, parts, repairEstimate, vehicle: 'Talvera (Lumo) \u6f22', views: [], totalViews: 0 };
  };
  const textOf = (report: Buffer) =>
    [...report.toString('latin1').matchAll(/Td \((.*)\) Tj/g)].map(([, text]) => text).join('\n');

  test('names the damages with their repair, and adds up the estimate', () => {
    const text = textOf(layOutReport(inspection()));
    expect(text).toMatch(/Talvera \\\(Lumo\\\) \?\. Condition C, can be driven/);
    expect(text).toMatch(/left rear door\ndent, moderate\npaintless dent repair\nseen on 1, 2/);
    expect(text).toMatch(/gross\n\n2260\.41 EUR/);
  });

  test('goes on on further pages, each offset of its table true', () => {
    const many = Array.from({ length: 80 }, (_, index) => damage({ id: `damage_${index + 1}` }));
    const report = layOutReport({ ...inspection(), parts: [part(many)], repairEstimate: null }).toString('latin1');
    expect(report).toMatch(/\/Count 3>>/);
    const offsets = [...report.matchAll(/^(\d{10}) 00000 n /gm)].map(([, offset]) => Number(offset));
    for (const [index, offset] of offsets.entries()) {
      expect(report.slice(offset, offset + 12)).toMatch(new RegExp(`^${index + 1} 0 obj`));
    }
  });

  test('shows amounts of a currency without cents as they are', () => {
    const { repairEstimate, ...rest } = inspection();
    const yen = repairEstimate && { ...repairEstimate, currency: 'JPY' };
    expect(textOf(layOutReport({ ...rest, repairEstimate: yen }))).toMatch(/gross\n\n226041 JPY/);
  });
});
