/** Lines of print of one picture in the upright position of its page: which follow to the right, and which stand below. */

import type { Box, Size } from '../decoding/boxes.ts';
import { clampPoint, type Point } from '../decoding/detections.ts';
import { boxAround } from '../decoding/rotated-boxes.ts';
import { toPolygon } from '../segmentation/polygon.ts';
import { textOf } from './print-rows.ts';
import { distance, middle } from './straighten.ts';
import type { PrintedCharacter, PrintedLine } from './text-lines.ts';

export interface PlacedLine {
  /** One UTF-16 unit per character; a longer one becomes the replacement character. */
  text: string;
  characters: readonly PrintedCharacter[];
}

export interface Layout {
  /** In radians, clockwise in the picture: the reading direction of most print. */
  angle: number;
  /** In reading order, without those that run in another direction. */
  lines: readonly PlacedLine[];
  /** All lines, as the reader returned them. */
  printed: readonly PrintedLine[];
  /** Median height of a line, in pixels. */
  height: number;
  placeOf(characters: readonly PrintedCharacter[]): Place;
  /** How far `to` lies right of and below `from` on the page, in pixels, along rows that perspective tilts. */
  stepBetween(from: Point, to: Point): { right: number; down: number };
  /** A point of the picture → of the page, where rows are horizontal. In pixels, from the middle of the print. */
  toPage: (point: Point) => Point;
  /** The reverse of `toPage`. */
  toPicture: (point: Point) => Point;
}

/**
 * The rectangle of the page around these points, clamped to the picture: its corners in reading order, top left first.
 * @param points in pixels of the picture @param margin by which it is larger on each side, in pixels
 */
export function outlineAround(
  { toPage, toPicture }: Pick<Layout, 'toPage' | 'toPicture'>,
  points: readonly Point[],
  picture: Size,
  margin = 0,
): Point[] {
  const { x0, y0, x1, y1 } = boxAround(points.map(toPage));
  const corners = cornersOf({ x0: x0 - margin, y0: y0 - margin, x1: x1 + margin, y1: y1 + margin });
  return toPolygon(corners.map((corner) => clampPoint(toPicture(corner), picture)));
}

/** Top left, top right, bottom right, bottom left. */
export function cornersOf({ x0, y0, x1, y1 }: Box): Point[] {
  return [
    { x: x0, y: y0 },
    { x: x1, y: y0 },
    { x: x1, y: y1 },
    { x: x0, y: y1 },
  ];
}

/** Where print stands, in the upright position of the page. */
export interface Place {
  /** Middles of the left and the right edge. */
  start: Point;
  end: Point;
  height: number;
}

/** Lines within this angle run in one direction. */
const ONE_DIRECTION = Math.PI / 6;
/** Lines with fewer characters have no reliable direction. */
const SHORT = 4;
/** Of the fixed-point iteration that reverses `toPage`. Slopes change little within its steps. */
const ROUNDS = 8;

export function layOut(printed: readonly PrintedLine[]): Layout {
  const angle = directionOf(printed);
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const upright = ({ x, y }: Point): Point => ({ x: x * cosine + y * sine, y: y * cosine - x * sine });
  const placeOf = (characters: readonly PrintedCharacter[]): Place => {
    const [first, last] = [characters[0], characters.at(-1)];
    if (!first || !last) throw new Error('nothing is printed');
    return {
      start: upright(middle(first.quad[0], first.quad[3])),
      end: upright(middle(last.quad[1], last.quad[2])),
      height: (distance(first.quad[0], first.quad[3]) + distance(last.quad[1], last.quad[2])) / 2,
    };
  };
  const along = printed.filter((line) => Math.abs(turnBetween(angleOf(line), angle)) <= ONE_DIRECTION);
  const places = along.map(({ characters }) => placeOf(characters));
  const slopeAt = slopesOf(places.filter((_, index) => (along[index]?.characters.length ?? 0) >= SHORT));
  const heights = places.map(({ height }) => height).toSorted((a, b) => a - b);
  const height = heights[Math.floor(heights.length / 2)] ?? 0;
  const stepBetween = (from: Point, to: Point) => {
    const slope = slopeAt(middle(from, to));
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    return { right: dx + slope * dy, down: dy - slope * dx };
  };
  const all = boxAround(along.flatMap(({ quad }) => quad.map(upright)));
  const origin = along.length > 0 ? { x: (all.x0 + all.x1) / 2, y: (all.y0 + all.y1) / 2 } : { x: 0, y: 0 };
  // Down from the middle first, then along the row: rows further up and down tilt differently.
  const slopeTo = (at: Point) => slopeAt({ x: (origin.x + at.x) / 2, y: at.y });
  const fromUpright = (at: Point): Point => {
    const [slope, dx, dy] = [slopeTo(at), at.x - origin.x, at.y - origin.y];
    return { x: dx + slope * dy, y: dy - slope * dx };
  };
  const toPage = (point: Point): Point => fromUpright(upright(point));
  const toPicture = ({ x, y }: Point): Point => {
    let at = { x: origin.x + x, y: origin.y + y };
    for (let round = 0; round < ROUNDS; round += 1) {
      const slope = slopeTo(at);
      const scale = 1 + slope * slope;
      const next = { x: origin.x + (x - slope * y) / scale, y: origin.y + (y + slope * x) / scale };
      if (next.x === at.x && next.y === at.y) break;
      at = next;
    }
    return { x: at.x * cosine - at.y * sine, y: at.x * sine + at.y * cosine };
  };
  const lines = along.map(({ characters }) => ({ text: textOf(characters), characters }));
  return {
    angle,
    lines: inReadingOrder(
      lines.map((line) => ({ line, at: fromUpright(placeOf(line.characters).start) })),
      height,
    ),
    printed,
    height,
    placeOf,
    stepBetween,
    toPage,
    toPicture,
  };
}

/** From the top; lines beside each other from the left. @param height of a line, in pixels */
function inReadingOrder(placed: readonly { line: PlacedLine; at: Point }[], height: number): PlacedLine[] {
  const rows: { line: PlacedLine; at: Point }[][] = [];
  for (const each of placed.toSorted((a, b) => a.at.y - b.at.y)) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (row && first && each.at.y - first.at.y < height / 2) row.push(each);
    else rows.push([each]);
  }
  return rows.flatMap((row) => row.toSorted((a, b) => a.at.x - b.at.x).map(({ line }) => line));
}

/** Mean direction of the lines that most print runs along. */
function directionOf(lines: readonly PrintedLine[]): number {
  const vectors = lines.map((line) => ({
    angle: angleOf(line),
    weight: distance(line.quad[0], line.quad[1]) * line.characters.length,
  }));
  const alike = (angle: number) =>
    vectors.filter((other) => Math.abs(turnBetween(other.angle, angle)) <= ONE_DIRECTION);
  const sum = (some: typeof vectors) => some.reduce((total, { weight }) => total + weight, 0);
  const [most = []] = vectors.map(({ angle }) => alike(angle)).toSorted((a, b) => sum(b) - sum(a));
  const x = most.reduce((total, { angle, weight }) => total + weight * Math.cos(angle), 0);
  const y = most.reduce((total, { angle, weight }) => total + weight * Math.sin(angle), 0);
  return Math.atan2(y, x);
}

function angleOf({ quad: [topLeft, topRight, bottomRight, bottomLeft] }: PrintedLine): number {
  const [start, end] = [middle(topLeft, bottomLeft), middle(topRight, bottomRight)];
  return Math.atan2(end.y - start.y, end.x - start.x);
}

/** From −π to π. */
function turnBetween(one: number, other: number): number {
  return Math.atan2(Math.sin(one - other), Math.cos(one - other));
}

/**
 * The slope of rows as a linear function of the place, by least squares: perspective tilts them gradually. Constant where
 * there are too few lines.
 */
function slopesOf(places: readonly Place[]): (at: Point) => number {
  const samples = places
    .map(({ start, end }) => ({
      at: middle(start, end),
      slope: (end.y - start.y) / (end.x - start.x),
      weight: (end.x - start.x) ** 2,
    }))
    .filter(({ slope, weight }) => Number.isFinite(slope) && weight > 0);
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return () => 0;
  const mean = (of: (sample: (typeof samples)[number]) => number) =>
    samples.reduce((sum, sample) => sum + sample.weight * of(sample), 0) / total;
  const [x, y, slope] = [mean(({ at }) => at.x), mean(({ at }) => at.y), mean((sample) => sample.slope)];
  const xx = mean(({ at }) => (at.x - x) ** 2);
  const yy = mean(({ at }) => (at.y - y) ** 2);
  const xy = mean(({ at }) => (at.x - x) * (at.y - y));
  const xs = mean((sample) => (sample.at.x - x) * (sample.slope - slope));
  const ys = mean((sample) => (sample.at.y - y) * (sample.slope - slope));
  const determinant = xx * yy - xy * xy;
  // Lines in one row or one column do not determine a plane.
  if (samples.length < 6 || determinant < 0.01 * xx * yy || xx * yy === 0) return () => slope;
  const [byX, byY] = [(xs * yy - ys * xy) / determinant, (ys * xx - xs * xy) / determinant];
  return (at) => slope + byX * (at.x - x) + byY * (at.y - y);
}
