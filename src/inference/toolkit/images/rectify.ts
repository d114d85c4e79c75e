/** Rectifies planar objects seen in perspective. */
import { clamp } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { boxAround } from '../decoding/rotated-boxes.ts';
import type { RgbImage } from './rgb-image.ts';

/**
 * Maps a quadrilateral to a width × height picture, bilinear between pixel centres. Outside the picture its edge repeats.
 * Source: OpenCV's `getPerspectiveTransform` and `warpPerspective`.
 *
 * @param corners of a convex outline, in pixels of the picture: top left, top right, bottom right, bottom left
 */
export function rectify(image: RgbImage, corners: readonly Point[], width: number, height: number): RgbImage {
  const [a, b, c, d, e, f, g, h, i] = matrixOf(corners);
  const source = image.pixels;
  const [mostRight, mostDown] = [image.width - 1, image.height - 1];
  const stride = image.width * 3;
  const pixels = new Uint8Array(width * height * 3);
  let target = 0;
  // Written out, without arrays or objects for a pixel: they take several times as long.
  for (let y = 0; y < height; y += 1) {
    const v = (y + 0.5) / height;
    for (let x = 0; x < width; x += 1) {
      const u = (x + 0.5) / width;
      const depth = g * u + h * v + i;
      const column = Math.min(Math.max((a * u + b * v + c) / depth - 0.5, 0), mostRight);
      const row = Math.min(Math.max((d * u + e * v + f) / depth - 0.5, 0), mostDown);
      // Neither is negative.
      const left = Math.trunc(column) | 0;
      const top = Math.trunc(row) | 0;
      const towardsRight = column - left;
      const towardsBottom = row - top;
      const across = left < mostRight ? 3 : 0;
      const down = top < mostDown ? stride : 0;
      const topLeft = top * stride + left * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const from = topLeft + channel;
        const above = (source[from] as number) * (1 - towardsRight) + (source[from + across] as number) * towardsRight;
        const below =
          (source[from + down] as number) * (1 - towardsRight) +
          (source[from + down + across] as number) * towardsRight;
        // Rounds halves up, as Math.round.
        pixels[target + channel] = (above * (1 - towardsBottom) + below * towardsBottom + 0.5) | 0;
      }
      target += 3;
    }
  }
  return { width, height, pixels };
}

/**
 * Repaints a quadrilateral.
 *
 * @param corners of a convex outline, as above
 * @param colourAt red, green and blue (0 to 255) at a point of the unit square that is mapped to the quadrilateral, and at that pixel
 * @param soft pixels across its edge over which it fades in; at 0 each pixel whose centre lies within is repainted
 */
export function paintQuad(
  image: RgbImage,
  corners: readonly Point[],
  colourAt: (u: number, v: number, x: number, y: number) => readonly number[],
  soft = 0,
): void {
  const toSquare = inverted(matrixOf(corners));
  const depthAt = depthWithin(corners);
  const { pixels } = image;
  const { x0, y0, x1, y1 } = boxAround(corners);
  const [left, right] = [Math.max(0, Math.floor(x0 - soft / 2)), Math.min(image.width, Math.ceil(x1 + soft / 2))];
  const [top, bottom] = [Math.max(0, Math.floor(y0 - soft / 2)), Math.min(image.height, Math.ceil(y1 + soft / 2))];
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const depth = depthAt(x + 0.5, y + 0.5);
      const share = soft === 0 ? Number(depth >= 0) : clamp(0.5 + depth / soft, 0, 1);
      if (share === 0) continue;
      const { x: u, y: v } = moved(toSquare, x + 0.5, y + 0.5);
      const index = (y * image.width + x) * 3;
      for (const [channel, level] of colourAt(u, v, x, y).entries()) {
        const behind = pixels[index + channel] as number;
        pixels[index + channel] = Math.round(behind + (level - behind) * share);
      }
    }
  }
}

/** Distance to the nearest side of a convex outline, in pixels; negative outside. */
function depthWithin(corners: readonly Point[]): (x: number, y: number) => number {
  const sides = corners.map((from, index) => {
    const to = corners[(index + 1) % corners.length] ?? from;
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    return { from, across: (to.x - from.x) / length, down: (to.y - from.y) / length };
  });
  return (x, y) => Math.min(...sides.map(({ from, across, down }) => across * (y - from.y) - down * (x - from.x)));
}

/** 3 × 3, row by row. */
type Matrix = readonly [number, number, number, number, number, number, number, number, number];

/** Maps points of the unit square to the quadrilateral. @param corners as above */
export function projection(corners: readonly Point[]): (u: number, v: number) => Point {
  const matrix = matrixOf(corners);
  return (u, v) => moved(matrix, u, v);
}

function moved([a, b, c, d, e, f, g, h, i]: Matrix, x: number, y: number): Point {
  const depth = g * x + h * y + i;
  return { x: (a * x + b * y + c) / depth, y: (d * x + e * y + f) / depth };
}

/** From the unit square to the quadrilateral. Source: Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, section 2.2.3. */
function matrixOf(corners: readonly Point[]): Matrix {
  const [a, b, c, d] = corners;
  if (!a || !b || !c || !d) throw new Error(`a quadrilateral has four corners, not ${corners.length}`);
  const sum = { x: a.x - b.x + c.x - d.x, y: a.y - b.y + c.y - d.y };
  const [right, down] = [
    { x: b.x - c.x, y: b.y - c.y },
    { x: d.x - c.x, y: d.y - c.y },
  ];
  const determinant = right.x * down.y - down.x * right.y;
  const g = (sum.x * down.y - down.x * sum.y) / determinant;
  const h = (right.x * sum.y - sum.x * right.y) / determinant;
  return [b.x - a.x + g * b.x, d.x - a.x + h * d.x, a.x, b.y - a.y + g * b.y, d.y - a.y + h * d.y, a.y, g, h, 1];
}

/** The inverse up to a factor, which does not affect mapped points. */
function inverted([a, b, c, d, e, f, g, h, i]: Matrix): Matrix {
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ];
}
