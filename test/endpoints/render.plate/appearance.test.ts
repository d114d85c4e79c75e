/** Drawn plates whose light, blur and grain are known. */
import { expect, test } from 'vitest';
import { appearanceOf, grainAt } from '../../../src/endpoints/render.plate/appearance.ts';
import { setText, unwritable } from '../../../src/endpoints/render.plate/lettering.ts';
import type { Quad } from '../../../src/inference/toolkit/decoding/rotated-boxes.ts';

const SIZE = { width: 200, height: 100 };
const PLATE: Quad = [
  { x: 40, y: 30 },
  { x: 160, y: 30 },
  { x: 160, y: 60 },
  { x: 40, y: 60 },
];

/** Dark bars of 8 pixels, blurred by a Gaussian, on a plate whose light falls to the right. */
function seen({ blur = 1, grain = 0, tint = [1, 1, 1] } = {}) {
  const bar = (x: number) => Math.max(0, Math.min(1, 0.5 + Math.sin((x / 8) * Math.PI) * (8 / Math.PI / blur) * 0.4));
  const pixels = new Uint8Array(SIZE.width * SIZE.height * 3).map((_, index) => {
    const [x, y] = [Math.floor(index / 3) % SIZE.width, Math.floor(index / 3 / SIZE.width)];
    const isPlate = x >= 40 && x < 160 && y >= 30 && y < 60;
    const white = 240 - (x - 40) / 2;
    const level = isPlate ? 30 + (white - 30) * bar(x + 0.5) : 100;
    return Math.round(Math.max(0, level * (tint[index % 3] ?? 1) + grain * grainAt(x, y)));
  });
  return appearanceOf({ ...SIZE, pixels }, PLATE);
}

test('the light falls as on the plate before, in its colour', () => {
  const { whiteAt, black } = seen({ tint: [1, 0.95, 0.85] });
  const [left = 0, right = 0] = [whiteAt(0)[0], whiteAt(1)[0]];
  expect(left - right).toBeGreaterThan(25);
  expect((whiteAt(0.5)[2] ?? 0) / (whiteAt(0.5)[0] ?? 1)).toBeCloseTo(0.85, 1);
  expect(Math.max(...black)).toBeLessThan(60);
});

test('a ground of its own colour does not tint the new one', () => {
  const [red, green, blue] = seen({ tint: [1, 0.85, 0.2] }).whiteAt(0.5);
  expect([green, blue]).toEqual([red, red]);
});

test('a softer plate is measured as softer', () => {
  const [sharp, soft] = [seen({ blur: 0.6 }).blur, seen({ blur: 2 }).blur];
  expect(soft).toBeGreaterThan(1.8 * sharp);
});

test('grain is that of the surroundings, none where there is none', () => {
  expect(seen().grain).toBe(0);
  expect(seen({ grain: 4 }).grain).toBeGreaterThan(2.5);
  expect(seen({ grain: 4 }).grain).toBeLessThan(5.5);
});

test('grain is as wide as stated, and the same each time', () => {
  const drawn = Array.from({ length: 10_000 }, (_, index) => grainAt(index % 100, Math.floor(index / 100)));
  const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
  const deviation = Math.sqrt(drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length);
  expect([mean, deviation]).toEqual([expect.closeTo(0, 1), expect.closeTo(1, 1)]);
  expect(grainAt(3, 5)).toBe(grainAt(3, 5));
});

test('letters keep their shape and stand in the middle, long texts are set narrower', () => {
  const plate = { width: 520, height: 110 };
  const inked = (text: string) => {
    const depthAt = setText(text, plate);
    const columns = Array.from({ length: 520 }, (_, x) => x).filter((x) =>
      Array.from({ length: 110 }, (_, y) => depthAt((x + 0.5) / 520, (y + 0.5) / 110)).some((depth) => depth > 0),
    );
    return [columns[0] ?? 0, columns.at(-1) ?? 0] as const;
  };
  const [left, right] = inked('HH');
  expect(left + right).toBeCloseTo(519, -1);
  expect(right - left).toBeLessThan(150);
  const [first, last] = inked('HHHHHHHHHHHH');
  expect(first).toBeGreaterThan(30);
  expect(last).toBeLessThan(490);
  // A round corner is free, and each character of the alphabet can be written.
  const depthAt = setText('O', { width: 40, height: 110 });
  expect(depthAt(0.5, 0.175)).toBeGreaterThan(0);
  expect(unwritable('ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789.-·')).toBeUndefined();
});
