/** Finding the rings of a wheel, and unrolling them. */
import { expect, test } from 'vitest';
import { evenContrast } from '../../../../src/inference/toolkit/images/even-contrast.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { findRings, fromRings, type Rings, toRings } from '../../../../src/inference/toolkit/images/rings.ts';
import { unroll } from '../../../../src/inference/toolkit/images/unroll.ts';

/** Grey levels by place; one pixel of antialiasing would not change what these tests say. */
function drawn(width: number, height: number, levelAt: (x: number, y: number) => number): RgbImage {
  const pixels = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      pixels.fill(levelAt(x + 0.5, y + 0.5), 3 * (y * width + x), 3 * (y * width + x) + 3);
    }
  }
  return { width, height, pixels };
}

/** A dark tire around a bright rim, on grey. */
const wheel = (rings: Rings, width = 160, height = 120) => {
  const place = toRings(rings);
  return drawn(width, height, (x, y) => {
    const { radius } = place({ x, y });
    if (radius < 36) return 200;
    return radius < 54 ? 40 : 120;
  });
};

test.each([
  ['a circle', { center: { x: 75, y: 60 }, stretch: 1, direction: 0 }],
  ['an ellipse', { center: { x: 85, y: 55 }, stretch: 1.4, direction: 0.5 }],
  ['a circle whose centre is outside the picture', { center: { x: 80, y: 135 }, stretch: 1, direction: 0 }],
])('%s is found', (_, rings) => {
  const place = toRings(rings);
  const picture = drawn(160, 120, (x, y) => {
    const { radius } = place({ x, y });
    if (radius < 30) return 200;
    return Math.floor(radius / 20) % 2 === 0 ? 40 : 120;
  });
  const found = findRings(picture);
  expect(found?.center.x).toBeCloseTo(rings.center.x, -1);
  expect(found?.center.y).toBeCloseTo(rings.center.y, -1);
  expect(found?.stretch).toBeCloseTo(rings.stretch, 0);
});

test('the strongest ring is an edge of the tire', () => {
  const found = findRings(wheel({ center: { x: 80, y: 60 }, stretch: 1, direction: 0 }));
  expect([36, 54].some((radius) => Math.abs(radius - (found?.radius ?? 0)) < 4)).toBe(true);
});

test('a picture of one colour has no rings', () => {
  expect(findRings(drawn(64, 48, () => 90))).toBeNull();
});

test('rings that print follows are preferred to equally sharp ones that it does not', () => {
  // Two wheels of the same size; print runs along the right one.
  const [left, right] = [
    { x: 50, y: 60 },
    { x: 150, y: 60 },
  ];
  const picture = drawn(200, 120, (x, y) => {
    const nearest = Math.min(Math.hypot(x - left.x, y - left.y), Math.hypot(x - right.x, y - right.y));
    return nearest < 34 ? 200 : nearest < 48 ? 40 : 120;
  });
  const tangentAt = (angle: number) => ({
    x: right.x + 40 * Math.cos(angle),
    y: right.y + 40 * Math.sin(angle),
    alongX: -Math.sin(angle),
    alongY: Math.cos(angle),
    length: 20,
    weight: 5,
  });
  const found = findRings(picture, [-2, -1.2, -0.4].map(tangentAt));
  expect(found?.center.x).toBeCloseTo(right.x, -1);
});

test('places map to the picture and back', () => {
  const rings = { center: { x: 30, y: 40 }, stretch: 1.7, direction: 1.1 };
  const there = fromRings(rings)({ radius: 25, angle: 2 });
  const { radius, angle } = toRings(rings)(there);
  expect([radius, angle]).toEqual([expect.closeTo(25), expect.closeTo(2)]);
});

test('a ring becomes a straight line, whose pixels map back onto it', () => {
  const rings = { center: { x: 80, y: 60 }, stretch: 1.3, direction: 0.4 };
  const picture = wheel(rings);
  const { image, toPicture } = unroll(picture, rings, { inner: 20, outer: 60, from: -2, to: -1 });
  const place = toRings(rings);
  // The rim's edge, at a radius of 36, is 24 of 40 parts down.
  const edgeRow = Math.round((24 / 40) * image.height);
  const levelAt = (column: number, row: number) => image.pixels[3 * (row * image.width + column)] as number;
  for (const column of [5, Math.floor(image.width / 2), image.width - 5]) {
    expect(levelAt(column, edgeRow + 3)).toBeGreaterThan(levelAt(column, edgeRow - 3));
    const { radius, angle } = place(toPicture({ x: column, y: edgeRow }));
    expect(radius).toBeCloseTo(36, 0);
    expect(angle).toBeCloseTo(-2 + column / image.width, 1);
  }
});

test('a whole turn is stacked in strips that overlap, each cut at both ends', () => {
  const rings = { center: { x: 80, y: 60 }, stretch: 1, direction: 0 };
  const band = { inner: 36, outer: 54, from: 0, to: 2 * Math.PI };
  const { image, stripHeight, toPicture, isCut } = unroll(wheel(rings), rings, band);
  const strips = image.height / stripHeight;
  expect(strips).toBeGreaterThan(1);
  const angleOf = (x: number, strip: number) => toRings(rings)(toPicture({ x, y: (strip + 0.5) * stripHeight })).angle;
  // The second strip begins before the first ends.
  const [endOfFirst, startOfSecond] = [angleOf(image.width, 0), angleOf(0, 1)];
  expect(Math.sin(endOfFirst - startOfSecond)).toBeGreaterThan(0.5);
  expect([isCut(0, 'left'), isCut(strips - 1, 'right')]).toEqual([true, true]);
});

test('the ends of a part of a turn are not cut: nothing is beyond them', () => {
  const rings = { center: { x: 80, y: 60 }, stretch: 1, direction: 0 };
  const { isCut } = unroll(wheel(rings), rings, { inner: 36, outer: 54, from: -1.8, to: -1.3 });
  expect([isCut(0, 'left'), isCut(0, 'right')]).toEqual([false, false]);
});

test('black on black becomes as strong as grey on white, and what is no picture stays grey', () => {
  const [width, height] = [60, 40];
  const print = (ground: number, ink: number) =>
    evenContrast(
      {
        width,
        height,
        levels: Float32Array.from({ length: width * height }, (_, pixel) =>
          pixel < width ? Number.NaN : Math.floor((pixel % width) / 5) % 2 === 0 ? ground : ink,
        ),
      },
      8,
      128,
    );
  const spread = ({ pixels }: RgbImage) => Math.max(...pixels) - Math.min(...pixels);
  const [black, white] = [print(20, 60), print(235, 60)];
  expect(spread(black)).toBeGreaterThan(60);
  expect(Math.abs(spread(black) - spread(white))).toBeLessThan(8);
  expect([...black.pixels.subarray(0, 3)]).toEqual([128, 128, 128]);
});
