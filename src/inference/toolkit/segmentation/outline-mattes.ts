/** Mattes from outlines, one byte a pixel: 255 belongs to the subject, 0 does not. */
import type { Size } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';

/**
 * Fills an outline (pixels of the picture) by the even-odd rule.
 * @returns [height, width]: 255 for a pixel whose centre lies within, else 0
 */
export function fillOutline(outline: readonly Point[], { width, height }: Size): Uint8Array {
  const matte = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const middle = y + 0.5;
    const crossings = outline
      .flatMap((from, index) => {
        const to = outline[(index + 1) % outline.length] as Point;
        if (from.y > middle === to.y > middle) return [];
        return [from.x + ((middle - from.y) / (to.y - from.y)) * (to.x - from.x)];
      })
      .toSorted((a, b) => a - b);
    for (let index = 0; index + 1 < crossings.length; index += 2) {
      const first = Math.max(0, Math.ceil((crossings[index] as number) - 0.5));
      const end = Math.min(width, Math.ceil((crossings[index + 1] as number) - 0.5));
      if (end > first) matte.fill(255, y * width + first, y * width + end);
    }
  }
  return matte;
}

/** Minimum mean of a matte inside an outline (0 to 255) for it to count there: it may have holes. */
const LEAST_INSIDE = 128;

/**
 * Limits a matte to an outline that is wrong by at most `margin` pixels. Farther outside the matte becomes 0. Farther inside it
 * becomes 255 if most of that is missing: the matting network may have found a person in front of the vehicle. Changes
 * `matte`.
 */
export function holdToOutline(matte: Uint8Array, outline: readonly Point[], size: Size, margin: number): void {
  const { width, height } = size;
  const around = countAcross(fillOutline(outline, size), size, margin);
  // Per column, the filled pixels within `margin` of the current row.
  const counts = new Uint32Array(width);
  const add = (row: number, sign: 1 | -1) => {
    for (let x = 0; x < width; x += 1) counts[x] = (counts[x] as number) + sign * (around[row * width + x] as number);
  };
  const inside = new Uint8Array(matte.length);
  let [said, pixels] = [0, 0];
  for (let row = 0; row < Math.min(margin, height); row += 1) add(row, 1);
  for (let y = 0; y < height; y += 1) {
    if (y + margin < height) add(y + margin, 1);
    if (y - margin - 1 >= 0) add(y - margin - 1, -1);
    const rows = spanAround(y, margin, height);
    for (let x = 0; x < width; x += 1) {
      const pixel = y * width + x;
      if (counts[x] === 0) matte[pixel] = 0;
      if (counts[x] !== rows * spanAround(x, margin, width)) continue;
      inside[pixel] = 1;
      said += matte[pixel] as number;
      pixels += 1;
    }
  }
  if (said >= LEAST_INSIDE * pixels) return;
  for (let pixel = 0; pixel < matte.length; pixel += 1) if (inside[pixel] === 1) matte[pixel] = 255;
}

/** Per pixel, how many pixels of its row within `margin` are 255. */
function countAcross(filled: Uint8Array, { width, height }: Size, margin: number): Uint16Array {
  const counts = new Uint16Array(filled.length);
  for (let start = 0; start < width * height; start += width) {
    let count = 0;
    const at = (x: number) => (x >= 0 && x < width && filled[start + x] === 255 ? 1 : 0);
    for (let x = -margin; x < width; x += 1) {
      count += at(x + margin) - at(x - margin - 1);
      if (x >= 0) counts[start + x] = count;
    }
  }
  return counts;
}

/** How many pixels of an axis of `length` lie within `margin` of `place`. */
function spanAround(place: number, margin: number, length: number): number {
  return Math.min(length - 1, place + margin) - Math.max(0, place - margin) + 1;
}
