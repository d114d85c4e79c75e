/** Mattes: how much of each pixel belongs to a thing, 0 to 255. */
import type { FloatTensor } from '../models/model.ts';
import type { Size } from './boxes.ts';
import { sigmoid } from './classification.ts';
import type { Point } from './detections.ts';

/** An outline filled: a pixel whose middle lies within is 255, any other 0. Even-odd rule. */
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

/** What BiRefNet's exports and their kin give before their sigmoid → an alpha of 0 to 1. */
export function alphaOfLogits({ data, shape }: FloatTensor): FloatTensor {
  return { data: data.map(sigmoid), shape };
}

/** Spread so that the least is 0 and the greatest 1, as rembg does; one of a single value stays as it is. */
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
 * The alpha of a matting network, as MODNet, U²-Net and their kin give it, scaled bilinearly to the picture. Where the
 * alpha is the larger, each pixel is made of all cells that it covers.
 *
 * @param alpha [1, 1, height, width], 0 to 1; of the input's size, mostly
 * @param input its size, and the way from its pixels to those of the picture
 * @param picture its size; what lies beyond the input is 0
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
      // A typed array clamps nothing by itself.
      matte[target + column] = Math.round(Math.min(1, Math.max(0, sums[column] as number)) * 255);
    }
  }
  return matte;
}

/** What a matte must say of the inside of an outline, in the mean, to be believed there: it may have holes. */
const LEAST_INSIDE = 128;

/**
 * Holds a matte to an outline that errs by `margin` pixels at most. Farther outside it becomes 0. Farther inside it becomes
 * 255 if most of that is missing: a matting network tells softly what stands out, which may be a person before the vehicle.
 */
export function holdToOutline(matte: Uint8Array, outline: readonly Point[], size: Size, margin: number): void {
  const { width, height } = size;
  const around = countAcross(fillOutline(outline, size), size, margin);
  // Of each column, the pixels inside of a square around the row in hand.
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

/** Of each pixel, how many of its row are 255 within `margin` of it. */
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

/** How many pixels of an axis of `length` lie within `margin` of one. */
function spanAround(place: number, margin: number, length: number): number {
  return Math.min(length - 1, place + margin) - Math.max(0, place - margin) + 1;
}

/** A pixel of an axis, and the cells that it is made of. */
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

/** Of each pixel of an axis of the picture that the input covers: a triangle over the cells, as wide as a pixel at least. */
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
