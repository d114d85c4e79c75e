/** Connected regions of pixels, and their outlines. */
import type { Point } from './detections.ts';

/** Class of each pixel, row by row. Negative classes belong to no region. */
export interface ClassMap {
  width: number;
  height: number;
  classes: Int16Array;
}

export interface Region {
  classIndex: number;
  /** Pixel indexes in the map, `y × width + x`. The first is the leftmost of the top row. */
  pixels: number[];
}

/** Connected pixels of one class, by sides (4) or also by corners (8), ordered by their first pixel. */
export function findRegions({ width, height, classes }: ClassMap, connectivity: 4 | 8): Region[] {
  const isSeen = new Uint8Array(classes.length);
  const regions: Region[] = [];
  for (let start = 0; start < classes.length; start += 1) {
    const classIndex = classes[start] as number;
    if (classIndex < 0 || isSeen[start]) continue;
    isSeen[start] = 1;
    const pixels = [start];
    for (let next = 0; next < pixels.length; next += 1) {
      const pixel = pixels[next] as number;
      const x = pixel % width;
      const y = (pixel - x) / width;
      for (let direction = 0; direction < connectivity; direction += 1) {
        const column = x + (STEPS_X[direction] as number);
        const row = y + (STEPS_Y[direction] as number);
        const neighbour = row * width + column;
        if (column < 0 || row < 0 || column >= width || row >= height) continue;
        if (isSeen[neighbour] || classes[neighbour] !== classIndex) continue;
        isSeen[neighbour] = 1;
        pixels.push(neighbour);
      }
    }
    regions.push({ classIndex, pixels });
  }
  return regions;
}

/** To the neighbours by the sides, then to those by the corners. */
const STEPS_X = [1, -1, 0, 0, 1, -1, 1, -1];
const STEPS_Y = [0, 0, 1, -1, 1, 1, -1, -1];

type Step = readonly [number, number];

/** East, south, west, north. The region is on the right of each step. */
const CLOCKWISE: readonly Step[] = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
];
/** From a corner of pixels, stepping in each of these directions, the pixels ahead on the left and on the right. */
const AHEAD: readonly { left: Step; right: Step }[] = [
  { left: [0, -1], right: [0, 0] },
  { left: [0, 0], right: [-1, 0] },
  { left: [-1, 0], right: [-1, -1] },
  { left: [-1, -1], right: [0, -1] },
];

/**
 * The outer edge of a region whose pixels touch by their sides, clockwise from the top left corner of its first pixel.
 * It runs between pixels: a region of one pixel at (0, 0) is the square (0, 0), (1, 0), (1, 1), (0, 1). Holes are filled.
 */
export function outlineOf({ pixels }: Region, width: number): Point[] {
  const isInside = new Set(pixels);
  const has = (x: number, y: number) => x >= 0 && x < width && isInside.has(y * width + x);
  const first = pixels[0] ?? 0;
  const start = { x: first % width, y: Math.floor(first / width) };
  const outline: Point[] = [];
  let [x, y, heading] = [start.x, start.y, 0];
  do {
    outline.push({ x, y });
    let turned = heading;
    do {
      const [dx, dy] = CLOCKWISE[heading] as Step;
      [x, y] = [x + dx, y + dy];
      turned = nextHeading(x, y, heading, has);
    } while (turned === heading);
    heading = turned;
  } while (x !== start.x || y !== start.y);
  return outline;
}

function nextHeading(x: number, y: number, heading: number, has: (x: number, y: number) => boolean): number {
  const { left, right } = AHEAD[heading] as { left: Step; right: Step };
  if (!has(x + right[0], y + right[1])) return (heading + 1) % 4;
  return has(x + left[0], y + left[1]) ? (heading + 3) % 4 : heading;
}

/**
 * Removes corners within `tolerance` (pixels) of the remaining outline. Keeps the first corner, and at least three.
 * Source: Douglas and Peucker, "Algorithms for the reduction of the number of points required to represent a digitized
 * line or its caricature", 1973.
 */
export function simplifyOutline(outline: readonly Point[], tolerance: number): Point[] {
  const [first] = outline;
  if (!first) return [];
  const closed = [...outline, first];
  const isKept = new Uint8Array(closed.length);
  isKept[0] = 1;
  const open: [number, number][] = [[0, closed.length - 1]];
  for (let piece = open.pop(); piece; piece = open.pop()) {
    const [from, to] = piece;
    let [farthest, distance] = [from, tolerance];
    for (let index = from + 1; index < to; index += 1) {
      const away = distanceToSegment(closed[index] as Point, closed[from] as Point, closed[to] as Point);
      if (away > distance) [farthest, distance] = [index, away];
    }
    if (farthest === from) continue;
    isKept[farthest] = 1;
    open.push([from, farthest], [farthest, to]);
  }
  const simplified = outline.filter((_, index) => isKept[index]);
  return simplified.length < 3 ? [...outline] : simplified;
}

function distanceToSegment(point: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / squared;
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - from.x - share * dx, point.y - from.y - share * dy);
}
