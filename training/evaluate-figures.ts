/** What `dashboard.read` says of drawn clusters besides the odometer: lamps, fuel and power, as shares with Wilson intervals. */
import type { Result } from '../src/endpoints/dashboard.read/result.ts';
import type { Truth } from './evaluate-held-out-set.ts';
import { wilsonInterval } from './evaluate-score.ts';

export interface ClusterReading {
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

/** None without readings. */
export function figuresOf(readings: readonly ClusterReading[]): Figure[] {
  if (readings.length === 0) return [];
  const dashboards = readings.filter(({ truth }) => truth.dashboard);
  const negatives = readings.filter(({ truth }) => !truth.dashboard);
  const withOdometer = dashboards.filter(({ truth }) => truth.odometer);
  const withFuel = dashboards.filter(({ truth }) => truth.fuel_level_percent !== null);
  const withoutFuel = dashboards.filter(({ truth }) => truth.fuel_level_percent === null);
  const fuelGaps = withFuel.flatMap(({ truth, result }) => fuelGap(truth, result) ?? []);
  return [
    share('odometer: unit right', withOdometer, ({ truth, result }) => unitIsRight(truth, result)),
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
function lampFigures(dashboards: readonly ClusterReading[]): Figure[] {
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
