import { expect, test } from 'vitest';
import {
  clampBox,
  expandBox,
  intersectionOverUnion,
  suppressOverlaps,
  toBoundingBox,
} from '../../../../src/inference/toolkit/decoding/boxes.ts';

const box = (x0: number, y0: number, x1: number, y1: number) => ({ x0, y0, x1, y1 });

test('intersection over union is 1 for a box with itself, 0 for boxes that touch, a third for half overlap', () => {
  expect(intersectionOverUnion(box(0, 0, 10, 10), box(0, 0, 10, 10))).toBe(1);
  expect(intersectionOverUnion(box(0, 0, 10, 10), box(10, 0, 20, 10))).toBe(0);
  expect(intersectionOverUnion(box(0, 0, 10, 10), box(5, 0, 15, 10))).toBeCloseTo(1 / 3);
});

test('suppression keeps the first of overlapping boxes', () => {
  const items = [box(0, 0, 10, 10), box(1, 0, 11, 10), box(20, 0, 30, 10)].map((each) => ({ box: each }));
  expect(suppressOverlaps(items, 0.5)).toEqual([items[0], items[2]]);
});

test('a box grows by shares of its size, clamped to the picture', () => {
  expect(expandBox(box(10, 10, 30, 20), 0.1, 0.5, { width: 31, height: 100 })).toEqual(box(8, 5, 31, 25));
  expect(clampBox(box(-5, -5, 500, 7), { width: 100, height: 50 })).toEqual(box(0, 0, 100, 7));
});

test('a bounding box is stated to a tenth of a pixel', () => {
  expect(toBoundingBox(box(10.04, 5.06, 20.11, 9))).toEqual({ x: 10, y: 5.1, width: 10.1, height: 3.9 });
});
