/** The rules that combine the views of a live inspection. */

import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';
import { assessOverall } from '../../../src/endpoints/inspections/assess-overall.ts';
import { compareWithBaseline } from '../../../src/endpoints/inspections/compare-baseline.ts';
import { layOutReport } from '../../../src/endpoints/inspections/report/lay-out.ts';
import type { Result } from '../../../src/endpoints/inspections/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { streamsOf, textOf } from '../../support/pdf.ts';

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

describe('the vehicle as a whole', () => {
  const severe = damage({ severity: { value: 'severe', confidence: 0.6 } });

  test('a vehicle takes the grade and confidence of its worst damage', () => {
    const parts = [part([damage()]), part([severe])];
    expect(assessOverall({ parts, views: [0.9], drivable: [] })).toEqual({
      condition_grade: { value: 'D', confidence: 0.6 },
      drivable: { value: true, confidence: 0.6 },
    });
  });

  test('a vehicle is not drivable with a critical damage or an adverse grading', () => {
    const critical = damage({ severity: { value: 'critical', confidence: 0.8 } });
    expect(assessOverall({ parts: [part([critical])], views: [0.9], drivable: [] })).toMatchObject({
      condition_grade: { value: 'E' },
      drivable: { value: false, confidence: 0.8 },
    });
    const drivable = [
      { value: true, confidence: 0.9 },
      { value: false, confidence: 0.7 },
    ];
    expect(assessOverall({ parts: [part([severe])], views: [0.9], drivable })?.drivable).toEqual(drivable[1]);
  });

  test('the condition takes the lowest view confidence without damages, and is null without a view', () => {
    expect(assessOverall({ parts: [part([])], views: [0.9, 0.4], drivable: [] })).toMatchObject({
      condition_grade: { value: 'A', confidence: 0.4 },
    });
    expect(assessOverall({ parts: [], views: [], drivable: [] })).toBeNull();
  });

  test('a vehicle is graded by a damage that no view shows', () => {
    const parts = [part([severe], { part: null, side: null })];
    expect(assessOverall({ parts, views: [], drivable: [] })).toMatchObject({
      condition_grade: { value: 'D', confidence: 0.6 },
    });
  });
});

test('a damage is new if the baseline has none of its type on the part, and an unknown side matches either', () => {
  const baseline = { parts: [part([damage()], { side: null })] };
  const [compared] = compareWithBaseline([part([damage(), damage({ type: 'dent' })])], baseline);
  expect(compared?.damages.map(({ is_new }) => is_new)).toEqual([false, true]);
  const [other] = compareWithBaseline([part([damage()], { side: 'right' })], { parts: [part([damage()])] });
  expect(other?.damages[0]?.is_new).toBe(true);
  const unplaced = part([damage()], { part: null, side: null });
  expect(compareWithBaseline([unplaced], { parts: [unplaced] })[0]?.damages[0]?.is_new).toBeNull();
});

describe('the report', () => {
  const inspection = () => {
    const { overall, parts, repair_estimate: repairEstimate } = fixtureOf<Result>('inspections', 'default');
    const vehicle = 'Škoda (Lumo) \u6f22';
    return {
      overall,
      parts,
      repairEstimate,
      vehicle,
      views: [],
      totalViews: 0,
      usableViews: 0,
      missingViews: ['rear_left', 'front_right'] as Result['missing_views'],
      jobId: 'job_1CoTsd5kMvWzrNbUoFgrYo',
      createdAt: new Date('2026-11-23T18:05:31Z'),
    };
  };

  test('the report of an inspection names the damages with their repair, and adds up the estimate', async () => {
    const text = textOf(await layOutReport(inspection()));
    expect(text).toMatch(/Škoda \(Lumo\) \?\. Condition C, can be driven/);
    expect(text).toMatch(/left rear door\ndent, moderate\npaintless dent repair\nseen on 1, 2/);
    expect(text).toMatch(/gross\n2260\.41 EUR/);
  });

  test('the report of an inspection says which job made it when, and which views are missing', async () => {
    const text = textOf(await layOutReport(inspection()));
    expect(text).toContain('Job job_1CoTsd5kMvWzrNbUoFgrYo, 2026-11-23 18:05 UTC.');
    expect(text).toContain('Missing views: rear left, front right.');
    expect(textOf(await layOutReport({ ...inspection(), missingViews: [] }))).toContain('No view is missing.');
  });

  test('the report of an inspection says of each picture whether it counts as a view', async () => {
    const views = [
      { view: { value: 'front_left' as const, confidence: 0.9 }, isUsable: true, picture: null },
      { view: null, isUsable: false, picture: null },
    ];
    const text = textOf(await layOutReport({ ...inspection(), views, totalViews: 2, usableViews: 1 }));
    expect(text).toMatch(/^1 {2}front left\n2 {2}unknown, not counted as a view$/m);
    expect(text).toContain('2 pictures, 1 of them counted as a view.');
  });

  test('the report of an inspection lists a damage on no known part, and that it is not priced', async () => {
    const { repairEstimate, ...rest } = inspection();
    const parts = [part([damage({ id: 'damage_4' })], { part: null, side: null })];
    const not_priced = [{ damage_id: 'damage_4', reason: 'part_unknown' as const }];
    const text = textOf(
      await layOutReport({ ...rest, parts, repairEstimate: repairEstimate && { ...repairEstimate, not_priced } }),
    );
    expect(text).toMatch(/^4\nunknown part\nscratch, minor/m);
    expect(text).toContain('Not priced: 4 (part unknown).');
  });

  test('the report of an inspection numbers its pages, and names itself at the top of the later ones', async () => {
    const many = Array.from({ length: 80 }, (_, index) => damage({ id: `damage_${index + 1}` }));
    const text = textOf(await layOutReport({ ...inspection(), parts: [part(many)], repairEstimate: null }));
    expect(text.match(/^Page \d of \d$/gm)).toEqual(['Page 1 of 3', 'Page 2 of 3', 'Page 3 of 3']);
    expect(text.match(/^Vehicle inspection$/gm)).toHaveLength(3);
  });

  test('the report of an inspection outlines each damage on the picture, with the number of its line', async () => {
    const jpeg = await sharp({ create: { width: 60, height: 20, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const points = [
      { x: 0.5, y: 0.5 },
      { x: 0.75, y: 0.5 },
      { x: 0.75, y: 1 },
    ];
    const views = [
      {
        view: null,
        isUsable: false,
        picture: { jpeg, width: 60, height: 20 },
        outlines: [{ damageId: 'damage_7', points }],
      },
    ];
    const report = await layOutReport({ ...inspection(), parts: [], views, totalViews: 1 });
    expect(textOf(report)).toMatch(/^7$/m);
    // A picture of 60 × 20 fills the width of 246 points: the outline begins in its middle and is a quarter wide.
    const [from, to] = [42 + 123, 42 + 123 + 61.5];
    const drawing = streamsOf(report).join('\n');
    expect(drawing).toMatch(new RegExp(`\\n${from} [\\d.]+ m\\n${to} [\\d.]+ l\\n${to} [\\d.]+ l\\nh\\n`));
  });

  test('the report of an inspection says why it has no estimate', async () => {
    const without = { ...inspection(), repairEstimate: null, estimateOmitted: 'no_price_book' as const };
    expect(textOf(await layOutReport(without))).toContain('No price book of repairs is active');
  });

  test('the report of an inspection embeds a font for letters that the fonts of readers lack', async () => {
    const report = await layOutReport({ ...inspection(), vehicle: 'ГАЗ Łódź Ελλάς' });
    expect(report.toString('latin1')).toContain('Arimo');
    const letters = streamsOf(report).find((stream) => stream.includes('begincmap')) ?? '';
    for (const letter of 'ГАЗŁźΕλά') {
      expect(letters).toContain(`<${letter.charCodeAt(0).toString(16).padStart(4, '0')}>`);
    }
    expect((await layOutReport(inspection())).toString('latin1')).not.toContain('Arimo');
  });

  test('the report of an inspection is the same, to the byte, for the same inspection', async () => {
    const wide = { ...inspection(), vehicle: 'ГАЗ' };
    expect(await layOutReport(wide)).toEqual(await layOutReport(wide));
  });

  test('the report of an inspection continues on further pages, each offset of its table true', async () => {
    const many = Array.from({ length: 80 }, (_, index) => damage({ id: `damage_${index + 1}` }));
    const report = await layOutReport({ ...inspection(), parts: [part(many)], repairEstimate: null });
    const file = report.toString('latin1');
    expect(file).toMatch(/\/Count 3\b/);
    const offsets = [...file.matchAll(/^(\d{10}) 00000 n /gm)].map(([, offset]) => Number(offset));
    expect(offsets.length).toBeGreaterThan(0);
    for (const [index, offset] of offsets.entries()) {
      expect(file.slice(offset, offset + 12)).toMatch(new RegExp(`^${index + 1} 0 obj`));
    }
    expect(textOf(report).match(/^left front door$/gm)).toHaveLength(80);
  });

  test('the report of an inspection passes the check of every artefact', async () => {
    const preview = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const views = [
      { view: null, isUsable: false, picture: { jpeg: preview, width: 30, height: 20 } },
      { view: null, isUsable: false, picture: null },
    ];
    const report = await layOutReport({ ...inspection(), views, totalViews: 3, vehicle: 'ГАЗ' });
    expect(inspectArtefact(report, 'application/pdf')).toBeNull();
    expect(report.includes(preview)).toBe(true);
  });

  test('the report of an inspection shows amounts of a currency without cents as they are', async () => {
    const { repairEstimate, ...rest } = inspection();
    const yen = repairEstimate && { ...repairEstimate, currency: 'JPY' };
    expect(textOf(await layOutReport({ ...rest, repairEstimate: yen }))).toMatch(/gross\n226041 JPY/);
  });
});
