/** Print around a wheel, as an unrolled picture shows it. */
import { expect, test } from 'vitest';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import type { PrintedLine } from '../../../../src/inference/toolkit/text/text-lines.ts';
import { readAlongRings } from '../../../../src/inference/toolkit/text/unrolled-text.ts';
import { printedAt, spelt } from '../../support/print-saying.ts';

const CENTER = { x: 80, y: 80 };
const [RIM, TIRE] = [40, 70];

const wheel = drawn(160, 160, (x, y) => {
  const radius = Math.hypot(x - CENTER.x, y - CENTER.y);
  if (radius < RIM) return 200;
  return radius < TIRE ? 40 : 120;
});

function drawn(width: number, height: number, levelAt: (x: number, y: number) => number): RgbImage {
  const pixels = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      pixels.fill(levelAt(x + 0.5, y + 0.5), 3 * (y * width + x), 3 * (y * width + x) + 3);
    }
  }
  return { width, height, pixels };
}

/** Reads these lines in the unrolled picture, wherever it is asked to. */
const reading = (linesIn: (image: RgbImage) => PrintedLine[]) => async (image: RgbImage) => linesIn(image);

test('places of characters follow the ring, outwards up', async () => {
  const [row] = await readAlongRings(
    wheel,
    [],
    reading(({ width }) => [printedAt(Math.round(width / 2) - 20, 10, spelt('A'.repeat(40)), 4)]),
  );
  const radii = row?.characters.map(({ quad: [topLeft, , , bottomLeft] }) => [
    Math.hypot(topLeft.x - CENTER.x, topLeft.y - CENTER.y),
    Math.hypot(bottomLeft.x - CENTER.x, bottomLeft.y - CENTER.y),
  ]);
  const tops = radii?.map(([top]) => top as number) ?? [];
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(6);
  expect(radii?.every(([top, bottom]) => (top as number) > (bottom as number))).toBe(true);
});

test('places of characters lie within the picture, also where the rings go on beyond it', async () => {
  const shown = { width: 160, height: 90, pixels: wheel.pixels.slice(3 * 160 * 70) };
  const rows = await readAlongRings(
    shown,
    [],
    reading(({ width, height }) => [printedAt(4, height - 4, spelt('A'.repeat(width - 8)), 4)]),
  );
  const points = rows.flatMap(({ characters }) => characters.flatMap(({ quad }) => quad));
  expect(points.length).toBeGreaterThan(0);
  expect(points.filter(({ x, y }) => x < 0 || y < 0 || x > shown.width || y > shown.height)).toEqual([]);
});

test('print that the end of a strip cuts off is left out; the next strip has it whole', async () => {
  const rows = await readAlongRings(
    wheel,
    [],
    reading(({ width }) => [
      printedAt(0, 10, spelt('55R16'), 4),
      printedAt(Math.round(width / 2), 10, spelt('205/55R16'), 4),
      printedAt(width - 5, 10, spelt('205/5'), 4),
    ]),
  );
  expect(rows.map(({ text }) => text)).toEqual(['205/55R16']);
});

test('the strips show the radii that print was found at', async () => {
  // Print at the rim of the upper half: the band must reach around it.
  const quadAt = (angle: number): PrintedLine => {
    const at = (radius: number, turn: number) => ({
      x: CENTER.x + radius * Math.cos(angle + turn),
      y: CENTER.y + radius * Math.sin(angle + turn),
    });
    const quad = [at(62, -0.2), at(62, 0.2), at(58, 0.2), at(58, -0.2)] as const;
    return { quad, characters: spelt('PRINT').map((said) => ({ ...said, others: [], quad })) };
  };
  const asked: RgbImage[] = [];
  await readAlongRings(wheel, [-2.2, -1.4, -0.6].map(quadAt), async (image) => {
    asked.push(image);
    return [];
  });
  expect(asked).toHaveLength(1);
  // From 0.72 × 60 to 1.35 × 60, in strips that are wider than high.
  expect(asked[0]?.width).toBeGreaterThan(75);
});

test('a picture of one colour is not read again', async () => {
  let asked = 0;
  const rows = await readAlongRings(
    drawn(64, 64, () => 90),
    [],
    async () => {
      asked += 1;
      return [];
    },
  );
  expect([rows, asked]).toEqual([[], 0]);
});
