/** Alpha mattes of matting networks → how much of each pixel belongs to the subject, 0 to 255. */
import type { FloatTensor } from '../../models/tensors.ts';
import type { Size } from './boxes.ts';
import { sigmoid } from './classification.ts';
import type { Point } from './detections.ts';

/** Logits, as BiRefNet and similar networks output them → alpha, 0 to 1, of the same shape. */
export function alphaOfLogits({ data, shape }: FloatTensor): FloatTensor {
  return { data: data.map(sigmoid), shape };
}

/** Rescales an alpha so that its minimum is 0 and its maximum 1; a constant one is unchanged. Source: rembg. */
export function spreadAlpha({ data, shape }: FloatTensor): FloatTensor {
  let [least, greatest] = [Infinity, -Infinity];
  for (const value of data) {
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return greatest > least
    ? { data: data.map((value) => (value - least) / (greatest - least)), shape }
    : { data, shape };
}

/**
 * Scales the alpha of a matting network (MODNet, U²-Net and similar) to the picture, bilinearly, and antialiased when the
 * alpha is the larger.
 *
 * @param alpha [1, 1, height, width], 0 to 1; usually of the input's size
 * @param input size in pixels, and the mapping from its pixels to those of the picture
 * @param picture size in pixels
 * @returns [height, width] of the picture, 0 to 255; 0 beyond the input
 * @throws Error for another shape
 */
export function decodeAlpha(
  alpha: FloatTensor,
  input: { size: Size; toPicture: (point: Point) => Point },
  picture: Size,
): Uint8Array {
  const [batch, planes, height = 0, width = 0] = alpha.shape;
  if (alpha.shape.length !== 4 || batch !== 1 || planes !== 1) {
    throw new Error(`an alpha of shape [${alpha.shape.join(', ')}] is not [1, 1, height, width]`);
  }
  const origin = input.toPicture({ x: 0, y: 0 });
  const cell = input.toPicture({ x: input.size.width / width, y: input.size.height / height });
  const columns = placesOf({ size: picture.width, origin: origin.x, scale: cell.x - origin.x, cells: width });
  const rows = placesOf({ size: picture.height, origin: origin.y, scale: cell.y - origin.y, cells: height });
  const matte = new Uint8Array(picture.width * picture.height);
  const left = columns[0]?.pixel ?? 0;
  const widened = scaleRows(alpha.data, width, height, columns);
  const sums = new Float32Array(columns.length);
  for (const { pixel, first, weights } of rows) {
    sums.fill(0);
    weights.forEach((weight, tap) => {
      const start = (first + tap) * columns.length;
      for (let column = 0; column < sums.length; column += 1) {
        sums[column] = (sums[column] as number) + (widened[start + column] as number) * weight;
      }
    });
    const target = pixel * picture.width + left;
    for (let column = 0; column < sums.length; column += 1) {
      // Uint8Array wraps instead of clamping.
      matte[target + column] = Math.round(Math.min(1, Math.max(0, sums[column] as number)) * 255);
    }
  }
  return matte;
}

/** A pixel of one axis, and the weighted cells that make it. */
interface Place {
  pixel: number;
  first: number;
  weights: number[];
}

/** [height, width] → [height, places] */
function scaleRows(data: ArrayLike<number>, width: number, height: number, places: readonly Place[]): Float32Array {
  const scaled = new Float32Array(height * places.length);
  places.forEach(({ first, weights }, place) => {
    for (let row = 0; row < height; row += 1) {
      let sum = 0;
      for (let tap = 0; tap < weights.length; tap += 1) {
        sum += (data[row * width + first + tap] as number) * (weights[tap] as number);
      }
      scaled[row * places.length + place] = sum;
    }
  });
  return scaled;
}

/** Triangle filter for each pixel of the picture's axis that the input covers, at least one pixel wide. */
function placesOf({ size, origin, scale, cells }: { size: number; origin: number; scale: number; cells: number }) {
  const reach = Math.max(1, 1 / scale);
  return Array.from({ length: size }, (_, pixel) => ({ pixel, middle: (pixel + 0.5 - origin) / scale }))
    .filter(({ middle }) => middle >= 0 && middle < cells)
    .map(({ pixel, middle }): Place => {
      const first = Math.max(0, Math.floor(middle - reach + 0.5));
      const end = Math.min(cells, Math.ceil(middle + reach - 0.5));
      const shares = Array.from({ length: end - first }, (_, tap) =>
        Math.max(0, 1 - Math.abs(first + tap + 0.5 - middle) / reach),
      );
      const sum = shares.reduce((total, share) => total + share, 0);
      return { pixel, first, weights: shares.map((share) => share / sum) };
    });
}
