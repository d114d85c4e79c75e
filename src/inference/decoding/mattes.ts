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

/**
 * The alpha of a matting network, as MODNet, U²-Net and their kin give it, scaled bilinearly to the picture.
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
  for (const row of rows) {
    for (const column of columns) {
      const at = (y: number, x: number) => alpha.data[y * width + x] as number;
      const above = at(row.first, column.first) * (1 - column.share) + at(row.first, column.second) * column.share;
      const below = at(row.second, column.first) * (1 - column.share) + at(row.second, column.second) * column.share;
      const value = above * (1 - row.share) + below * row.share;
      // A typed array clamps nothing by itself.
      matte[row.pixel * picture.width + column.pixel] = Math.round(Math.min(1, Math.max(0, value)) * 255);
    }
  }
  return matte;
}

/** Of each pixel of an axis of the picture that the input covers: the two cells it lies between, and how far. */
function placesOf({ size, origin, scale, cells }: { size: number; origin: number; scale: number; cells: number }) {
  return Array.from({ length: size }, (_, pixel) => ({ pixel, place: (pixel + 0.5 - origin) / scale }))
    .filter(({ place }) => place >= 0 && place < cells)
    .map(({ pixel, place }) => {
      const middle = Math.max(0, place - 0.5);
      const first = Math.min(Math.floor(middle), cells - 1);
      return { pixel, first, second: Math.min(first + 1, cells - 1), share: middle - first };
    });
}
