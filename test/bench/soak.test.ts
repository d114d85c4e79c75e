/** What a soak says about its samples. `npm run soak -- --minutes 1` runs one in short. */
import { describe, expect, it } from 'vitest';
import { drawCharts } from '../../bench/soak/chart.ts';
import { slopeOf } from '../../bench/soak/judgement.ts';
import { findGrowing, renderSoak, type SoakReport } from '../../bench/soak/report.ts';

const MINUTES = 60;

/** A report of one process whose heap has these megabytes at each minute. */
function reportOf(heapAt: (minute: number) => number, changes: Partial<SoakReport> = {}): SoakReport {
  return {
    startedAt: '2026-11-24T16:00:00.000Z',
    minutes: MINUTES,
    commit: 'abc',
    machine: {
      processor: 'p',
      cores: 2,
      memoryGigabytes: 8,
      system: 'linux x64',
      node: 'v24.0.0',
      loadAverage: 0,
      coresUsedByOthers: 0,
    },
    stack: '1 API',
    load: { requests: 1 },
    broken: [],
    samples: Array.from({ length: MINUTES }, (_, minute) => ({
      minute,
      values: { Heap: { 'API 1': heapAt(minute) } },
    })),
    ...changes,
  };
}

const sawtooth = (minute: number) => 100 + 30 * (minute % 3);

describe('a series of measurements', () => {
  it.each([
    ['a heap that collections reduce again and again', sawtooth],
    ['growth in the first quarter', (minute: number) => 10 * Math.min(minute, 14)],
    ['a single outlier', (minute: number) => (minute === 59 ? 10_000 : 100)],
    ['falling', (minute: number) => 200 - minute],
    ['small growth of something small', (minute: number) => 1 + minute / 20],
  ])('a series counts as flat: %s', (_, heapAt) => {
    expect(findGrowing(reportOf(heapAt))).toEqual([]);
  });

  it.each([
    ['a leak below a sawtooth', (minute: number) => sawtooth(minute) + minute, '+60'],
    ['growth by an eighth in an hour', (minute: number) => 100 + minute / 4.8, '+12.5'],
  ])('a series does not count as flat: %s', (_, heapAt, slope) => {
    expect(findGrowing(reportOf(heapAt))).toEqual([`Heap, API 1: ${slope} MB an hour`]);
  });

  it('growth is not judged in a short run, and not of what may grow', () => {
    const heapAt = (minute: number) => 100 * minute;
    expect(findGrowing(reportOf(heapAt, { minutes: 30 }))).toEqual([]);
    const rows = [1, 2, 3].map((minute) => ({ minute, values: { 'Rows that stay': { jobs: 1_000 * minute } } }));
    expect(findGrowing(reportOf(heapAt, { samples: rows }))).toEqual([]);
  });
});

it('the slope is the median of those between all pairs', () => {
  const points: [number, number][] = [
    [0, 0],
    [1, 2],
    [2, 4],
    [3, 600],
  ];
  expect(slopeOf(points)).toBe(101);
  expect(slopeOf([[1, 5]])).toBeNaN();
});

it('the report names what grows and what broke, beside quarters and slope', () => {
  const text = renderSoak(reportOf((minute) => 100 + minute, { broken: ['1 not ended: job_1'] }));
  expect(text).toContain('Flat: NOT 1 series\n- Heap, API 1: +60 MB an hour');
  expect(text).toContain('Invariants: BROKEN\n- 1 not ended: job_1');
  expect(text).toContain('| API 1 | 108 | 130 | 152 | +60 | NO |');
});

it('the charts draw each series through its samples, and its name as text', () => {
  const samples = [0, 30, 60].map((minute) => ({ minute, values: { Heap: { 'a<b': minute / 6, flat: 5 } } }));
  const svg = drawCharts(samples, MINUTES);
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  expect(svg).toContain('points="56.0,214.0 221.0,124.0 386.0,34.0"');
  expect(svg).toContain('>a&lt;b</text>');
});
