/** Unrolls the rings of a wheel into straight strips, stacked in one picture. */

import { clamp } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { evenContrast, type GreyLevels } from './even-contrast.ts';
import { lumaOf, type RgbImage } from './rgb-image.ts';
import { fromRings, type Rings } from './rings.ts';

/** A part of the rings: between two radii, in pixels of the picture, and from one angle clockwise to another, in radians. */
export interface Band {
  inner: number;
  outer: number;
  from: number;
  to: number;
}

export interface Unrolled {
  /** Strips below one another; the outer edge of the rings is up, and angles grow to the right. */
  image: RgbImage;
  /** Maps pixels of `image` to pixels of the picture. */
  toPicture: (point: Point) => Point;
  /** Height of a strip, in pixels of `image`. */
  stripHeight: number;
  /** Whether the rings go on beyond the left and right ends of the strips. */
  isCut: (strip: number, end: 'left' | 'right') => boolean;
}

const WHOLE_TURN = 2 * Math.PI;
/** What two strips that follow one another share, in radians: longer print is lost between them. */
const OVERLAP = 1.5;
const MOST_STRIPS = 6;
/** Longest side of the strips together. */
const MOST_PIXELS = 3200;
/** Half a side of the window that contrast is evened in, as a share of the middle radius: about the height of large print. */
const WINDOW = 0.05;
const GROUND = 128;

/** The band in as many strips as make their stack nearly square. */
export function unroll(picture: RgbImage, rings: Rings, band: Band): Unrolled {
  const middle = (band.inner + band.outer) / 2;
  const [height, length] = [band.outer - band.inner, (band.to - band.from) * middle];
  const count = stripsOf(height, length, OVERLAP * middle);
  const isWhole = band.to - band.from >= WHOLE_TURN - 1e-6;
  const overlap = count === 1 && !isWhole ? 0 : OVERLAP;
  const each = (band.to - band.from) / count;
  const span = each + overlap;
  const scale = Math.min(1, MOST_PIXELS / Math.max(span * middle, count * height));
  const stripHeight = Math.max(1, Math.round(height * scale));
  const width = Math.max(1, Math.round(span * middle * scale));
  const size = { width, height: count * stripHeight };
  const angleAt = (strip: number, x: number) => band.from + strip * each - overlap / 2 + (x / width) * span;
  const radiusAt = (strip: number, y: number) => band.outer - (y / stripHeight - strip) * height;
  const place = fromRings(rings);
  const grey: GreyLevels = { ...size, levels: new Float32Array(size.width * size.height).fill(Number.NaN) };
  for (let strip = 0; strip < count; strip += 1) {
    const spokes = Array.from({ length: width }, (_, column) => spokeAt(rings, angleAt(strip, column + 0.5)));
    for (let row = strip * stripHeight; row < (strip + 1) * stripHeight; row += 1) {
      drawArc(grey, row, picture, rings.center, spokes, radiusAt(strip, row + 0.5));
    }
  }
  return {
    image: evenContrast(grey, Math.max(4, Math.round(WINDOW * middle * scale)), GROUND),
    toPicture: ({ x, y }) => {
      const strip = clamp(Math.floor(y / stripHeight), 0, count - 1);
      return place({ radius: radiusAt(strip, y), angle: angleAt(strip, x) });
    },
    stripHeight,
    isCut: (strip, end) => isWhole || (end === 'left' ? strip > 0 : strip < count - 1),
  };
}

/** From the centre to the ring of radius 1. */
function spokeAt(rings: Rings, angle: number): Point {
  return fromRings({ ...rings, center: { x: 0, y: 0 } })({ radius: 1, angle });
}

function stripsOf(height: number, length: number, overlap: number): number {
  const sideOf = (count: number) => Math.max(count * height, length / count + (count > 1 ? overlap : 0));
  const counts = Array.from({ length: MOST_STRIPS }, (_, index) => index + 1);
  return counts.reduce((best, count) => (sideOf(count) < sideOf(best) ? count : best));
}

/** Brightness along an arc, bilinear, into a row of levels. */
function drawArc(
  { width: rowWidth, levels }: GreyLevels,
  row: number,
  { width, height, pixels }: RgbImage,
  center: Point,
  spokes: readonly Point[],
  radius: number,
): void {
  const lumaAt = (index: number) =>
    lumaOf(pixels[3 * index] as number, pixels[3 * index + 1] as number, pixels[3 * index + 2] as number);
  for (const [column, spoke] of spokes.entries()) {
    const [x, y] = [center.x + radius * spoke.x - 0.5, center.y + radius * spoke.y - 0.5];
    const [left, top] = [Math.floor(x), Math.floor(y)];
    if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue;
    const [across, down] = [x - left, y - top];
    const first = top * width + left;
    const above = lumaAt(first) * (1 - across) + lumaAt(first + 1) * across;
    const below = lumaAt(first + width) * (1 - across) + lumaAt(first + width + 1) * across;
    levels[row * rowWidth + column] = above * (1 - down) + below * down;
  }
}
