import { expect, test } from 'vitest';
import { median, pairwiseRatios, quantile, spread } from '../../bench/statistics.ts';

test('the median of an odd number of values is the middle one, whatever their order', () => {
  expect(median([9, 1, 5])).toBe(5);
});

test('the median of an even number of values is half-way between the middle two', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('values are compared as numbers, not as text', () => {
  expect(median([10, 9, 100])).toBe(10);
});

test('quantiles run from the least value to the greatest, with interpolation', () => {
  const values = [10, 20, 30, 40, 50];
  expect(quantile(values, 0)).toBe(10);
  expect(quantile(values, 0.25)).toBe(20);
  expect(quantile(values, 0.9)).toBeCloseTo(46);
  expect(quantile(values, 1)).toBe(50);
});

test('the input values stay unchanged', () => {
  const values = [3, 1, 2];
  spread(values);
  expect(values).toEqual([3, 1, 2]);
});

test('a spread is the median with the least and the greatest value', () => {
  expect(spread([0.7, 0.9, 0.5])).toEqual({ median: 0.7, minimum: 0.5, maximum: 0.9 });
});

test('no values give no figure', () => {
  expect(() => median([])).toThrow('a quantile needs at least one value');
  expect(() => quantile([1], 1.5)).toThrow('a share lies from 0 to 1; it is 1.5');
});

test('each ratio is that of one round, so a machine that slows down between rounds changes none', () => {
  expect(pairwiseRatios([80, 8], [100, 10])).toEqual([0.8, 0.8]);
});

test('rounds that one side missed are refused', () => {
  expect(() => pairwiseRatios([1, 2], [1])).toThrow('2 values cannot be paired with 1');
});
