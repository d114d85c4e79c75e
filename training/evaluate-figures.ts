/** Compares readings with the truth: shares with their counts and Wilson intervals. */
import type { Result } from '../src/endpoints/dashboard.read/result.ts';
import type { Truth } from './evaluate-held-out-set.ts';

export interface Reading {
  truth: Truth;
  result: Result;
}

export interface Figure {
  name: string;
  /** For shares: how many of how many. Null for means and F1. */
  share: { hits: number; of: number } | null;
  value: number;
  text: string;
}

/** 95 % of a normal distribution lies within this many standard deviations. */
const Z = 1.96;

/**
 * Interval of a share at 95 %. Unlike the normal approximation it is sound near 0 and 1 and for few cases.
 * Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 */
export function wilsonInterval(hits: number, of: number): { low: number; high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const share = hits / of;
  const spread = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / spread;
  const half = (Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2))) / spread;
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

export function figuresOf(readings: readonly Reading[]): Figure[] {
  const dashboards = readings.filter(({ truth }) => truth.dashboard);
  const negatives = readings.filter(({ truth }) => !truth.dashboard);
  const withOdometer = dashboards.filter(({ truth }) => truth.odometer);
  const withoutOdometer = dashboards.filter(({ truth }) => !truth.odometer);
  const withFuel = dashboards.filter(({ truth }) => truth.fuel_level_percent !== null);
  const withoutFuel = dashboards.filter(({ truth }) => truth.fuel_level_percent === null);
  const fuelGaps = withFuel.flatMap(({ truth, result }) => fuelGap(truth, result) ?? []);
  return [
    share('odometer: string exact', withOdometer, ({ truth, result }) => valueIsRight(truth, result)),
    share('odometer: unit right', withOdometer, ({ truth, result }) => unitIsRight(truth, result)),
    share(
      'odometer: string and unit exact',
      withOdometer,
      ({ truth, result }) => valueIsRight(truth, result) && unitIsRight(truth, result),
    ),
    share(
      'odometer: a wrong value given',
      withOdometer,
      ({ truth, result }) => result.odometer !== null && !valueIsRight(truth, result),
    ),
    share('no readable odometer: a value given', withoutOdometer, ({ result }) => result.odometer !== null),
    ...lampFigures(dashboards),
    share('fuel: a level given', withFuel, ({ result }) => result.fuel_level_percent !== null),
    share('no fuel level shown: a level given', withoutFuel, ({ result }) => result.fuel_level_percent !== null),
    mean('fuel: mean error of a level given, points', fuelGaps),
    share('fuel: within 10 points, of levels given', fuelGaps, (gap) => gap <= 10),
    share('cluster lit or not: right', dashboards, ({ truth, result }) => result.cluster_lit === truth.cluster_lit),
    share('dashboard not found', dashboards, ({ result }) => result.cluster_lit === null),
    share('no dashboard: taken for one', negatives, ({ result }) => result.cluster_lit !== null),
    share('no dashboard: any reading given', negatives, ({ result }) => givesAnyReading(result)),
  ];
}

function valueIsRight({ odometer }: Truth, result: Result): boolean {
  return result.odometer !== null && result.odometer.value === odometer?.value;
}

function unitIsRight({ odometer }: Truth, result: Result): boolean {
  return result.odometer !== null && result.odometer.unit === odometer?.unit;
}

function fuelGap({ fuel_level_percent }: Truth, result: Result): number | null {
  if (fuel_level_percent === null || result.fuel_level_percent === null) return null;
  return Math.abs(result.fuel_level_percent - fuel_level_percent);
}

function givesAnyReading({ odometer, warning_lights, fuel_level_percent }: Result): boolean {
  return odometer !== null || (warning_lights ?? []).length > 0 || fuel_level_percent !== null;
}

/** A lamp is right when its code is among the picture's lamps, each of which counts once. */
function lampFigures(dashboards: readonly Reading[]): Figure[] {
  let right = 0;
  let given = 0;
  let lit = 0;
  for (const { truth, result } of dashboards) {
    const missing = truth.warning_lights.map(({ code }) => code);
    lit += missing.length;
    const lamps = result.warning_lights ?? [];
    given += lamps.length;
    for (const { code } of lamps) {
      const place = missing.indexOf(code);
      if (place < 0) continue;
      missing.splice(place, 1);
      right += 1;
    }
  }
  const f1 = given + lit === 0 ? Number.NaN : (2 * right) / (given + lit);
  return [
    countedShare('lamps: precision', right, given),
    countedShare('lamps: recall', right, lit),
    { name: 'lamps: F1', share: null, value: f1, text: `${f1.toFixed(3)} (${lit} lit lamps)` },
  ];
}

function share<Case>(name: string, cases: readonly Case[], isHit: (each: Case) => boolean): Figure {
  return countedShare(name, cases.filter(isHit).length, cases.length);
}

function countedShare(name: string, hits: number, of: number): Figure {
  const { low, high } = wilsonInterval(hits, of);
  const value = of === 0 ? Number.NaN : hits / of;
  const percent = (number: number) => (100 * number).toFixed(1);
  const text = of === 0 ? 'no case' : `${percent(value)} % (${hits} of ${of}; ${percent(low)} to ${percent(high)} %)`;
  return { name, share: { hits, of }, value, text };
}

function mean(name: string, values: readonly number[]): Figure {
  const value = values.reduce((sum, each) => sum + each, 0) / values.length;
  return { name, share: null, value, text: values.length === 0 ? 'no case' : `${value.toFixed(1)} (${values.length})` };
}
