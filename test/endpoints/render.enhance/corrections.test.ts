/** Corrections of light, of its colour and of edges: each helps where it is needed, and leaves the rest alone. */

import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { CORRECTIONS, type Correction } from '../../../src/endpoints/render.enhance/corrections.ts';
import { blurWidthOf } from '../../../src/endpoints/render.enhance/deblur.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import { measureQuality } from '../../../src/inference/toolkit/quality/picture-quality.ts';
import { boxMean } from '../../../src/inference/toolkit/segmentation/guided-filter.ts';

const [WIDTH, HEIGHT] = [96, 72];

function correction(operation: Correction['operation']): Correction['correct'] {
  const found = CORRECTIONS.find((each) => each.operation === operation);
  if (!found) throw new Error(`there is no ${operation}`);
  return found.correct;
}

/** Bars and slopes, in grey but for a red field, under a light of red, green and blue. */
function scene(light: readonly [number, number, number] = [1, 1, 1], levels = 1): RgbImage {
  const pixels = new Uint8Array(WIDTH * HEIGHT * 3);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const grey = (Math.floor(x / 12) % 2 === 0 ? 70 : 180) + (Math.floor(y / 12) % 2 === 0 ? 0 : 20);
      const isRed = x > 64 && y > 32;
      for (let channel = 0; channel < 3; channel += 1) {
        const own = isRed && channel > 0 ? 30 : grey;
        pixels[(y * WIDTH + x) * 3 + channel] = Math.min(255, Math.round(own * (light[channel] ?? 1) * levels));
      }
    }
  }
  return { width: WIDTH, height: HEIGHT, pixels };
}

/** Mean of a square of 2 × `radius` + 1 pixels. */
function blurred({ width, height, pixels }: RgbImage, radius: number): RgbImage {
  const made = new Uint8Array(pixels.length);
  for (const channel of [0, 1, 2]) {
    const plane = Float32Array.from({ length: width * height }, (_, pixel) => pixels[pixel * 3 + channel] ?? 0);
    boxMean(plane, { width, height }, radius).forEach((level, pixel) => {
      made[pixel * 3 + channel] = Math.round(level);
    });
  }
  return { width, height, pixels: made };
}

const gap = (one: RgbImage, other: RgbImage) =>
  one.pixels.reduce((sum, level, index) => sum + Math.abs(level - (other.pixels[index] ?? 0)), 0) / one.pixels.length;

describe('exposure_correction', () => {
  const correct = correction('exposure_correction');

  test('exposure_correction brings a dark picture closer to the well exposed one, and states by how many stops', () => {
    const [well, dark] = [scene(), scene([1, 1, 1], 0.4)];
    const corrected = correct(dark, 1);
    if (typeof corrected === 'string') throw new Error(corrected);
    expect(gap(corrected.made, well)).toBeLessThan(gap(dark, well) / 2);
    expect(measureQuality(corrected.made).exposure).toBeGreaterThan(measureQuality(dark).exposure);
    expect(corrected.applied).toMatchObject({ operation: 'exposure_correction' });
    const { exposure_ev, shadows_ev } = corrected.applied.parameters as { exposure_ev: number; shadows_ev: number };
    expect(exposure_ev).toBeGreaterThan(0.5);
    // A power lifts shadows more than the middle.
    expect(shadows_ev).toBeGreaterThan(0);
  });

  test('exposure_correction keeps the order of levels, so that nothing is clipped', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.15, max: 0.5, noNaN: true }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (levels, strength) => {
          const dark = scene([1, 1, 1], levels);
          const corrected = correct(dark, strength);
          if (typeof corrected === 'string') return;
          const mapping = new Map<number, number>();
          dark.pixels.forEach((level, index) => {
            mapping.set(level, corrected.made.pixels[index] ?? 0);
          });
          const made = [...mapping].sort(([a], [b]) => a - b).map(([, level]) => level);
          expect(made).toEqual(made.toSorted((a, b) => a - b));
          expect(made.at(-1)).toBeLessThan(255);
        },
      ),
      { numRuns: 30 },
    );
  });

  test.each([
    ['a well exposed picture', scene(), 'not_needed'],
    ['a white studio', scene([1, 1, 1], 1.6), 'not_needed'],
    ['a black picture', scene([1, 1, 1], 0), 'would_do_harm'],
  ])('exposure_correction leaves %s alone', (_, picture, reason) => {
    expect(correct(picture, 1)).toBe(reason);
  });
});

describe('white_balance', () => {
  const correct = correction('white_balance');

  test.each([
    ['warm', [1.1, 1, 0.82], 'below'],
    ['cold', [0.85, 1, 1.1], 'above'],
  ] as const)('white_balance takes a %s cast from grey things, and names its temperature', (_, light, side) => {
    const cast = scene([...light]);
    const corrected = correct(cast, 1);
    if (typeof corrected === 'string') throw new Error(corrected);
    expect(gap(corrected.made, scene())).toBeLessThan(gap(cast, scene()) / 2);
    const { from_kelvin, to_kelvin } = corrected.applied.parameters as { from_kelvin: number; to_kelvin: number };
    // Daylight of sRGB is 6,500 K.
    expect(Math.abs(to_kelvin - 6500)).toBeLessThan(300);
    if (side === 'below') expect(from_kelvin).toBeLessThan(6000);
    else expect(from_kelvin).toBeGreaterThan(7000);
  });

  test('white_balance does not take the paint of a car for its light', () => {
    expect(correct(scene(), 1)).toBe('not_needed');
    const red = { ...scene(), pixels: scene().pixels.map((_, index) => (index % 3 === 0 ? 200 : 20)) };
    expect(correct(red, 1)).toBe('would_do_harm');
  });
});

describe('deblur', () => {
  const correct = correction('deblur');
  const outOfFocus = async ({ width, height, pixels }: RgbImage, sigma: number): Promise<RgbImage> => {
    const raw = { width, height, channels: 3 } as const;
    return { width, height, pixels: await sharp(pixels, { raw }).blur(sigma).raw().toBuffer() };
  };

  /** Only the luma is treated. */
  const { pixels } = scene();
  const grey = { ...scene(), pixels: pixels.map((_, index) => pixels[index - (index % 3)] ?? 0) };
  /** Root of the mean square, as PSNR counts. */
  const apart = (one: RgbImage) =>
    Math.sqrt(
      one.pixels.reduce((sum, level, index) => sum + (level - (grey.pixels[index] ?? 0)) ** 2, 0) / one.pixels.length,
    );

  test.each([1.5, 2, 3])('deblur knows how wide a blur of %d pixels is, and undoes a part of it', async (sigma) => {
    const soft = await outOfFocus(grey, sigma);
    const width = blurWidthOf(soft) ?? 0;
    expect(Math.abs(width / sigma - 1)).toBeLessThan(0.15);
    const [half, whole] = [correct(soft, 0.5), correct(soft, 1)];
    if (typeof half === 'string' || typeof whole === 'string') throw new Error('not corrected');
    expect(apart(half.made)).toBeLessThan(0.95 * apart(soft));
    expect(apart(whole.made)).toBeLessThan(apart(half.made));
    expect(blurWidthOf(whole.made)).toBeLessThan(0.9 * width);
    expect(whole.applied).toMatchObject({ operation: 'deblur', parameters: { amount: 1, motion_pixels: 0 } });
  });

  test('deblur leaves alone a picture that is sharp, has no edges, or is blurred too far', async () => {
    const halves = { ...scene(), pixels: scene().pixels.map((_, index) => (index % (WIDTH * 3) < WIDTH ? 20 : 230)) };
    expect(correct(scene(), 1)).toBe('not_needed');
    expect(correct(scene([0, 0, 0]), 1)).toBe('not_needed');
    expect(correct(await outOfFocus(halves, 6), 1)).toBe('would_do_harm');
  });
});

describe('sharpen', () => {
  const correct = correction('sharpen');

  test('sharpen brings a soft picture closer to the crisp one', () => {
    const soft = blurred(blurred(scene(), 1), 1);
    const corrected = correct(soft, 1);
    if (typeof corrected === 'string') throw new Error(corrected);
    expect(gap(corrected.made, scene())).toBeLessThan(gap(soft, scene()));
    expect(measureQuality(corrected.made).sharpness).toBeGreaterThan(measureQuality(soft).sharpness);
  });

  test('sharpen leaves a crisp picture alone', () => {
    expect(correct(scene(), 1)).toBe('not_needed');
  });

  test('sharpen does not bring out noise', () => {
    let state = 1;
    const soft = blurred(scene(), 3);
    const noisy = {
      ...soft,
      pixels: soft.pixels.map((level) => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.min(255, Math.max(0, level + Math.round((state / 2 ** 31 - 0.5) * 24)));
      }),
    };
    expect(correct(noisy, 1)).toBe('would_do_harm');
  });
});

test.each(CORRECTIONS)(
  '$operation does nothing at a strength of 0, and never changes the picture that it was given',
  ({ correct }) => {
    const given = blurred(scene([1.1, 1, 0.8], 0.35), 2);
    const before = given.pixels.slice();
    expect(typeof correct(given, 0)).toBe('string');
    correct(given, 1);
    expect(given.pixels).toEqual(before);
  },
);
