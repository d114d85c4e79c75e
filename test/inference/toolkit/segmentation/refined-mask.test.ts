/** Cuts, filters and outlines against results that are known by construction. */
import { expect, test } from 'vitest';
import { axisSteps } from '../../../../src/inference/toolkit/decoding/interpolate.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { guidedFilter, maskRow } from '../../../../src/inference/toolkit/segmentation/guided-filter.ts';
import { minimumCut, STEPS_X, STEPS_Y } from '../../../../src/inference/toolkit/segmentation/max-flow.ts';
import { refineMask } from '../../../../src/inference/toolkit/segmentation/refined-mask.ts';

/** Whole numbers from a seed, so that every cost is exact. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomGrid(width: number, height: number, seed: number) {
  const random = randomNumbers(seed);
  const heads = new Int32Array(width * height * 8).fill(-1);
  const capacities = new Float32Array(width * height * 8);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (let direction = 0; direction < 8; direction += 1) {
        const [column, row] = [x + (STEPS_X[direction] ?? 0), y + (STEPS_Y[direction] ?? 0)];
        if (column < 0 || row < 0 || column >= width || row >= height) continue;
        heads[(y * width + x) * 8 + direction] = row * width + column;
        capacities[(y * width + x) * 8 + direction] = random(6);
      }
    }
  }
  return { heads, capacities, terminals: Float32Array.from({ length: width * height }, () => random(31) - 15) };
}

/** Cost of cutting the nodes of the source's side off. */
function costOf({ heads, capacities, terminals }: ReturnType<typeof randomGrid>, sides: ArrayLike<number>): number {
  let cost = 0;
  terminals.forEach((terminal, node) => {
    if (sides[node] ? terminal < 0 : terminal > 0) cost += Math.abs(terminal);
  });
  heads.forEach((head, arc) => {
    if (head >= 0 && sides[arc >> 3] && !sides[head]) cost += capacities[arc] ?? 0;
  });
  return cost;
}

test('no cut of a grid costs less than the minimum cut', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const [width, height] = [3, 3];
    const found = costOf(randomGrid(width, height, seed), minimumCut(randomGrid(width, height, seed)));
    const grid = randomGrid(width, height, seed);
    let least = Infinity;
    for (let cut = 0; cut < 2 ** (width * height); cut += 1) {
      const sides = Array.from({ length: width * height }, (_, node) => (cut >> node) & 1);
      least = Math.min(least, costOf(grid, sides));
    }
    expect(found).toBe(least);
  }
});

test('a mask that is a linear function of the colours passes the guided filter unchanged', () => {
  const random = randomNumbers(7);
  const guide = { width: 20, height: 12, pixels: Uint8Array.from({ length: 20 * 12 * 3 }, () => random(256)) };
  const mask = Float32Array.from({ length: 240 }, (_, pixel) => (guide.pixels[pixel * 3] ?? 0) / 510 + 0.25);
  const linear = guidedFilter(guide, mask, { radius: 3, evenness: 1e-6 });
  const values = new Float32Array(20);
  const [rows, columns] = [axisSteps(12, 12), axisSteps(20, 20)];
  maskRow(linear, { pixels: guide.pixels, stride: 20, left: 0, top: 0, rows, columns, row: 5 }, values);
  values.forEach((value, x) => {
    expect(value).toBeCloseTo(mask[5 * 20 + x] ?? 0, 3);
  });
});

/** A red disc of radius 100 at (200, 160) on grey, and a second one beside it. */
const [width, height] = [520, 320];
const inDisc = (x: number, y: number, middle = 200) => (x - middle) ** 2 + (y - 160) ** 2 < 100 ** 2;
function discs(): RgbImage {
  const random = randomNumbers(3);
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = inDisc(x + 0.5, y + 0.5) || inDisc(x + 0.5, y + 0.5, 410) ? [180, 40, 30] : [120, 125, 130];
      pixels.set(
        colour.map((level) => level + random(9)),
        (y * width + x) * 3,
      );
    }
  }
  return { width, height, pixels };
}
/** A square of 40-pixel stairs, which misses parts of the disc and takes in parts of the background. */
const square = [
  { x: 120, y: 80 },
  { x: 280, y: 80 },
  { x: 280, y: 240 },
  { x: 120, y: 240 },
];
const unsure = (x: number, y: number) => {
  const away = Math.max(Math.abs(x - 200), Math.abs(y - 160));
  return 1 / (1 + Math.exp((away - 80) / 8));
};

test('an outline of a few corners becomes the edge in the picture, without the neighbour', () => {
  const neighbour = square.map(({ x, y }) => ({ x: x + 210, y }));
  const refined = refineMask(
    discs(),
    { box: { x0: 120, y0: 80, x1: 280, y1: 240 }, outline: square },
    [neighbour],
    unsure,
  );
  const matte = refined?.makeMatte() ?? new Uint8Array();
  let [both, either] = [0, 0];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [found, truth] = [(matte[y * width + x] ?? 0) >= 128, inDisc(x + 0.5, y + 0.5)];
      if (found && truth) both += 1;
      if (found || truth) either += 1;
    }
  }
  expect(both / either).toBeGreaterThan(0.97);
  for (const { x, y } of refined?.outline ?? [{ x: 0, y: 0 }]) {
    expect(Math.abs(Math.hypot(x - 200, y - 160) - 100)).toBeLessThan(4);
  }
});
