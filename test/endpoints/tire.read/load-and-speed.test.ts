import { expect, test } from 'vitest';
import { isSpeedSymbol, MAXIMUM_SPEEDS_KMH, maximumLoadKg } from '../../../src/endpoints/tire.read/load-and-speed.ts';

test.each([
  // From the ETRTO table.
  [0, 45],
  [1, 46.2],
  [3, 48.7],
  [19, 77.5],
  [20, 80],
  [60, 250],
  [61, 257],
  [75, 387],
  [76, 400],
  [79, 437],
  [82, 475],
  [84, 500],
  [88, 560],
  [91, 615],
  [94, 670],
  [95, 690],
  [98, 750],
  [99, 775],
  [100, 800],
  [104, 900],
  [108, 1000],
  [110, 1060],
  [112, 1120],
  [115, 1215],
  [121, 1450],
  [124, 1600],
  [126, 1700],
  [147, 3075],
  [155, 3875],
  [160, 4500],
  [279, 136_000],
])('the load index %d stands for %d kg', (loadIndex, kilograms) => {
  expect(maximumLoadKg(loadIndex)).toBe(kilograms);
});

test('the load indexes 0 to 279 stand for increasing loads', () => {
  const loads = Array.from({ length: 280 }, (_, loadIndex) => maximumLoadKg(loadIndex) ?? 0);
  expect(loads.every((load, index) => index === 0 || load > (loads[index - 1] ?? Infinity))).toBe(true);
  expect([-1, 280, 91.5].map(maximumLoadKg)).toEqual([null, null, null]);
});

test('the speed symbols are in the order of speed, except H', () => {
  const symbols = Array.from('JKLMNPQRSTUHVWY');
  expect(symbols.every(isSpeedSymbol)).toBe(true);
  const speeds = symbols.map((symbol) => (isSpeedSymbol(symbol) ? MAXIMUM_SPEEDS_KMH[symbol] : null));
  expect(speeds).toEqual([100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 240, 270, 300]);
  expect(['A', 'O', 'X', 'ZR', '(Y)'].some(isSpeedSymbol)).toBe(false);
});
