import { describe, expect, test } from 'vitest';
import { DAMAGE_TYPES, type REPAIR_METHODS, SEVERITIES } from '../../../src/contracts/vocabulary/damages.ts';
import type { Part } from '../../../src/contracts/vocabulary/parts.ts';
import { type Extent, gradeOf, overallOf } from '../../../src/endpoints/damage.severity/severity-rules.ts';

type Type = (typeof DAMAGE_TYPES)[number];
const NOWHERE: Extent = { lengthMm: null, partShare: null, vehicleShare: null };

function grade(type: Type, part: Part | null, extent: Partial<Extent> = {}) {
  return gradeOf({ type, part, confidence: 1, extent: { ...NOWHERE, ...extent } });
}

/** Damages of a result with these severities. */
const graded = (...damages: { part: Part | null; type: Type; lengthMm: number }[]) =>
  damages.map(({ part, type, lengthMm }, index) => ({
    id: `damage_${index + 1}`,
    type,
    part,
    side: null,
    bbox: { x: 0, y: 0, width: 1, height: 1 },
    ...grade(type, part, { lengthMm }),
  }));

test.each<[Type, Part | null, number, string, (typeof REPAIR_METHODS)[number], boolean]>([
  ['scratch', 'front_door', 40, 'minor', 'polish', false],
  ['scratch', 'front_door', 400, 'moderate', 'repair_and_paint', true],
  ['scuff', 'rear_bumper', 200, 'moderate', 'repair_and_paint', true],
  ['dent', 'rear_door', 50, 'minor', 'paintless_dent_repair', false],
  ['dent', 'rear_door', 299, 'moderate', 'paintless_dent_repair', false],
  ['dent', 'rear_door', 300, 'severe', 'repair_and_paint', true],
  ['deformation', 'hood', 500, 'critical', 'replace', true],
  ['chip', 'hood', 5, 'minor', 'touch_up', false],
  ['rust', 'quarter_panel', 30, 'minor', 'spot_repair', true],
  ['scratch', 'windshield', 400, 'moderate', 'polish', false],
  ['crack', 'windshield', 100, 'moderate', 'replace', false],
  ['broken_light', null, 100, 'severe', 'replace', false],
  ['dent', 'front_wheel', 20, 'severe', 'replace', false],
  ['scratch', 'front_wheel', 20, 'minor', 'spot_repair', true],
  ['dirt_or_stain', 'hood', 900, 'minor', 'none', false],
])('a %s on the part %s of %d mm is %s: %s', (type, part, lengthMm, severity, method, paint) => {
  expect(grade(type, part, { lengthMm })).toMatchObject({
    severity: { value: severity },
    repair_method: { value: method },
    paint_required: { value: paint },
  });
});

describe('the extent', () => {
  test('the extent in millimetres decides before the share of the part, and that before the share of the vehicle', () => {
    const all = { lengthMm: 20, partShare: 0.9, vehicleShare: 0.9 };
    expect(grade('dent', 'hood', all).severity).toEqual({ value: 'minor', confidence: 0.8 });
    expect(grade('dent', 'hood', { ...all, lengthMm: null }).severity).toEqual({ value: 'severe', confidence: 0.7 });
    expect(grade('dent', 'hood', { vehicleShare: 0.01 }).severity).toEqual({ value: 'moderate', confidence: 0.6 });
  });

  test('an unknown extent counts as medium, with little confidence', () => {
    expect(grade('dent', 'hood').severity).toEqual({ value: 'moderate', confidence: 0.4 });
  });

  test.each(DAMAGE_TYPES)('a larger %s is never less severe', (type) => {
    const ranks = [10, 100, 1000].map((lengthMm) =>
      SEVERITIES.indexOf(grade(type, 'front_door', { lengthMm }).severity.value),
    );
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  });
});

test('the material follows from the part, and is null for an unknown one', () => {
  const material = (part: Part | null, type: Type = 'scratch') => grade(type, part).material?.value ?? null;
  expect(material('front_door')).toBe('metal');
  expect(material('front_bumper')).toBe('plastic');
  expect(material('rear_window')).toBe('glass');
  expect(material('rear_wheel')).toBe('alloy');
  expect(material('rear_wheel', 'puncture')).toBe('rubber');
  expect(material(null)).toBeNull();
  expect(material(null, 'broken_glass')).toBe('glass');
});

test('glass, lights, wheels and the structure are relevant to safety, blemishes of the coat are not', () => {
  const isRelevant = (type: Type, part: Part) => grade(type, part, { lengthMm: 100 }).safety_relevant.value;
  expect(isRelevant('crack', 'windshield')).toBe(true);
  expect(isRelevant('broken_light', 'taillight')).toBe(true);
  expect(isRelevant('dent', 'front_wheel')).toBe(true);
  expect(isRelevant('dent', 'a_pillar')).toBe(true);
  expect(isRelevant('scuff', 'rear_wheel')).toBe(false);
  expect(isRelevant('dent', 'front_door')).toBe(false);
});

test('the vehicle is as bad as its worst damage', () => {
  expect(overallOf([])).toBeNull();
  const scratched = graded({ part: 'hood', type: 'scratch', lengthMm: 20 });
  expect(overallOf(scratched)).toMatchObject({ severity: { value: 'minor' }, drivable: { value: true } });
  const lamp = graded({ part: 'headlight', type: 'broken_light', lengthMm: 90 });
  expect(overallOf([...scratched, ...lamp])).toMatchObject({
    severity: { value: 'severe' },
    drivable: { value: false },
    total_loss: { value: false },
  });
  const bent = { part: 'hood', type: 'deformation', lengthMm: 900 } as const;
  expect(overallOf(graded(bent))).toMatchObject({ drivable: { value: false }, total_loss: { value: false } });
  expect(overallOf(graded(bent, { ...bent, part: 'front_fender' }))).toMatchObject({ total_loss: { value: true } });
});
