/** What the measures say of pixels that are known. */
import { expect, test } from 'vitest';
import { cornersOf, quadOfBox } from '../../../../src/inference/toolkit/decoding/rotated-boxes.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import { measurePicture, measurePrint } from '../../../../src/inference/toolkit/quality/print-measures.ts';
import { blurred } from '../../../../training/degraded-pictures.ts';

const WIDTH = 192;
const HEIGHT = 128;

/** Luma at each point, the same for the three channels. */
function drawn(lumaAt: (x: number, y: number) => number): RgbImage {
  const pixels = new Uint8Array(3 * WIDTH * HEIGHT).map((_, index) => {
    const pixel = Math.floor(index / 3);
    return lumaAt(pixel % WIDTH, Math.floor(pixel / WIDTH));
  });
  return { width: WIDTH, height: HEIGHT, pixels };
}

const checks = (side: number, dark: number, light: number) =>
  drawn((x, y) => ((Math.floor(x / side) + Math.floor(y / side)) % 2 === 0 ? dark : light));
const middle = quadOfBox({ x0: 16, y0: 16, x1: 176, y1: 112 });

test.each([1.5, 3, 6])('edges blurred by a Gaussian of %d pixels are that wide', (sigma) => {
  const width = measurePrint(blurred(checks(8 * sigma, 20, 230), sigma), middle).edgeWidth ?? 0;
  expect(width / sigma).toBeGreaterThan(0.85);
  expect(width / sigma).toBeLessThan(1.15);
});

test('the width of edges depends neither on contrast nor on light', () => {
  const widthOf = (dark: number, light: number) =>
    measurePrint(blurred(checks(24, dark, light), 3), middle).edgeWidth ?? 0;
  for (const faint of [widthOf(20, 60), widthOf(190, 230)]) {
    expect(faint / widthOf(20, 230)).toBeGreaterThan(0.9);
    expect(faint / widthOf(20, 230)).toBeLessThan(1.1);
  }
});

test('the width of edges is measured along and across the print, whichever way it runs', () => {
  const turned = drawn((x, y) => {
    const [along, down] = [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2];
    return (Math.floor(along / 32) + Math.floor(down / 32)) % 2 === 0 ? 20 : 230;
  });
  const quad = cornersOf({ x: 96, y: 64 }, 100, 60, Math.PI / 4);
  expect(measurePrint(blurred(turned, 3), quad).edgeWidth).toBeCloseTo(3, 0);
});

test('nothing is said of edges where there are none', () => {
  const plain = drawn(() => 120);
  expect(measurePrint(plain, middle)).toMatchObject({ edgeWidth: null, dark: 120, median: 120, light: 120 });
  expect(measurePicture(plain).edgeWidth).toBeNull();
});

test('light that covers the height of a line is measured in heights of the line', () => {
  const lit = drawn((x, y) => (x >= 60 && x < 90 ? 255 : (x + y) % 10 < 5 ? 40 : 180));
  const line = quadOfBox({ x0: 16, y0: 60, x1: 176, y1: 80 });
  expect(measurePrint(lit, line)).toMatchObject({ height: 20, washedOut: expect.closeTo(1.5, 0) });
  const isNotCovered = drawn((x, y) => (x >= 60 && x < 90 && y < 75 ? 255 : 120));
  expect(measurePrint(isNotCovered, line).washedOut).toBe(0);
  expect(measurePrint(isNotCovered, line).saturated).toBeCloseTo((30 / 160) * 0.75, 1);
});

test('a picture is as sharp as its sharper parts', () => {
  const sharp = checks(10, 20, 230);
  const soft = blurred(sharp, 3);
  const half = {
    ...sharp,
    pixels: sharp.pixels.map((level, at) => (at % (3 * WIDTH) < 1.5 * WIDTH ? level : (soft.pixels[at] ?? 0))),
  };
  const widths = [sharp, half, soft].map((picture) => measurePicture(picture).edgeWidth ?? 0);
  expect(widths[1]).toBeCloseTo(widths[0] ?? 0, 0);
  expect(widths[2]).toBeGreaterThan(2 * (widths[1] ?? 0));
});

test('places outside the picture count as its nearest pixels', () => {
  const { dark, light } = measurePrint(
    drawn(() => 90),
    quadOfBox({ x0: -30, y0: -10, x1: WIDTH + 30, y1: 20 }),
  );
  expect([dark, light]).toEqual([90, 90]);
});
