import { expect, test } from 'vitest';
import { fitsVehicle, measure, scaleOfPlate, scaleOfWheel } from '../../../src/endpoints/shared/damage-scale.ts';
import { quadOfBox } from '../../../src/inference/toolkit/decoding/rotated-boxes.ts';

const picture = { width: 1000, height: 600 };
const wheel = { x0: 100, y0: 400, x1: 198, y1: 500 };
const box = (x0: number, y0: number, width: number, height: number) => ({ x0, y0, x1: x0 + width, y1: y0 + height });

test('a wheel is as high as its tire', () => {
  expect(scaleOfWheel(wheel, picture)?.mmPerPixel).toBeCloseTo(6.6);
  // Seen obliquely.
  expect(scaleOfWheel({ ...wheel, x1: 150 }, picture)?.mmPerPixel).toBeCloseTo(6.6);
});

test.each([
  ['an edge of the picture cuts off', { ...wheel, y1: 600 }],
  ['something covers from above', { ...wheel, y0: 430 }],
  ['is seen from behind', { ...wheel, x1: 120 }],
])('a wheel that %s is no scale', (_, of) => {
  expect(scaleOfWheel(of, picture)).toBeNull();
});

test('a plate is 110 mm high in Europe and 152 mm in North America', () => {
  const scale = (of: ReturnType<typeof box>) => scaleOfPlate(of, quadOfBox(of), picture)?.mmPerPixel;
  expect(scale(box(300, 300, 104, 22))).toBeCloseTo(5);
  // Foreshortened to two thirds.
  expect(scale(box(300, 300, 69, 22))).toBeCloseTo(5);
  expect(scale(box(300, 300, 61, 30.4))).toBeCloseTo(5);
  expect(scale(box(950, 300, 50, 11))).toBeUndefined();
});

test('a damage is measured along its longest extent by the nearest thing of known size', () => {
  const references = [
    { box: wheel, mmPerPixel: 6, confidence: 0.7 },
    { box: box(800, 400, 100, 100), mmPerPixel: 4, confidence: 0.7 },
  ];
  const diagonal = [
    { x: 700, y: 300 },
    { x: 730, y: 340 },
    { x: 726, y: 343 },
    { x: 696, y: 303 },
  ];
  const measured = measure(diagonal, references, picture);
  expect(measured).toMatchObject({ lengthMm: 200, widthMm: 20 });
  expect(measured?.confidence).toBeLessThan(0.7);
  const near = measure(quadOfBox(box(120, 380, 10, 10)), references, picture);
  expect(near).toMatchObject({ lengthMm: 60, widthMm: 60 });
  expect(near?.confidence).toBeGreaterThan(measured?.confidence ?? 1);
  expect(measure(diagonal, [], picture)).toBeNull();
});

test('a scale that makes the vehicle higher than any van is none', () => {
  const of = { box: wheel, mmPerPixel: 6, confidence: 0.7 };
  expect(fitsVehicle(of, box(0, 0, 900, 500))).toBe(true);
  expect(fitsVehicle(of, box(0, 0, 900, 501))).toBe(false);
});

test('a damage longer than any panel has no size', () => {
  const measured = (width: number) =>
    measure(quadOfBox(box(0, 0, width, 10)), [{ box: wheel, mmPerPixel: 4, confidence: 0.7 }], picture);
  expect(measured(500)).toMatchObject({ lengthMm: 2000 });
  expect(measured(501)).toBeNull();
});
