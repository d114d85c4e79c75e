/** Whether a series of a soak is flat. */
import { median } from '../statistics.ts';
import type { SoakSample } from './sampling.ts';

export interface Group {
  name: string;
  unit: string;
  /** What it may grow in an hour, whatever its size; null for what need not be flat. */
  floor: number | null;
}

/** In the order of the report. */
export const GROUPS: readonly Group[] = [
  { name: 'Memory', unit: 'MB', floor: 8 },
  { name: 'Heap', unit: 'MB', floor: 4 },
  { name: 'File handles', unit: '', floor: 4 },
  { name: 'Sockets', unit: '', floor: 4 },
  { name: 'PostgreSQL connections', unit: '', floor: 3 },
  { name: 'Tables whose rows go', unit: 'kB', floor: 256 },
  { name: 'Bytes a row of tables whose rows stay', unit: 'B', floor: 0 },
  { name: 'Dead rows', unit: '', floor: null },
  { name: 'Rows that stay', unit: '', floor: null },
  { name: 'Files', unit: '', floor: null },
  { name: 'Backlog', unit: '', floor: 10 },
  { name: 'Jobs a second', unit: '1/s', floor: null },
  { name: 'Time, ms', unit: 'ms', floor: null },
];

/** Of its size, in an hour. */
export const GROWTH_SHARE = 0.1;
/** Before it, a slope says nothing: retention, vacuum and V8 have hardly begun. */
export const SHORTEST_MINUTES = 40;

export interface Judged {
  name: string;
  /** Medians of the first quarter, the middle half and the last quarter of the time. */
  first: number;
  middle: number;
  last: number;
  /** Of the last three quarters. */
  slopePerHour: number;
  /** Null when it need not be, or the soak was too short. */
  isFlat: boolean | null;
}

/** Each series of a group. */
export function judge(group: Group, samples: readonly SoakSample[], minutes: number): Judged[] {
  const names = [...new Set(samples.flatMap(({ values }) => Object.keys(values[group.name] ?? {})))];
  return names.map((name) => {
    const points = pointsOf(samples, group.name, name);
    const between = (from: number, to: number) => {
      const values = points.filter(([minute]) => minute >= from * minutes && minute <= to * minutes);
      return values.length === 0 ? Number.NaN : median(values.map(([, value]) => value));
    };
    const settled = points.filter(([minute]) => minute >= minutes / 4);
    const slopePerHour = 60 * slopeOf(settled);
    const allowed = Math.max(group.floor ?? 0, GROWTH_SHARE * between(0.25, 1));
    return {
      name,
      first: between(0, 0.25),
      middle: between(0.25, 0.75),
      last: between(0.75, 1),
      slopePerHour,
      isFlat: group.floor === null || minutes < SHORTEST_MINUTES ? null : slopePerHour <= allowed,
    };
  });
}

export type Point = [minute: number, value: number];

export function pointsOf(samples: readonly SoakSample[], group: string, name: string): Point[] {
  return samples.flatMap(({ minute, values }): Point[] => {
    const value = values[group]?.[name];
    return value === undefined ? [] : [[minute, value]];
  });
}

/** The median of the slopes between all pairs (Theil and Sen), which single outliers do not move. NaN below two points. */
export function slopeOf(points: readonly Point[]): number {
  const slopes = points.flatMap(([minute, value], index) =>
    points.slice(index + 1).map(([later, other]) => (other - value) / (later - minute)),
  );
  return slopes.length === 0 ? Number.NaN : median(slopes);
}
