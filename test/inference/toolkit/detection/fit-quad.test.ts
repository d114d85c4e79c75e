/** The edges of drawn plates, found from outlines that miss them. */
import { expect, test } from 'vitest';
import type { Point } from '../../../../src/inference/toolkit/decoding/detections.ts';
import type { Quad } from '../../../../src/inference/toolkit/decoding/rotated-boxes.ts';
import { fitQuad, turnTo, withPoints } from '../../../../src/inference/toolkit/detection/fit-quad.ts';
import { paintQuad } from '../../../../src/inference/toolkit/images/rectify.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';

const SIZE = { width: 320, height: 200 };
const quadOf = (...[a, b, c, d]: readonly (readonly [number, number])[]): Quad => {
  const point = ([x, y]: readonly [number, number] = [0, 0]): Point => ({ x, y });
  return [point(a), point(b), point(c), point(d)];
};
/** Where a detector sees it: upright, and larger than it is. */
const SEEN = quadOf([60, 62], [262, 62], [262, 130], [60, 130]);
const TILTED = quadOf([70, 70], [255, 84], [252, 128], [67, 114]);

/** A plate with a blue band and dark bars as letters, on a body with a crease above it. */
function drawn(plate: Quad, { ground = [225, 225, 220], body = [70, 30, 30] } = {}): RgbImage {
  const pixels = Uint8Array.from({ length: SIZE.width * SIZE.height * 3 }, (_, index) => body[index % 3] ?? 0);
  const picture = { ...SIZE, pixels };
  paintQuad(picture, quadOf([0, 30], [320, 36], [320, 42], [0, 36]), () => [140, 90, 90], 1);
  const isInk = (u: number, v: number) => u > 0.14 && u < 0.95 && v > 0.2 && v < 0.8 && Math.floor(u * 24) % 2 === 0;
  paintQuad(picture, plate, (u, v) => (u < 0.09 ? [20, 50, 160] : isInk(u, v) ? [25, 25, 25] : ground), 1);
  return picture;
}

const mostApart = (one: Quad, other: Quad) =>
  Math.max(...one.map(({ x, y }, index) => Math.hypot(x - (other[index]?.x ?? 0), y - (other[index]?.y ?? 0))));

test.each([
  ['a tilted plate', TILTED],
  ['one seen from the side', quadOf([75, 75], [240, 69], [243, 123], [78, 117])],
  ['an upright one', quadOf([72, 74], [250, 74], [250, 116], [72, 116])],
] as const)('the sides of %s are found with its blue band', (_, plate) => {
  expect(mostApart(SEEN, plate)).toBeGreaterThan(10);
  expect(mostApart(fitQuad(drawn(plate), SEEN), plate)).toBeLessThan(4);
});

test('the sides of a dark plate on a light body are found, too', () => {
  const picture = drawn(TILTED, { ground: [60, 60, 60], body: [230, 230, 230] });
  expect(mostApart(fitQuad(picture, SEEN), TILTED)).toBeLessThan(4);
});

test('an outline stays where the picture shows no edges', () => {
  const plain = { ...SIZE, pixels: new Uint8Array(SIZE.width * SIZE.height * 3).fill(90) };
  expect(mostApart(fitQuad(plain, SEEN), SEEN)).toBeLessThan(0.01);
});

test('at the edge of the picture, and of a single pixel, corners stay finite', () => {
  const cut = quadOf([-20, 180], [90, 180], [90, 215], [-20, 215]);
  const corners = [fitQuad(drawn(TILTED), cut), fitQuad({ width: 1, height: 1, pixels: Uint8Array.of(9, 9, 9) }, SEEN)];
  for (const { x, y } of corners.flat()) expect(Number.isFinite(x) && Number.isFinite(y)).toBe(true);
});

test('sides move out, without turning, to points that are to be within', () => {
  const square = quadOf([0, 0], [10, 0], [10, 10], [0, 10]);
  expect(withPoints(square, [{ x: 5, y: 5 }])).toEqual(square);
  expect(withPoints(square, [{ x: 12, y: -3 }])).toEqual(quadOf([0, -3], [12, -3], [12, 10], [0, 10]));
});

test('an upright outline is turned to the print in it, and keeps its box', () => {
  const line = quadOf([80, 80], [240, 100], [238, 116], [78, 96]);
  const [a, b, c, d] = turnTo(SEEN, line);
  expect([a, c]).toEqual([SEEN[0], SEEN[2]]);
  expect(b.y - a.y).toBeCloseTo(202 / 8);
  expect(c.y - d.y).toBeCloseTo(202 / 8);
  // Print that would turn it over its own height is none of its own; print along it turns nothing.
  expect(turnTo(SEEN, quadOf([80, 60], [140, 130], [130, 140], [70, 70]))).toBe(SEEN);
  expect(turnTo(SEEN, SEEN)).toBe(SEEN);
});
