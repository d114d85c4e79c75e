/**
 * Bilinear resampling of part of a picture, antialiased when shrinking: the triangle filter of Pillow's
 * `Image.resize(size, Image.BILINEAR, box)` with its fixed-point arithmetic (Pillow, src/libImaging/Resample.c).
 * Columns are resampled before rows; a release of Pillow that does it the other way round differs by 1 of 255.
 *
 * Not sharp, because the models were trained on Pillow's pixels and boxes are cut at fractions of a pixel. Each source pixel
 * counts in two output pixels, so 12 megapixels cost 72 million multiplications: as much time as a SIMD JPEG decoder takes.
 */
import type { Box } from '../decoding/boxes.ts';
import type { RgbImage } from './rgb-image.ts';

const CHANNELS = 3;
/**
 * Pillow's fixed point: a pixel (8 bits) × a weight fits into 32 bits with two to spare. Weights are never negative and sum
 * to 1, so a sum needs no clamping, only half a level for rounding.
 */
const PRECISION_BITS = 32 - 8 - 2;

/** The source pixels of each output pixel along one axis, with their weights. */
interface AxisWeights {
  first: Int32Array;
  count: Int32Array;
  /** `taps` fixed-point weights for each output pixel. */
  weights: Int32Array;
  taps: number;
}

/**
 * Scales the part of `image` inside `box` (pixels, may be fractional, within the picture) to width × height. The whole picture at
 * its own size is returned as it is, not as a copy.
 */
export function resample(image: RgbImage, box: Box, width: number, height: number): RgbImage {
  if (isOfSameSize(box, width, height)) return cutOut(image, box, width, height);
  const columns = axisWeights(image.width, box.x0, box.x1, width);
  const rows = axisWeights(image.height, box.y0, box.y1, height);
  const firstRow = rows.first[0] ?? 0;
  const lastRow = (rows.first[height - 1] ?? 0) + (rows.count[height - 1] ?? 0);
  const narrowed = resampleColumns(image, columns, width, firstRow, lastRow);
  return { width, height, pixels: resampleRows(narrowed, rows, width, height, firstRow) };
}

/** Whole pixels at their own size: every weight is 1. */
function isOfSameSize({ x0, y0, x1, y1 }: Box, width: number, height: number): boolean {
  return x1 - x0 === width && y1 - y0 === height && Number.isInteger(x0) && Number.isInteger(y0);
}

function cutOut(image: RgbImage, { x0, y0 }: Box, width: number, height: number): RgbImage {
  if (width === image.width && height === image.height) return image;
  const pixels = new Uint8Array(width * height * CHANNELS);
  for (let row = 0; row < height; row += 1) {
    const start = ((y0 + row) * image.width + x0) * CHANNELS;
    pixels.set(image.pixels.subarray(start, start + width * CHANNELS), row * width * CHANNELS);
  }
  return { width, height, pixels };
}

function axisWeights(sourceSize: number, from: number, to: number, size: number): AxisWeights {
  // Pillow reads the box as 32-bit floats and computes in doubles.
  const start = Math.fround(from);
  const scale = Math.fround(Math.fround(to) - start) / size;
  const support = Math.max(scale, 1);
  const taps = Math.ceil(support) * 2 + 1;
  const axis = { first: new Int32Array(size), count: new Int32Array(size), weights: new Int32Array(size * taps), taps };
  const exact = new Float64Array(taps);
  for (let index = 0; index < size; index += 1) {
    const center = start + (index + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(sourceSize, Math.trunc(center + support + 0.5)) - first;
    let sum = 0;
    for (let tap = 0; tap < count; tap += 1) {
      const weight = Math.max(0, 1 - Math.abs((tap + first - center + 0.5) * (1 / support)));
      exact[tap] = weight;
      sum += weight;
    }
    for (let tap = 0; tap < count; tap += 1) {
      const share = sum === 0 ? 0 : (exact[tap] ?? 0) / sum;
      axis.weights[index * taps + tap] = Math.trunc(0.5 + share * (1 << PRECISION_BITS));
    }
    axis.first[index] = first;
    axis.count[index] = count;
  }
  return axis;
}

/**
 * [rows firstRow…lastRow, image.width, 3] → [lastRow − firstRow, width, 3]
 *
 * Large pictures spend their time here; 32-bit integer arithmetic (`| 0`) halves it.
 */
function resampleColumns(
  image: RgbImage,
  axis: AxisWeights,
  width: number,
  firstRow: number,
  lastRow: number,
): Uint8Array {
  const { pixels } = image;
  const output = new Uint8Array((lastRow - firstRow) * width * CHANNELS);
  const resampleRow = axis.count.every((count) => count <= 2) ? blendRow : sumRow;
  for (let row = firstRow; row < lastRow; row += 1) {
    resampleRow(output, (row - firstRow) * width * CHANNELS, pixels, row * image.width * CHANNELS, axis, width);
  }
  return output;
}

/** A function of its own, which V8 compiles once for all pictures, as it does not loops within loops. */
function sumRow(
  output: Uint8Array,
  to: number,
  pixels: Uint8Array,
  from: number,
  { first, count, weights, taps }: AxisWeights,
  width: number,
): void {
  let target = to;
  for (let column = 0; column < width; column += 1) {
    const weightStart = column * taps;
    const weightEnd = weightStart + (count[column] as number);
    let source = from + (first[column] as number) * CHANNELS;
    let red = 1 << (PRECISION_BITS - 1);
    let green = red;
    let blue = red;
    for (let tap = weightStart; tap < weightEnd; tap += 1) {
      const weight = weights[tap] as number;
      red = (red + (pixels[source] as number) * weight) | 0;
      green = (green + (pixels[source + 1] as number) * weight) | 0;
      blue = (blue + (pixels[source + 2] as number) * weight) | 0;
      source += CHANNELS;
    }
    output[target] = red >> PRECISION_BITS;
    output[target + 1] = green >> PRECISION_BITS;
    output[target + 2] = blue >> PRECISION_BITS;
    target += CHANNELS;
  }
}

/** The same of at most two source pixels each, as when a picture grows. */
function blendRow(
  output: Uint8Array,
  to: number,
  pixels: Uint8Array,
  from: number,
  { first, count, weights, taps }: AxisWeights,
  width: number,
): void {
  const half = 1 << (PRECISION_BITS - 1);
  for (let column = 0; column < width; column += 1) {
    const left = from + (first[column] as number) * CHANNELS;
    const right = (count[column] as number) < 2 ? left : left + CHANNELS;
    const one = weights[column * taps] as number;
    const two = weights[column * taps + 1] as number;
    const target = to + column * CHANNELS;
    const red = half + (pixels[left] as number) * one + (pixels[right] as number) * two;
    const green = half + (pixels[left + 1] as number) * one + (pixels[right + 1] as number) * two;
    const blue = half + (pixels[left + 2] as number) * one + (pixels[right + 2] as number) * two;
    output[target] = red >> PRECISION_BITS;
    output[target + 1] = green >> PRECISION_BITS;
    output[target + 2] = blue >> PRECISION_BITS;
  }
}

/** [rows, width, 3], whose first row is `firstRow` of the source → [height, width, 3] */
function resampleRows(
  pixels: Uint8Array,
  axis: AxisWeights,
  width: number,
  height: number,
  firstRow: number,
): Uint8Array {
  const { weights, taps } = axis;
  const stride = width * CHANNELS;
  const output = new Uint8Array(height * stride);
  const sums = new Int32Array(stride);
  for (let row = 0; row < height; row += 1) {
    const last = (axis.count[row] as number) - 1;
    const source = ((axis.first[row] as number) - firstRow) * stride;
    if (last > 1) sums.fill(1 << (PRECISION_BITS - 1));
    // Two source rows at a time, which are all when a picture grows. A row that is not there weighs nothing.
    for (let tap = 0; tap <= last; tap += 2) {
      const first = source + tap * stride;
      const second = source + Math.min(tap + 1, last) * stride;
      const one = weights[row * taps + tap] as number;
      const two = tap < last ? (weights[row * taps + tap + 1] as number) : 0;
      if (last <= 1) blendRows(output, row * stride, stride, pixels, first, second, one, two);
      else if (tap + 2 > last) finishRow(output, row * stride, sums, pixels, first, second, one, two);
      else addRows(sums, pixels, first, second, one, two);
    }
  }
  return output;
}

/** Functions of their own, which V8 compiles once for all pictures, as it does not loops within loops. */
function addRows(sums: Int32Array, pixels: Uint8Array, first: number, second: number, one: number, two: number): void {
  for (let index = 0; index < sums.length; index += 1) {
    sums[index] =
      ((sums[index] as number) + (pixels[first + index] as number) * one + (pixels[second + index] as number) * two) |
      0;
  }
}

function finishRow(
  output: Uint8Array,
  to: number,
  sums: Int32Array,
  pixels: Uint8Array,
  first: number,
  second: number,
  one: number,
  two: number,
): void {
  for (let index = 0; index < sums.length; index += 1) {
    const sum =
      (sums[index] as number) + (pixels[first + index] as number) * one + (pixels[second + index] as number) * two;
    output[to + index] = sum >> PRECISION_BITS;
  }
}

/** Of the only two rows, without sums. */
function blendRows(
  output: Uint8Array,
  to: number,
  length: number,
  pixels: Uint8Array,
  first: number,
  second: number,
  one: number,
  two: number,
): void {
  const half = 1 << (PRECISION_BITS - 1);
  for (let index = 0; index < length; index += 1) {
    const sum = half + (pixels[first + index] as number) * one + (pixels[second + index] as number) * two;
    output[to + index] = sum >> PRECISION_BITS;
  }
}
