/** Moves the sides of a found quadrilateral to the edges that the picture shows there: corners of detectors are not exact. */
import { clamp } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { projection, rectify } from '../images/rectify.ts';
import { lumaOf, type RgbImage } from '../images/rgb-image.ts';
import { distance, middle } from '../text/straighten.ts';

/** How far beyond a side edges are searched for, and how far its ends may move, as shares of the quadrilateral. */
const UP_AND_DOWN = { room: 0.5, reach: 0.35, enough: 1, outward: 0 };
const SIDEWAYS = { room: 0.22, reach: 0.16, enough: 0.8, outward: 1.5 };
/** Pixels of the searched area along a side, and at least and at most across it. */
const ALONG = 192;
const [LEAST_ACROSS, MOST_ACROSS] = [40, 256];
/** Share of a side that is skipped at either end: plates have round corners. */
const ROUND = 0.06;
const SAMPLES = 40;
/** Rows on either side of an edge that are compared. */
const ROWS = 2;
/** Share of the contrast within the quadrilateral that is a step in full; below the least contrast, in levels, noise is. */
const FULL_STEP = 0.4;
const LEAST_CONTRAST = 16;
/** Share of a side along which the picture must show one edge. */
const LEAST_EDGE = 0.45;
/** Cost of moving a side, and of turning two opposite ones against each other, by the distance between them. */
const MOVED = 1;
const TURNED = 1;

/** Length of the shorter of two opposite sides beside the longer one: below it, places far beyond them are not to be told. */
const MOST_FARTHER = 0.5;
/** By how much of its height a quadrilateral is turned at least and at most. */
const [LEAST_RISE, MOST_RISE] = [0.08, 0.6];

/** Rows of the searched area at which a side begins and ends. */
interface Side {
  from: number;
  to: number;
  /** Share of the side along which there is an edge. */
  edge: number;
  score: number;
}

/**
 * @param corners of a convex outline, in pixels of the picture: top left, top right, bottom right, bottom left
 * @returns the same where the fitted sides meet. A side that has no edge runs parallel to the opposite one; if neither has, both stay.
 */
export function fitQuad(picture: RgbImage, corners: Quad): Quad {
  const [a, b, c, d] = fitOpposite(picture, corners, UP_AND_DOWN);
  // Left and right are above and below of the same area, turned.
  const [e, f, g, h] = fitOpposite(picture, [b, c, d, a], SIDEWAYS);
  return [h, e, f, g];
}

/** An upright quadrilateral around something tilted, turned within itself to the direction of a line of print on it. */
export function turnTo(corners: Quad, line: Quad): Quad {
  const [a, b, c, d] = corners;
  const width = distance(middle(a, d), middle(b, c));
  const height = distance(middle(a, b), middle(d, c));
  const rise = (slopeOf(line) - slopeOf(corners)) * width;
  if (Math.abs(rise) < LEAST_RISE * height || Math.abs(rise) > MOST_RISE * height) return corners;
  const down = ({ x, y }: Point, by: number) => ({ x, y: y + by });
  return rise > 0 ? [a, down(b, rise), c, down(d, -rise)] : [down(a, -rise), b, down(c, rise), d];
}

function slopeOf([a, b, c, d]: Quad): number {
  const [from, to] = [middle(a, d), middle(b, c)];
  return to.x === from.x ? 0 : (to.y - from.y) / (to.x - from.x);
}

/** The quadrilateral with each side moved outwards, without turning, as far as these points need. */
export function withPoints(corners: Quad, points: readonly Point[]): Quad {
  return points.length === 0 ? corners : corners.reduce((quad) => withPointsBeyond(quad, points), corners);
}

/** Fits the sides from the first corner to the second and from the fourth to the third. */
function fitOpposite(picture: RgbImage, corners: Quad, { room, reach, enough, outward }: typeof UP_AND_DOWN): Quad {
  const [a, b, c, d] = corners;
  const [upperLength, lowerLength] = [distance(a, b), distance(d, c)];
  const farther = Math.min(upperLength, lowerLength) / Math.max(upperLength, lowerLength);
  if (!(farther > MOST_FARTHER)) return corners;
  const shape = (distance(a, d) + distance(b, c)) / (upperLength + lowerLength);
  const height = Math.round(clamp(ALONG * shape * (1 + 2 * room), LEAST_ACROSS, MOST_ACROSS));
  const at = projection(corners);
  const around = [at(0, -room), at(1, -room), at(1, 1 + room), at(0, 1 + room)];
  const area = rectify(picture, around, ALONG, height);
  const apart = height / (1 + 2 * room);
  const [first, last] = [apart * room, apart * (1 + room)];
  const contrast = contrastOf(area, first, last);
  if (contrast < LEAST_CONTRAST) return corners;
  const steps = stepsOf(area, FULL_STEP * contrast);
  const sides = (place: number, outwards: -1 | 1) =>
    bestOfEachSlope(steps, height, place, apart, {
      most: Math.round(reach * apart),
      enough,
      outward: outwards * outward,
    });
  const [upper, lower] = bestPair(sides(first, -1), sides(last, 1), apart, [first, last]);
  const share = (row: number) => row / apart - room;
  return [at(0, share(upper.from)), at(1, share(upper.to)), at(1, share(lower.to)), at(0, share(lower.from))];
}

/** From the darkest to the lightest twentieth within the quadrilateral. */
function contrastOf({ pixels, width }: RgbImage, first: number, last: number): number {
  const lumas: number[] = [];
  for (let index = Math.round(first) * width * 3; index < Math.round(last) * width * 3; index += 9) {
    lumas.push(lumaOf(pixels[index] as number, pixels[index + 1] as number, pixels[index + 2] as number));
  }
  lumas.sort((one, other) => one - other);
  const at = (share: number) => lumas[Math.floor(share * (lumas.length - 1))] ?? 0;
  return at(0.95) - at(0.05);
}

/** How much the picture changes from above each row to below it, for samples along the row: [height + 1, SAMPLES, 3], each at most 1 long. */
function stepsOf({ pixels, width, height }: RgbImage, full: number): Float32Array {
  const steps = new Float32Array((height + 1) * SAMPLES * 3);
  const columns = Array.from({ length: SAMPLES }, (_, sample) =>
    Math.floor(width * (ROUND + ((sample + 0.5) / SAMPLES) * (1 - 2 * ROUND))),
  );
  for (let row = ROWS; row <= height - ROWS; row += 1) {
    for (const [sample, column] of columns.entries()) {
      const target = (row * SAMPLES + sample) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        let sum = 0;
        for (let away = 0; away < ROWS; away += 1) {
          sum += pixels[((row + away) * width + column) * 3 + channel] as number;
          sum -= pixels[((row - 1 - away) * width + column) * 3 + channel] as number;
        }
        steps[target + channel] = sum / ROWS / full;
      }
      const size = Math.hypot(steps[target] as number, steps[target + 1] as number, steps[target + 2] as number);
      if (size > 1)
        for (let channel = 0; channel < 3; channel += 1)
          steps[target + channel] = (steps[target + channel] as number) / size;
    }
  }
  return steps;
}

/** Of the sides near a place, the best of each slope. */
function bestOfEachSlope(
  steps: Float32Array,
  height: number,
  place: number,
  apart: number,
  { most, enough, outward }: { most: number; enough: number; outward: number },
): Side[] {
  const best = new Map<number, Side>();
  for (let left = -most; left <= most; left += 1) {
    for (let right = -most; right <= most; right += 1) {
      const [from, to] = [place + left, place + right];
      const edge = edgeAlong(steps, height, from, to);
      const moved = (left + right) / 2 / apart;
      const score = Math.min(edge, enough) - MOVED * Math.abs(moved) + outward * moved;
      if (score > (best.get(right - left)?.score ?? Number.NEGATIVE_INFINITY)) {
        best.set(right - left, { from, to, edge, score });
      }
    }
  }
  return [...best.values()];
}

function edgeAlong(steps: Float32Array, height: number, from: number, to: number): number {
  let [red, green, blue] = [0, 0, 0];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const share = ROUND + ((sample + 0.5) / SAMPLES) * (1 - 2 * ROUND);
    const row = Math.round(from + (to - from) * share);
    if (row < 0 || row > height) continue;
    const index = (row * SAMPLES + sample) * 3;
    red += steps[index] as number;
    green += steps[index + 1] as number;
    blue += steps[index + 2] as number;
  }
  return Math.hypot(red, green, blue) / SAMPLES;
}

function bestPair(
  uppers: readonly Side[],
  lowers: readonly Side[],
  apart: number,
  [first, last]: readonly [number, number],
): [Side, Side] {
  const stay = (at: number): Side => ({ from: at, to: at, edge: 0, score: 0 });
  let best: { pair: [Side, Side]; score: number } = {
    pair: [stay(first), stay(last)],
    score: Number.NEGATIVE_INFINITY,
  };
  for (const upper of uppers) {
    for (const lower of lowers) {
      const turned = Math.abs(upper.to - upper.from - (lower.to - lower.from));
      const score = upper.score + lower.score - (TURNED * turned) / apart;
      if (score > best.score) best = { pair: [upper, lower], score };
    }
  }
  const [upper, lower] = best.pair;
  const [isUpper, isLower] = [upper.edge >= LEAST_EDGE, lower.edge >= LEAST_EDGE];
  const parallel = (at: number, { from, to }: Side): Side => ({
    ...stay(at),
    from: at - (to - from) / 2,
    to: at + (to - from) / 2,
  });
  if (isUpper && isLower) return [upper, lower];
  if (isUpper) return [upper, parallel(last, upper)];
  if (isLower) return [parallel(first, lower), lower];
  return [stay(first), stay(last)];
}

/** Moves the first side, and begins with the next one: after four such moves the corners are in their order again. */
function withPointsBeyond([from, to, after, before]: Quad, points: readonly Point[]): Quad {
  const length = distance(from, to);
  const depth = ({ x, y }: Point) => ((to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x)) / length;
  const beyond = -Math.min(0, ...points.map(depth));
  // Along the two neighbours, so that they stay where they are.
  const moved = (corner: Point, other: Point) => {
    const share = beyond / depth(other);
    return { x: corner.x - (other.x - corner.x) * share, y: corner.y - (other.y - corner.y) * share };
  };
  return beyond === 0 ? [to, after, before, from] : [moved(to, after), after, before, moved(from, before)];
}
