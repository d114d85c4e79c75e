/**
 * Degrades pictures as bad photographs are degraded, each by one cause of a stated strength: what the measures of quality are
 * chosen and tested on. Nothing is random.
 */
import type { Box } from '../src/inference/toolkit/decoding/boxes.ts';
import type { Point } from '../src/inference/toolkit/decoding/detections.ts';
import { rectify } from '../src/inference/toolkit/images/rectify.ts';
import type { RgbImage } from '../src/inference/toolkit/images/rgb-image.ts';
import { normal, randomFrom } from './print-pictures.ts';

/** Standard deviation, in levels of 0 to 255, of the noise of a sensor that is short of light. */
const NOISE_IN_THE_DARK = 2;
/** After so many values, a prime number, noise repeats. */
const NOISE_LENGTH = 65_537;
/** Share of a glare's radius over which it fades. */
const GLARE_FADE = 0.3;

/** Out of focus. @param sigma of the Gaussian, in pixels */
export function blurred(picture: RgbImage, sigma: number): RgbImage {
  const reach = Math.max(1, Math.ceil(3 * sigma));
  const weights = Array.from({ length: 2 * reach + 1 }, (_, index) => Math.exp(-0.5 * ((index - reach) / sigma) ** 2));
  return filtered(filtered(picture, weights, 1, 0), weights, 0, 1);
}

/** Moved sideways during the exposure. @param length in pixels */
export function shaken(picture: RgbImage, length: number): RgbImage {
  const reach = Math.ceil((length - 1) / 2);
  const end = reach === 0 ? 1 : (length - (2 * reach - 1)) / 2;
  const weights = Array.from({ length: 2 * reach + 1 }, (_, index) => (index === 0 || index === 2 * reach ? end : 1));
  return filtered(picture, weights, 1, 0);
}

/** Longer or shorter exposed. @param stops doublings of the light; negative ones darken, with the noise of a dark picture */
export function exposed({ width, height, pixels }: RgbImage, stops: number): RgbImage {
  const levels = Float64Array.from({ length: 256 }, (_, level) => fromLinear(toLinear(level / 255) * 2 ** stops) * 255);
  const random = randomFrom(1);
  const noise = Float64Array.from({ length: NOISE_LENGTH }, () =>
    stops >= 0 ? 0 : NOISE_IN_THE_DARK * normal(random),
  );
  const result = new Uint8ClampedArray(pixels.length);
  for (let index = 0; index < result.length; index += 1) {
    result[index] = (levels[pixels[index] as number] as number) + (noise[index % NOISE_LENGTH] as number);
  }
  return { width, height, pixels: new Uint8Array(result.buffer) };
}

/** With a round patch of reflected light. In pixels. */
export function glaring({ width, height, pixels }: RgbImage, centre: Point, radius: number): RgbImage {
  const result = Uint8ClampedArray.from(pixels);
  const [top, bottom] = [Math.max(0, Math.floor(centre.y - radius)), Math.min(height, Math.ceil(centre.y + radius))];
  const [left, right] = [Math.max(0, Math.floor(centre.x - radius)), Math.min(width, Math.ceil(centre.x + radius))];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const away = Math.hypot(x + 0.5 - centre.x, y + 0.5 - centre.y) / radius;
      const light = 255 * Math.min(1, Math.max(0, (1 - away) / GLARE_FADE));
      for (let at = 3 * (y * width + x), end = at + 3; at < end; at += 1) result[at] = (result[at] as number) + light;
    }
  }
  return { width, height, pixels: new Uint8Array(result.buffer) };
}

/** The part of a picture within a box, in whole pixels. */
export function croppedTo(picture: RgbImage, box: Box): RgbImage {
  const [x0, y0] = [Math.max(0, Math.round(box.x0)), Math.max(0, Math.round(box.y0))];
  const [x1, y1] = [Math.min(picture.width, Math.round(box.x1)), Math.min(picture.height, Math.round(box.y1))];
  const [width, height] = [x1 - x0, y1 - y0];
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const start = 3 * ((y0 + y) * picture.width + x0);
    pixels.set(picture.pixels.subarray(start, start + 3 * width), 3 * y * width);
  }
  return { width, height, pixels };
}

/** Taken with fewer pixels. @param scale of width and height, at most 1 */
export function reduced(picture: RgbImage, scale: number): RgbImage {
  const { width, height } = picture;
  const corners = [
    { x: 0, y: 0 },
    { x: width, y: 0 },
    { x: width, y: height },
    { x: 0, y: height },
  ];
  // What a pixel of a smaller sensor gathers.
  const gathered = scale < 0.8 ? blurred(picture, 0.4 / scale) : picture;
  return rectify(gathered, corners, Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
}

/** Along one direction, with the edges of the picture repeated. */
function filtered(picture: RgbImage, weights: readonly number[], stepX: number, stepY: number): RgbImage {
  const { width, height, pixels } = picture;
  const reach = (weights.length - 1) / 2;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = Float64Array.from(weights, (weight) => weight / total);
  // Where each place along the direction takes its values from, so that the loop over pixels only adds.
  const nearest = (length: number, step: number) =>
    Int32Array.from({ length: length * shares.length }, (_, index) => {
      const place = Math.floor(index / shares.length) + ((index % shares.length) - reach) * step;
      return Math.min(length - 1, Math.max(0, place));
    });
  const [columns, rows] = [nearest(width, stepX), nearest(height, stepY)];
  const taps = shares.length;
  const result = new Uint8ClampedArray(pixels.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let index = 0; index < taps; index += 1) {
        const at = 3 * ((rows[y * taps + index] as number) * width + (columns[x * taps + index] as number));
        const share = shares[index] as number;
        red += share * (pixels[at] as number);
        green += share * (pixels[at + 1] as number);
        blue += share * (pixels[at + 2] as number);
      }
      const to = 3 * (y * width + x);
      result[to] = red;
      result[to + 1] = green;
      result[to + 2] = blue;
    }
  }
  return { width, height, pixels: new Uint8Array(result.buffer) };
}

/** sRGB, 0 to 1. Source: IEC 61966-2-1. */
function toLinear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function fromLinear(value: number): number {
  const light = Math.min(1, value);
  return light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;
}
