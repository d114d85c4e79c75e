/**
 * Bilinear resampling between the four nearest pixels, without antialiasing: OpenCV's `INTER_LINEAR`, which Ultralytics and
 * others use in training. When shrinking it skips pixels, so prefer `resample.ts` for anything that people look at.
 */

import type { Box } from '../decoding/boxes.ts';
import { type AxisSteps, axisSteps } from '../decoding/interpolate.ts';
import type { RgbImage } from './rgb-image.ts';

const CHANNELS = 3;

/** Scales the part of `image` inside `box` (pixels, may be fractional, within the picture) to width × height. */
export function resampleBilinear(image: RgbImage, box: Box, width: number, height: number): RgbImage {
  const columns = stepsWithin(image.width, box.x0, box.x1, width);
  const rows = stepsWithin(image.height, box.y0, box.y1, height);
  const { pixels: source } = image;
  const pixels = new Uint8Array(width * height * CHANNELS);
  let target = 0;
  for (let y = 0; y < height; y += 1) {
    const top = (rows.first[y] as number) * image.width;
    const bottom = (rows.second[y] as number) * image.width;
    const down = rows.share[y] as number;
    for (let x = 0; x < width; x += 1) {
      const left = columns.first[x] as number;
      const right = columns.second[x] as number;
      const across = columns.share[x] as number;
      for (let channel = 0; channel < CHANNELS; channel += 1) {
        const at = (pixel: number) => source[pixel * CHANNELS + channel] as number;
        const above = at(top + left) * (1 - across) + at(top + right) * across;
        const below = at(bottom + left) * (1 - across) + at(bottom + right) * across;
        pixels[target] = Math.round(above * (1 - down) + below * down);
        target += 1;
      }
    }
  }
  return { width, height, pixels };
}

function stepsWithin(sourceSize: number, from: number, to: number, size: number): AxisSteps {
  if (from === 0 && to === sourceSize) return axisSteps(sourceSize, size);
  const steps = { first: new Int32Array(size), second: new Int32Array(size), share: new Float64Array(size) };
  for (let pixel = 0; pixel < size; pixel += 1) {
    const place = Math.min(Math.max(from + ((pixel + 0.5) * (to - from)) / size - 0.5, 0), sourceSize - 1);
    const first = Math.floor(place);
    steps.first[pixel] = first;
    steps.second[pixel] = Math.min(first + 1, sourceSize - 1);
    steps.share[pixel] = place - first;
  }
  return steps;
}
