/** Rectifies plates and lines of print before they are read. */
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { rectify } from '../images/rectify.ts';
import type { RgbImage } from '../images/rgb-image.ts';

/** Longest side of a rectified picture; smaller ones keep their size. */
const MOST_PIXELS = 2048;

/** The quadrilateral seen from the front, with its proportions in the picture. @param corners in pixels of the picture */
export function straighten(picture: RgbImage, corners: Quad): RgbImage {
  const [topLeft, topRight, bottomRight, bottomLeft] = corners;
  const width = (distance(topLeft, topRight) + distance(bottomLeft, bottomRight)) / 2;
  const height = (distance(topLeft, bottomLeft) + distance(topRight, bottomRight)) / 2;
  const scale = Math.min(1, MOST_PIXELS / Math.max(width, height));
  const pixels = (length: number) => Math.max(1, Math.round(length * scale));
  return rectify(picture, corners, pixels(width), pixels(height));
}

/** Grows a quadrilateral on each side by shares of its own sides. */
export function growQuad(corners: readonly Point[], shareX: number, shareY: number): Quad {
  const at = placeWithin(corners);
  const [left, right, top, bottom] = [-shareX, 1 + shareX, -shareY, 1 + shareY];
  return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
}

/** The part of a quadrilateral between two shares of its width, over its whole height. */
export function pieceOfQuad(corners: readonly Point[], from: number, to: number): Quad {
  const at = placeWithin(corners);
  return [at(from, 0), at(to, 0), at(to, 1), at(from, 1)];
}

/** Maps shares of width and height to points, bilinearly. */
function placeWithin(corners: readonly Point[]): (u: number, v: number) => Point {
  const [a, b, c, d] = corners;
  if (!a || !b || !c || !d) throw new Error(`a quadrilateral has four corners, not ${corners.length}`);
  return (u, v) => ({
    x: (a.x * (1 - u) + b.x * u) * (1 - v) + (d.x * (1 - u) + c.x * u) * v,
    y: (a.y * (1 - u) + b.y * u) * (1 - v) + (d.y * (1 - u) + c.y * u) * v,
  });
}

export function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

export function distance(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}
