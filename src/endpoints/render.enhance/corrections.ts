/** Corrections by formulas: light, its colour, and soft edges. Each says whether a picture needs it, by a measure of its own. */
import { clamp } from '../../inference/toolkit/decoding/boxes.ts';
import { lumaOf, type RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { measureQuality } from '../../inference/toolkit/quality/picture-quality.ts';
import { blurWidthOf, deconvolve } from './deblur.ts';
import type { Result } from './result.ts';

type Applied = Result['operations_applied'][number];
type Skipped = Result['operations_skipped'][number]['reason'];

export interface Correction {
  operation: 'exposure_correction' | 'white_balance' | 'deblur' | 'sharpen';
  /**
   * @param strength 0 to 1
   * @returns the corrected picture with what was done, or why nothing was
   */
  correct: (picture: RgbImage, strength: number) => { made: RgbImage; applied: Applied } | Skipped;
}

/** Mean luma below which a picture is dark, and what it is brightened to at full strength, of 1. */
const DARK = 0.3;
const BRIGHTENED = 0.42;
/** Mean cast of grey things from which their light counts as coloured: 1 − weakest channel / strongest, in linear light. */
const LEAST_CAST = 0.15;
/** Things count as grey up to this saturation, and tell the light if they cover this share of the picture. */
const GREY = { saturation: 0.3, least: 0.2, most: 0.97, share: 0.08 };
/** Widths of a blur, in pixels, that are undone: a sharp photograph has up to 0.9, and beyond the most little is left to be found. */
const BLUR = { least: 1.3, most: 4 };
/** Share of the estimated width that is undone: a width that is taken too large rings. */
const UNDONE = 0.9;
/** Sharpness from which edges are crisp enough, and how much of the noise score sharpening may cost. */
const CRISP = 0.62;
const MOST_NOISE = 0.04;
/** A gain this large or small is an error of the estimate. */
const GAINS = { least: 0.6, most: 1.7 };

export const CORRECTIONS: readonly Correction[] = [
  { operation: 'exposure_correction', correct: correctExposure },
  { operation: 'white_balance', correct: balanceWhite },
  { operation: 'deblur', correct: deblur },
  { operation: 'sharpen', correct: sharpen },
];

/** Brightens a dark picture by a power of its levels, which clips nothing. Bright pictures may be meant so, and stay. */
function correctExposure(picture: RgbImage, strength: number): ReturnType<Correction['correct']> {
  const mean = meanLuma(picture);
  if (mean >= DARK || strength === 0) return 'not_needed';
  // A black picture holds nothing to be brightened.
  if (mean < 0.02) return 'would_do_harm';
  const target = mean + (BRIGHTENED - mean) * strength;
  const power = Math.log(target) / Math.log(mean);
  const table = Uint8Array.from({ length: 256 }, (_, level) => Math.round(255 * (level / 255) ** power));
  const made = mapped(picture, [table, table, table]);
  const [before, after] = [measureQuality(picture), measureQuality(made)];
  if (after.exposure <= before.exposure) return 'would_do_harm';
  const stopsAt = (level: number) => Math.log2(toLinear(level ** power) / toLinear(level));
  const exposure_ev = stopsAt(mean);
  return {
    made,
    applied: {
      operation: 'exposure_correction',
      confidence: clamp(1 - mean / DARK, 0, 1),
      parameters: { exposure_ev, shadows_ev: stopsAt(mean / 3) - exposure_ev },
    },
  };
}

/** Makes grey what is nearly grey: asphalt, tires, glass. The paint of a car tells nothing of the light. */
function balanceWhite(picture: RgbImage, strength: number): ReturnType<Correction['correct']> {
  const light = lightOfGreys(picture);
  if (!light) return 'would_do_harm';
  if (castOf(light) < LEAST_CAST || strength === 0) return 'not_needed';
  const luma = lumaOf(...light);
  const gains = light.map((level) => 1 + (luma / level - 1) * strength);
  if (gains.some((gain) => gain < GAINS.least || gain > GAINS.most)) return 'would_do_harm';
  const made = mapped(
    picture,
    gains.map((gain) => Uint8Array.from({ length: 256 }, (_, level) => fromLinear(toLinear(level / 255) * gain))),
  );
  const after = lightOfGreys(made);
  if (!after || castOf(after) >= castOf(light)) return 'would_do_harm';
  const [red, green, blue] = light;
  return {
    made,
    applied: {
      operation: 'white_balance',
      confidence: clamp(castOf(light) / (2 * LEAST_CAST), 0, 1),
      parameters: {
        from_kelvin: kelvinOf(light),
        to_kelvin: kelvinOf(after),
        // Light with too much green is moved towards magenta.
        tint: clamp(Math.log2(green / Math.sqrt(red * blue)) * strength, -1, 1),
      },
    },
  };
}

/** Undoes the blur of a picture out of focus. Blur by motion has another shape, and is left. */
function deblur(picture: RgbImage, strength: number): ReturnType<Correction['correct']> {
  const width = blurWidthOf(picture);
  if (width === null || width < BLUR.least || strength === 0) return 'not_needed';
  if (width > BLUR.most) return 'would_do_harm';
  const before = measureQuality(picture);
  const made = deconvolve(picture, UNDONE * width, strength);
  const after = measureQuality(made);
  if (after.sharpness <= before.sharpness || after.noise < before.noise - MOST_NOISE) return 'would_do_harm';
  return {
    made,
    applied: {
      operation: 'deblur',
      confidence: clamp(width / (2 * BLUR.least), 0, 1),
      parameters: { amount: strength, motion_pixels: 0 },
    },
  };
}

/** Adds to each pixel its difference from the mean of its neighbours (unsharp mask), where that does not bring out noise. */
function sharpen(picture: RgbImage, strength: number): ReturnType<Correction['correct']> {
  const before = measureQuality(picture);
  if (before.sharpness >= CRISP || strength === 0) return 'not_needed';
  const made = unsharp(picture, strength);
  const after = measureQuality(made);
  if (after.sharpness <= before.sharpness || after.noise < before.noise - MOST_NOISE) return 'would_do_harm';
  return {
    made,
    applied: {
      operation: 'sharpen',
      confidence: clamp((CRISP - before.sharpness) / CRISP, 0, 1),
      parameters: { amount: strength, radius_pixels: 1 },
    },
  };
}

function meanLuma({ pixels }: RgbImage): number {
  let sum = 0;
  for (let index = 0; index < pixels.length; index += 3) {
    sum += lumaOf(pixels[index] as number, pixels[index + 1] as number, pixels[index + 2] as number);
  }
  return sum / (pixels.length / 3) / 255;
}

type Light = [red: number, green: number, blue: number];

/** Mean colour of nearly grey pixels in linear light, 0 to 1; null where too few are. */
function lightOfGreys({ pixels }: RgbImage): Light | null {
  const table = Float64Array.from({ length: 256 }, (_, level) => toLinear(level / 255));
  const sums: Light = [0, 0, 0];
  let count = 0;
  for (let index = 0; index < pixels.length; index += 3) {
    const [red, green, blue] = [pixels[index], pixels[index + 1], pixels[index + 2]] as Light;
    const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
    if (most < GREY.least * 255 || most > GREY.most * 255 || most - least > GREY.saturation * most) continue;
    sums[0] += table[red] as number;
    sums[1] += table[green] as number;
    sums[2] += table[blue] as number;
    count += 1;
  }
  if (count < (GREY.share * pixels.length) / 3) return null;
  return sums.map((sum) => sum / count) as Light;
}

function castOf(light: Light): number {
  return 1 - Math.min(...light) / Math.max(...light);
}

/** Correlated colour temperature. Source: McCamy, 1992; matrix of IEC 61966-2-1 (sRGB). */
function kelvinOf([red, green, blue]: Light): number {
  const x = 0.4124 * red + 0.3576 * green + 0.1805 * blue;
  const y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const z = 0.0193 * red + 0.1192 * green + 0.9505 * blue;
  const n = (x / (x + y + z) - 0.332) / (0.1858 - y / (x + y + z));
  return Math.round(clamp(449 * n ** 3 + 3525 * n ** 2 + 6823.3 * n + 5520.33, 1000, 40_000));
}

function toLinear(level: number): number {
  return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
}

/** @returns 0 to 255 */
function fromLinear(value: number): number {
  const held = clamp(value, 0, 1);
  return Math.round(255 * (held <= 0.0031308 ? held * 12.92 : 1.055 * held ** (1 / 2.4) - 0.055));
}

function mapped({ width, height, pixels }: RgbImage, tables: readonly Uint8Array[]): RgbImage {
  const made = new Uint8Array(pixels.length);
  for (let index = 0; index < pixels.length; index += 1) {
    made[index] = (tables[index % 3] as Uint8Array)[pixels[index] as number] as number;
  }
  return { width, height, pixels: made };
}

function unsharp({ width, height, pixels }: RgbImage, amount: number): RgbImage {
  const made = new Uint8Array(pixels.length);
  const stride = width * 3;
  for (let y = 0; y < height; y += 1) {
    const [up, down] = [y > 0 ? -stride : 0, y < height - 1 ? stride : 0];
    for (let x = 0; x < width; x += 1) {
      const [before, after] = [x > 0 ? -3 : 0, x < width - 1 ? 3 : 0];
      for (let index = y * stride + x * 3, end = index + 3; index < end; index += 1) {
        const own = pixels[index] as number;
        const around =
          ((pixels[index + up] as number) +
            (pixels[index + down] as number) +
            (pixels[index + before] as number) +
            (pixels[index + after] as number)) /
          4;
        made[index] = Math.round(clamp(own + amount * (own - around), 0, 255));
      }
    }
  }
  return { width, height, pixels: made };
}
