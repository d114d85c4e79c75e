import type { Planes } from './planes-to-rgb.ts';

/** Width to which details are reduced, so that all video sizes compare. */
const COLUMNS = 480;

/**
 * Mean absolute Laplacian of a frame's luma, from 0 for no detail. Comparable between frames of one video only.
 */
export function sharpnessOf({ luma, width, height, bits }: Planes): number {
  const step = Math.max(1, Math.round(width / COLUMNS));
  const at = (x: number, y: number) => luma.samples[luma.offset + y * luma.stride + x * luma.step] ?? 0;
  let sum = 0;
  let count = 0;
  for (let y = step; y + step < height; y += step) {
    for (let x = step; x + step < width; x += step) {
      sum += Math.abs(4 * at(x, y) - at(x - step, y) - at(x + step, y) - at(x, y - step) - at(x, y + step));
      count += 1;
    }
  }
  return count === 0 ? 0 : sum / count / 2 ** (bits - 8);
}
