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
  const { weights, taps } = axis;
  const output = new Uint8Array((lastRow - firstRow) * width * CHANNELS);
  let target = 0;
  for (let row = firstRow; row < lastRow; row += 1) {
    const rowStart = row * image.width * CHANNELS;
    for (let column = 0; column < width; column += 1) {
      const weightStart = column * taps;
      const weightEnd = weightStart + (axis.count[column] as number);
      let source = rowStart + (axis.first[column] as number) * CHANNELS;
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
  return output;
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
    sums.fill(1 << (PRECISION_BITS - 1));
    const last = (axis.count[row] as number) - 1;
    const source = ((axis.first[row] as number) - firstRow) * stride;
    const weightOf = (tap: number) => (tap <= last ? (weights[row * taps + tap] as number) : 0);
    // Three source rows at a time, which are often all: fewer passes over the sums. A row that is not there weighs nothing.
    for (let tap = 0; tap <= last; tap += 3) {
      const [one, two, three] = [weightOf(tap), weightOf(tap + 1), weightOf(tap + 2)];
      const first = source + tap * stride;
      const second = source + Math.min(tap + 1, last) * stride;
      const third = source + Math.min(tap + 2, last) * stride;
      for (let index = 0; index < stride; index += 1) {
        sums[index] =
          (sums[index] as number) +
          (pixels[first + index] as number) * one +
          (pixels[second + index] as number) * two +
          (pixels[third + index] as number) * three;
      }
    }
    for (let index = 0; index < stride; index += 1) {
      output[row * stride + index] = (sums[index] as number) >> PRECISION_BITS;
    }
  }
  return output;
}
