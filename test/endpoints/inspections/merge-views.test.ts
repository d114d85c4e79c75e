import { describe, expect, test } from 'vitest';
import {
  type Grade,
  mergeViews,
  type SeenFinding,
  type SeenPart,
} from '../../../src/endpoints/inspections/merge-views.ts';

const part = (name: SeenPart['part'], confidence = 0.9): SeenPart => ({ part: name, side: 'left', confidence });
const finding = (of: SeenFinding['part'], changes: Partial<SeenFinding> = {}): SeenFinding => ({
  type: 'dent',
  part: of,
  side: 'left',
  confidence: 0.8,
  bbox: { x: 0, y: 0, width: 1, height: 1 },
  polygon: [],
  ...changes,
});
const grade = (severity: Grade['severity']['value'], confidence = 0.8): Grade => ({
  severity: { value: severity, confidence },
  repair_method: { value: 'polish', confidence },
  size: null,
});

describe('damages of one type on one part', () => {
  const merged = mergeViews([
    { parts: [part('hood', 0.7)], findings: [finding('hood', { confidence: 0.6 })], grades: [grade('minor', 0.5)] },
    { parts: [part('hood')], findings: [finding('hood')], grades: [grade('moderate', 0.9)] },
    { parts: [part('hood')], findings: [], grades: [] },
  ]);

  test('damages of one type on one part merge into one, with all views, the highest confidence and the surest grade', () => {
    expect(merged.parts).toHaveLength(1);
    expect(merged.parts[0]).toMatchObject({
      part: 'hood',
      confidence: 0.9,
      views: [0, 1, 2],
      worst_severity: 'moderate',
    });
    expect(merged.parts[0]?.damages).toEqual([
      {
        id: 'damage_1',
        type: 'dent',
        confidence: 0.8,
        ...grade('moderate', 0.9),
        is_new: null,
        views: [0, 1],
      },
    ]);
  });

  test('damages of one type on one part have the id of the merged damage in every view', () => {
    expect(merged.damageIds).toEqual([['damage_1'], ['damage_1'], []]);
  });
});

test('an inspection keeps damages of different types, sides or parts separate', () => {
  const { parts, damageIds } = mergeViews([
    {
      parts: [part('hood')],
      findings: [
        finding('hood'),
        finding('hood', { type: 'scratch' }),
        finding('hood', { side: 'right' }),
        finding('roof'),
      ],
      grades: [grade('minor'), grade('severe'), grade('minor'), grade('minor')],
    },
  ]);
  expect(new Set(damageIds[0]).size).toBe(4);
  // A damage makes its part visible; the worse of two damages on one part comes first.
  expect(parts.map((item) => [item.part, item.side, item.damages.map(({ type }) => type)])).toEqual([
    ['hood', 'left', ['scratch', 'dent']],
    ['hood', 'right', ['dent']],
    ['roof', 'left', ['dent']],
  ]);
});

test('an inspection lists damaged parts first and keeps the order of the others', () => {
  const { parts } = mergeViews([
    { parts: [part('roof'), part('hood')], findings: [finding('hood')], grades: [grade('minor')] },
  ]);
  expect(parts.map((item) => [item.part, item.worst_severity])).toEqual([
    ['hood', 'minor'],
    ['roof', null],
  ]);
});

test('an inspection omits a damage without a grade', () => {
  const { parts, damageIds } = mergeViews([
    { parts: [part('hood')], findings: [finding('hood')], grades: null },
    { parts: [], findings: [finding(null)], grades: [null] },
  ]);
  expect(parts).toMatchObject([{ part: 'hood', damages: [] }]);
  expect(damageIds).toEqual([[null], [null]]);
});

test('an inspection lists each damage on no known part, and merges none of them', () => {
  const unplaced = finding(null, { side: null });
  const { parts, damageIds } = mergeViews([
    { parts: [part('hood')], findings: [unplaced, unplaced], grades: [grade('minor'), grade('severe')] },
    { parts: [], findings: [unplaced], grades: [grade('moderate')] },
  ]);
  expect(parts).toMatchObject([
    { part: null, side: null, views: [0, 1], worst_severity: 'severe' },
    { part: 'hood', damages: [] },
  ]);
  expect(parts[0]?.damages.map(({ severity, views }) => [severity.value, views])).toEqual([
    ['severe', [0]],
    ['moderate', [1]],
    ['minor', [0]],
  ]);
  expect(damageIds).toEqual([['damage_3', 'damage_1'], ['damage_2']]);
});
