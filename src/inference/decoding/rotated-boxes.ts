/** Rectangles that are turned, by their corners. */
import type { Box } from './boxes.ts';
import type { Point } from './detections.ts';

/** In order around. */
export type Quad = readonly [Point, Point, Point, Point];

/** @param angle in radians, clockwise as it is seen, since y points down */
export function cornersOf(center: Point, width: number, height: number, angle: number): Quad {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const corner = (across: number, down: number): Point => ({
    x: center.x + across * cosine - down * sine,
    y: center.y + across * sine + down * cosine,
  });
  const [across, down] = [width / 2, height / 2];
  return [corner(-across, -down), corner(across, -down), corner(across, down), corner(-across, down)];
}

/**
 * The same corners as a line of text is read that runs rather across than down: top left, top right, bottom right, bottom
 * left.
 */
export function inReadingOrder(corners: Quad): Quad {
  const [a, b, c, d] = corners.toSorted((one, other) => one.x - other.x) as [Point, Point, Point, Point];
  const [topLeft, bottomLeft] = a.y <= b.y ? [a, b] : [b, a];
  const [topRight, bottomRight] = c.y <= d.y ? [c, d] : [d, c];
  return [topLeft, topRight, bottomRight, bottomLeft];
}

/** The upright box around points. */
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

/** Intersection over union of two convex outlines, 0 to 1. */
export function overlapOfOutlines(a: readonly Point[], b: readonly Point[]): number {
  const intersection = areaOf(clip(a, b));
  const union = areaOf(a) + areaOf(b) - intersection;
  return union > 0 ? intersection / union : 0;
}

/** Of a simple outline, in either direction. */
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

/** What of `subject` lies within the convex `window`. Source: Sutherland and Hodgman, "Reentrant polygon clipping", 1974. */
function clip(subject: readonly Point[], window: readonly Point[]): Point[] {
  const direction = Math.sign(signedArea(window));
  let remaining = [...subject];
  for (const [index, from] of window.entries()) {
    const to = window[(index + 1) % window.length] as Point;
    const side = ({ x, y }: Point) => direction * ((to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x));
    remaining = remaining.flatMap((point, place) => {
      const before = remaining.at(place - 1) as Point;
      const [here, there] = [side(point), side(before)];
      const isCrossing = here >= 0 !== there >= 0;
      const share = there / (there - here);
      const crossing = { x: before.x + share * (point.x - before.x), y: before.y + share * (point.y - before.y) };
      return [...(isCrossing ? [crossing] : []), ...(here >= 0 ? [point] : [])];
    });
  }
  return remaining;
}

/**
 * The rectangle of least area around points, and half its sides. One of its sides lies on one of the points' convex hull.
 * What OpenCV's `minAreaRect` finds.
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
