import { expect, test } from 'vitest';
import type { Result } from '../../../src/endpoints/dashboard.read/result.ts';
import { figuresOf } from '../../../training/evaluate-figures.ts';
import type { Truth } from '../../../training/evaluate-held-out-set.ts';

const bbox = { x: 0, y: 0, width: 1, height: 1 };

test('each lamp of a picture counts once, whatever is said twice', () => {
  const readings = [
    { truth: truth({ lamps: ['abs', 'brake'] }), result: result({ lamps: ['abs', 'abs', 'esp'] }) },
    { truth: truth({ lamps: ['esp'] }), result: result({ lamps: ['esp'] }) },
  ];
  expect(figureOf('lamps: precision', readings)).toBeCloseTo(2 / 4);
  expect(figureOf('lamps: recall', readings)).toBeCloseTo(2 / 3);
  expect(figureOf('lamps: F1', readings)).toBeCloseTo(4 / 7);
});

test('anything read from a picture without a dashboard is a false reading', () => {
  const negative = { ...truth({}), dashboard: false, cluster_lit: null };
  const nothing = { ...result({}), cluster_lit: null };
  const readings = [
    { truth: negative, result: nothing },
    { truth: negative, result: { ...nothing, fuel_level_percent: 3 } },
  ];
  expect(figureOf('no dashboard: any reading given', readings)).toBe(0.5);
  expect(figureOf('no dashboard: taken for one', readings)).toBe(0);
});

test('fuel is measured where a level is shown and given', () => {
  const readings = [
    { truth: { ...truth({}), fuel_level_percent: 50 }, result: { ...result({}), fuel_level_percent: 58 } },
    { truth: { ...truth({}), fuel_level_percent: 50 }, result: { ...result({}), fuel_level_percent: 30 } },
    { truth: { ...truth({}), fuel_level_percent: 50 }, result: result({}) },
  ];
  expect(figureOf('fuel: a level given', readings)).toBeCloseTo(2 / 3);
  expect(figureOf('fuel: mean error of a level given, points', readings)).toBe(14);
  expect(figureOf('fuel: within 10 points, of levels given', readings)).toBe(0.5);
});

function figureOf(name: string, readings: { truth: Truth; result: Result }[]): number {
  return figuresOf(readings).find((figure) => figure.name === name)?.value ?? Number.NaN;
}

function truth({ value, lamps = [] }: { value?: number; lamps?: string[] }): Truth {
  return {
    file: 'picture.jpg',
    dashboard: true,
    cluster_lit: true,
    odometer: value === undefined ? null : { value, unit: 'km', display_type: 'digital', bbox },
    warning_lights: lamps.map((code) => ({ code })),
    fuel_level_percent: null,
    fuel_bbox: null,
  };
}

function result({ value, lamps = [] }: { value?: number; lamps?: string[] }): Result {
  return {
    cluster_lit: true,
    odometer: value === undefined ? null : { value, unit: 'km', display_type: 'digital', confidence: 1, bbox },
    warning_lights: lamps.map((code) => ({ code, label: code, severity: 'stop', confidence: 1, bbox })),
    fuel_level_percent: null,
  };
}
