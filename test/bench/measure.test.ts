import { expect, test } from 'vitest';
import { alternate, compare, isReached, type Sample, type Side } from '../../bench/measure.ts';

const never = new AbortController().signal;
const budgetMs = Number.POSITIVE_INFINITY;

function sideOf(name: string, samples: Sample[], order: string[] = []): Side {
  const left = [...samples];
  return {
    name,
    what: name,
    processes: ['worker', 'server'],
    async run() {
      order.push(name);
      return left.shift() as Sample;
    },
  };
}

const sample = (value: number, jobs = 10, cpuSeconds: Sample['cpuSeconds'] = null): Sample => ({
  value,
  jobs,
  cpuSeconds,
});

test('the sides alternate: A B A B', async () => {
  const order: string[] = [];
  const sides = ['A', 'B'].map((name) => sideOf(name, [sample(1), sample(2)], order));
  const samples = await alternate(sides, { rounds: 2, budgetMs, signal: never });
  expect(order).toEqual(['A', 'B', 'A', 'B']);
  expect(samples.get('B')).toEqual([sample(1), sample(2)]);
});

test('nothing runs once the benchmark is stopped', async () => {
  const stopping = new AbortController();
  const order: string[] = [];
  const last: Side = {
    ...sideOf('A', []),
    async run() {
      stopping.abort(new Error('stopped'));
      return sample(1);
    },
  };
  const unreached = sideOf('B', [sample(1)], order);
  await expect(alternate([last, unreached], { rounds: 1, budgetMs, signal: stopping.signal })).rejects.toThrow(
    'stopped',
  );
  expect(order).toEqual([]);
});

test('a machine too slow for all rounds gets fewer, but every side has at least two turns', async () => {
  const order: string[] = [];
  const sides = ['A', 'B'].map((name) => sideOf(name, [sample(1), sample(2)], order));
  await alternate(sides, { rounds: 5, budgetMs: -1, signal: never });
  expect(order).toEqual(['A', 'B', 'A', 'B']);
});

test('the ratio is the median of the rounds, with its range, and is compared with the goal', async () => {
  const a = sideOf('A', [sample(70), sample(90), sample(40)]);
  const b = sideOf('B', [sample(100), sample(100), sample(50)]);
  const samples = await alternate([a, b], { rounds: 3, budgetMs, signal: never });
  const comparison = compare(samples, { name: 'jobs', unit: 'jobs/s', a, b, goal: { atLeast: 0.8 } });
  expect(comparison.ratios).toEqual([0.7, 0.9, 0.8]);
  expect(comparison.ratio).toEqual({ median: 0.8, minimum: 0.7, maximum: 0.9 });
  expect(comparison.reached).toBe(true);
});

test('a row without a goal is neither reached nor missed', async () => {
  const a = sideOf('A', [sample(1)]);
  const b = sideOf('B', [sample(2)]);
  const samples = await alternate([a, b], { rounds: 1, budgetMs, signal: never });
  expect(compare(samples, { name: 'jobs', unit: 'jobs/s', a, b, goal: null }).reached).toBeNull();
});

test('CPU time is counted per job and process, and only for the processes that do the work', async () => {
  const used = { worker: 0.1, server: 0.3, neighbour: 9 };
  const a = sideOf('A', [sample(5, 10, used), sample(5, 20, used)]);
  const samples = await alternate([a], { rounds: 2, budgetMs, signal: never });
  const { a: report } = compare(samples, { name: 'jobs', unit: 'jobs/s', a, b: a, goal: null });
  expect(report.cpuMsPerJobByProcess).toEqual({ worker: 7.5, server: 22.5 });
  expect(report.cpuMsPerJob).toBe(30);
});

test('jobs/s are also compared by CPU time, as the share of the yardstick that the more expensive side can reach', async () => {
  const a = sideOf('A', [sample(10, 10, { worker: 0.4, server: 0.4 })]);
  const b = sideOf('B', [sample(10, 10, { worker: 0.2, server: 0.4 })]);
  const samples = await alternate([a, b], { rounds: 1, budgetMs, signal: never });
  const row = { name: 'jobs', a, b, goal: null };
  expect(compare(samples, { ...row, unit: 'jobs/s' }).cpuRatio).toBeCloseTo(0.75);
  expect(compare(samples, { ...row, unit: 'ms p50' }).cpuRatio).toBeNull();
});

test.each([
  [0.7, { atLeast: 0.7 }, true],
  [0.69, { atLeast: 0.7 }, false],
  [1.4, { atMost: 1.4 }, true],
  [1.41, { atMost: 1.4 }, false],
])('a ratio of %p against the goal %p is reached: %p', (ratio, goal, reached) => {
  expect(isReached(ratio, goal)).toBe(reached);
});
