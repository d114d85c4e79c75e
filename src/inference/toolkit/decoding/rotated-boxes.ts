/** Rotated rectangles and outlines. Coordinates are in pixels with y pointing down. */
import type { Box, Size } from './boxes.ts';
import { clampPoint, type Point } from './detections.ts';

/** Four corners in order around the outline. */
export type Quad = readonly [Point, Point, Point, Point];

export function clampQuad([a, b, c, d]: Quad, picture: Size): Quad {
  return [clampPoint(a, picture), clampPoint(b, picture), clampPoint(c, picture), clampPoint(d, picture)];
}

/** @param angle in radians, clockwise on the screen */
export function cornersOf(center: Point, width: number, height: number, angle: number): Quad {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const corner = (across: number, down: number): Point => ({
    x: center.x + across * cosine - down * sine,
    y: center.y + across * sine + down * cosine,
  });
  const [across, down] = [width / 2, height / 2];
  return [corner(-across, -down), corner(across, -down), corner(across, down), corner(-across, down)];
}

export function quadOfBox({ x0, y0, x1, y1 }: Box): Quad {
  return cornersOf({ x: (x0 + x1) / 2, y: (y0 + y1) / 2 }, x1 - x0, y1 - y0, 0);
}

/**
 * The same corners in the reading order of a mostly horizontal line: top left, top right, bottom right, bottom left.
 */
export function inReadingOrder(corners: Quad): Quad {
  const [a, b, c, d] = corners.toSorted((one, other) => one.x - other.x) as [Point, Point, Point, Point];
  const [topLeft, bottomLeft] = a.y <= b.y ? [a, b] : [b, a];
  const [topRight, bottomRight] = c.y <= d.y ? [c, d] : [d, c];
  return [topLeft, topRight, bottomRight, bottomLeft];
}

/** The axis-aligned box around points. */
export function boxAround(points: readonly Point[]): Box {
  const nowhere: Box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  return points.reduce(
    (box, { x, y }) => ({
      x0: Math.min(box.x0, x),
      y0: Math.min(box.y0, y),
      x1: Math.max(box.x1, x),
      y1: Math.max(box.y1, y),
    }),
    nowhere,
  );
}

/** A rotated rectangle as networks output it: centre, size, angle. */
export interface TurnedBox {
  x: number;
  y: number;
  width: number;
  height: number;
  /** In radians. */
  angle: number;
}

/** Keeps quotients and logarithms finite, as in the source. */
const TINY = 1e-7;

/**
 * Overlap of two rotated boxes as Gaussians, 0 to 1: 1 − their Hellinger distance. Ultralytics trains and suppresses oriented
 * boxes by it.
 * Source: Llerena, Zeni, Kristen, Jung, "Gaussian bounding boxes and probabilistic intersection-over-union for object
 * detection", 2021; `batch_probiou` in `ultralytics/utils/metrics.py`.
 */
export function probabilisticOverlap(one: TurnedBox, other: TurnedBox): number {
  const [a1, b1, c1] = covarianceOf(one);
  const [a2, b2, c2] = covarianceOf(other);
  const [a, b, c] = [a1 + a2, b1 + b2, c1 + c2];
  const [dx, dy] = [one.x - other.x, one.y - other.y];
  const determinant = a * b - c ** 2;
  const away = (a * dy ** 2 + b * dx ** 2) / (4 * (determinant + TINY));
  const askew = (c * -dx * dy) / (2 * (determinant + TINY));
  const own = Math.sqrt(Math.max(0, a1 * b1 - c1 ** 2) * Math.max(0, a2 * b2 - c2 ** 2));
  const unlike = Math.log(determinant / (4 * own + TINY) + TINY) / 2;
  const distance = Math.min(Math.max(away + askew + unlike, TINY), 100);
  return 1 - Math.sqrt(1 - Math.exp(-distance) + TINY);
}

/** The variances along x and y, and the covariance. */
function covarianceOf({ width, height, angle }: TurnedBox): [number, number, number] {
  const [a, b] = [width ** 2 / 12, height ** 2 / 12];
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [a * cosine ** 2 + b * sine ** 2, a * sine ** 2 + b * cosine ** 2, (a - b) * cosine * sine];
}

/** Area of a simple outline, in square pixels, for either direction. */
export function areaOf(outline: readonly Point[]): number {
  return Math.abs(signedArea(outline));
}

function signedArea(outline: readonly Point[]): number {
  const doubled = outline.reduce((sum, { x, y }, index) => {
    const next = outline[(index + 1) % outline.length] as Point;
    return sum + x * next.y - next.x * y;
  }, 0);
  return doubled / 2;
}

/**
 * The rectangle of minimum area around points; one of its sides lies on their convex hull. As OpenCV's `minAreaRect`.
 */
export function leastRectangle(points: readonly Point[]): {
  center: Point;
  width: number;
  height: number;
  angle: number;
} {
  const hull = convexHull(points);
  const [only = { x: 0, y: 0 }] = hull;
  let best = { center: only, width: 0, height: 0, angle: 0 };
  let leastArea = Number.POSITIVE_INFINITY;
  for (const [index, from] of hull.entries()) {
    const to = hull[(index + 1) % hull.length] as Point;
    if (hull.length < 2) break;
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    const turned = boxAround(hull.map(({ x, y }) => ({ x: x * cosine + y * sine, y: y * cosine - x * sine })));
    const [width, height] = [turned.x1 - turned.x0, turned.y1 - turned.y0];
    if (width * height >= leastArea) continue;
    leastArea = width * height;
    const [u, v] = [(turned.x0 + turned.x1) / 2, (turned.y0 + turned.y1) / 2];
    best = { center: { x: u * cosine - v * sine, y: u * sine + v * cosine }, width, height, angle };
  }
  return best;
}

/** Source: Andrew, "Another efficient algorithm for convex hulls in two dimensions", 1979. */
function convexHull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const half = (ordered: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of ordered) {
      while (chain.length >= 2 && !turnsRight(chain.at(-2) as Point, chain.at(-1) as Point, point)) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

function turnsRight(a: Point, b: Point, c: Point): boolean {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;
}
