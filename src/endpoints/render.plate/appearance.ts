/** How the camera saw a plate: its light, how blurred it is, and the grain of the picture around it. A replacement gets the same. */
import { clamp } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround, type Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { rectify } from '../../inference/toolkit/images/rectify.ts';
import { lumaOf, type RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { growQuad, straighten } from '../../inference/toolkit/text/straighten.ts';

export interface Appearance {
  /** Levels of white and black at a place from the left (0) to the right (1). */
  whiteAt: (u: number) => readonly number[];
  black: readonly number[];
  /** Standard deviation of the blur, in pixels of the picture. */
  blur: number;
  /** Standard deviation of the grain, in levels. */
  grain: number;
}

/** Sampling grid of a plate for its light. */
const SAMPLE = { width: 48, height: 12 };
/** The light is measured in so many fields from left to right: fewer than letters, so that none leaves a trace. */
const FIELDS = 3;
/** Shares of a plate's pixels, from the lightest on, which show its ground, and its ink. */
const GROUND = 0.1;
const INK = 0.95;
/** Of white, as levels: a darker sample is a dark plate, not low light. */
const LEAST_WHITE = 51;
/** Ink is at most this bright beside the ground: letters are to stand out. */
const MOST_INK = 0.45;
/** A ground whose channels differ by a larger share has a colour of its own, which says nothing of the light. */
const MOST_CAST = 0.3;
const BLUR = { least: 0.35, most: 0.08 };
const MOST_GRAIN = 5;
/** How far around a plate grain is measured, as shares of it. */
const AROUND = { x: 0.15, y: 0.6 };

/** @param quad in pixels of the picture */
export function appearanceOf(picture: RgbImage, quad: Quad): Appearance {
  const seen = rectify(picture, quad, SAMPLE.width, SAMPLE.height);
  const grounds = Array.from({ length: FIELDS }, (_, field) => levelAt(seen, GROUND, field));
  const ink = levelAt(seen, INK, null);
  const light = mean(grounds.map(([red = 0, green = 0, blue = 0]) => lumaOf(red, green, blue)));
  return {
    whiteAt: (u) => colourAcross(grounds, u),
    black: ink.map((level) => Math.min(level, MOST_INK * light)),
    blur: blurOf(straighten(picture, quad)),
    grain: grainAround(picture, quad),
  };
}

/** The colour at a place from the left (0) to the right (1) of two or more fields side by side, interpolated between their middles. */
export function colourAcross(fields: readonly (readonly number[])[], u: number): number[] {
  const place = clamp(u * fields.length - 0.5, 0, fields.length - 1);
  const first = Math.min(Math.floor(place), fields.length - 2);
  const [left = [], right = []] = [fields[first], fields[first + 1]];
  return left.map((level, channel) => level + ((right[channel] ?? level) - level) * (place - first));
}

/** Colour of the pixels about a share from the lightest, of the whole or of a field; a ground of its own colour counts as grey. */
function levelAt({ pixels, width, height }: RgbImage, share: number, field: number | null): number[] {
  const [from, to] = field === null ? [0, width] : [(field * width) / FIELDS, ((field + 1) * width) / FIELDS];
  const found = Array.from({ length: height * (to - from) }, (_, index) => {
    const at = (Math.floor(index / (to - from)) * width + from + (index % (to - from))) * 3;
    return [...pixels.subarray(at, at + 3)];
  });
  const luma = ([red = 0, green = 0, blue = 0]: readonly number[]) => lumaOf(red, green, blue);
  const sorted = found.toSorted((one, other) => luma(other) - luma(one));
  const middle = Math.floor(share * (sorted.length - 1));
  const spread = Math.floor(sorted.length * 0.04);
  const near = sorted.slice(Math.max(0, middle - spread), middle + spread + 1);
  const colour = [0, 1, 2].map((channel) => mean(near.map((levels) => levels[channel] ?? 0)));
  const grey = luma(colour);
  if (field === null) return colour;
  const isTinted = Math.max(...colour) - Math.min(...colour) > MOST_CAST * Math.max(...colour);
  return (isTinted ? [grey, grey, grey] : colour).map((level) => Math.max(level, LEAST_WHITE));
}

/** From the steepest edges: a step that a Gaussian blurs is as steep as its height over its deviation and the root of two pi. */
function blurOf({ pixels, width, height }: RgbImage): number {
  const lumas = Float32Array.from({ length: width * height }, (_, pixel) =>
    lumaOf(pixels[pixel * 3] as number, pixels[pixel * 3 + 1] as number, pixels[pixel * 3 + 2] as number),
  );
  const most = Math.max(BLUR.least, BLUR.most * height);
  const sorted = lumas.toSorted();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const slopes: number[] = [];
  for (let index = 0; index < lumas.length - 1; index += 1) {
    if ((index + 1) % width !== 0) slopes.push(Math.abs((lumas[index + 1] as number) - (lumas[index] as number)));
  }
  slopes.sort((one, other) => other - one);
  const steepest = slopes[Math.floor(slopes.length * 0.02)] ?? 0;
  if (steepest < 1) return BLUR.least;
  return clamp((at(0.95) - at(0.05)) / steepest / Math.sqrt(2 * Math.PI), BLUR.least, most);
}

/** From what pixels differ by from their neighbours: the lower quarter, so that edges and texture do not count. */
function grainAround(picture: RgbImage, quad: Quad): number {
  const { pixels, width, height } = picture;
  const { x0, y0, x1, y1 } = boxAround(growQuad(quad, AROUND.x, AROUND.y));
  const [left, right] = [Math.max(1, Math.floor(x0)), Math.min(width - 1, Math.ceil(x1))];
  const [top, bottom] = [Math.max(1, Math.floor(y0)), Math.min(height - 1, Math.ceil(y1))];
  const differences: number[] = [];
  // Green only: the other channels of most cameras are interpolated more.
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const at = (y * width + x) * 3 + 1;
      const beside = [at - 3, at + 3, at - width * 3, at + width * 3].map((index) => pixels[index] as number);
      differences.push(Math.abs((pixels[at] as number) - mean(beside)));
    }
  }
  differences.sort((one, other) => one - other);
  // A quarter of a normal distribution deviates by less than 0.3186, and the mean of four neighbours adds a quarter of its variance.
  const grain = (differences[Math.floor(differences.length / 4)] ?? 0) / 0.3186 / Math.sqrt(1.25);
  return Math.min(grain, MOST_GRAIN);
}

/** Grain of a pixel in deviations, the same in each run: the sum of four uniform numbers, which is nearly normal. */
export function grainAt(x: number, y: number): number {
  let state = (Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca6b)) >>> 0;
  let sum = 0;
  for (let draw = 0; draw < 4; draw += 1) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    sum += (state ^ (state >>> 15)) >>> 8;
  }
  return (sum / 2 ** 24 - 2) * Math.sqrt(3);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
