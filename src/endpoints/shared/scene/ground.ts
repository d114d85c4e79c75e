/**
 * Where a cut-out vehicle stands: the line along which it touches the ground, how large a metre is there, and where the
 * horizon of the photograph must have been. Coordinates are pixels of the picture.
 */
import { type Box, clamp, type Size } from '../../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../../inference/toolkit/decoding/detections.ts';
import { median } from '../frames/frame-corrections.ts';

/** Height of the camera in metres: somebody who stands holds it there. */
export const CAMERA_METRES = 1.5;
/** Diameter of a tire, and height of a vehicle whose wheels are not seen, in metres. */
const TIRE_METRES = 0.66;
const VEHICLE_METRES = 1.55;
/** A vehicle is between these heights, so a wheel that is half hidden misleads no further. */
const VEHICLE_HEIGHTS_METRES = { least: 1.15, most: 2.6 };
/** Height of most bumpers above the ground, and of the highest, in metres. */
const CLEARANCE_METRES = 0.2;
const BUMPER_METRES = 0.45;
/** How far up its box a vehicle touches the ground at its far end, as a share, where no wheel is seen. */
const FAR_SHARE = 0.25;
/** Nobody photographs a whole vehicle from closer: a picture that says so was cut, or taken with a longer lens. */
const LEAST_DISTANCE_METRES = 5;
/** Opacity from which a pixel belongs to the vehicle, 0 to 255. */
const OPAQUE = 128;
/** Distance at which a box touches the lower edge, in pixels. */
const LOWER_EDGE_PIXELS = 1;
/** Share of a wheel's width, in its middle, within which it touches the ground. */
const CONTACT_SHARE = 0.6;

/** Names of the parts that stand on the ground. */
export const WHEELS: ReadonlySet<string> = new Set(['front_wheel', 'rear_wheel']);

export interface Ground {
  /** First column of `line`. */
  left: number;
  /** For each column from `left`, the row of the ground below the vehicle's near edge. */
  line: Float32Array;
  /** The columns of `line` at which the vehicle is close to the ground. */
  standing: { from: number; to: number };
  /** Where tires meet the ground; empty if no wheel is seen. */
  contacts: Point[];
  /** Pixels per metre where the vehicle stands. */
  metrePixels: number;
  /** Row of the horizon; may lie outside the picture. */
  horizon: number;
  /** Distance of the camera from the vehicle's nearest point, in metres. */
  distanceMetres: number;
}

/**
 * @param matte opacity of each pixel of the picture, [height, width], 0 to 255
 * @param vehicle its box
 * @param wheels their boxes, as far as they are known
 */
export function findGround(matte: Uint8Array, picture: Size, vehicle: Box, wheels: readonly Box[]): Ground {
  const left = clamp(Math.floor(vehicle.x0), 0, picture.width - 1);
  const right = clamp(Math.ceil(vehicle.x1), left + 1, picture.width);
  const bottoms = lowestRows(matte, picture, { left, right, top: Math.max(0, Math.floor(vehicle.y0)) });
  const contacts = wheels.flatMap((wheel) => contactOf(wheel, bottoms, left));
  const tall = vehicle.y1 - vehicle.y0;
  const metrePixels = scaleOf(vehicle, wheels);
  // What is higher is a flank or a mirror, beyond which there is no ground to see.
  const highest =
    contacts.length > 0
      ? Math.min(...contacts.map(({ y }) => y)) - BUMPER_METRES * metrePixels
      : vehicle.y1 - FAR_SHARE * tall;
  const standing = bottoms.map((y) => (y >= highest ? y : Number.NaN));
  const line = groundLine(standing, {
    contacts,
    left,
    metrePixels,
    fallback: Math.min(vehicle.y1, picture.height),
  });
  const under = standing.map((y, index) => (Number.isNaN(y) ? -1 : index)).filter((index) => index >= 0);
  const nearest = line.reduce((most, row) => Math.max(most, row), 0);
  return {
    left,
    line,
    standing: { from: under[0] ?? 0, to: (under.at(-1) ?? line.length - 1) + 1 },
    contacts,
    ...perspectiveOf(nearest, metrePixels, focalPixels(picture)),
  };
}

/** Whether there is ground below a vehicle to cast a shadow on: the lower edge of the picture does not cut it off. */
export function showsGround({ y1 }: Box, picture: Size): boolean {
  return y1 < picture.height - LOWER_EDGE_PIXELS;
}

/** What a frame shows of a vehicle, in pixels of the frame. */
export interface Stance {
  vehicle: Box;
  wheels: readonly Box[];
  /** Focal length of the camera. */
  focalPixels: number;
}

/**
 * The ground that all frames of a vehicle have in common: a scene that is painted from it is the same in each of them.
 * @param groundY the row where the vehicle stands in every frame
 */
export function commonGround(stances: readonly Stance[], frame: Size, groundY: number): Ground {
  const metrePixels = median(stances.map(({ vehicle, wheels }) => scaleOf(vehicle, wheels)));
  return {
    left: 0,
    line: new Float32Array(frame.width).fill(groundY),
    standing: { from: 0, to: frame.width },
    contacts: stances.flatMap(feetOf),
    ...perspectiveOf(groundY, metrePixels, median(stances.map((stance) => stance.focalPixels))),
  };
}

/** Where a vehicle stands in its own frame, in the perspective that all frames have in common. */
export function inPerspective(own: Ground, { metrePixels, horizon, distanceMetres }: Ground): Ground {
  return { ...own, metrePixels, horizon, distanceMetres };
}

/** A telephone's camera sees some 65 degrees: its focal length is about four fifths of the longer side. */
export function focalPixels({ width, height }: Size): number {
  return 0.8 * Math.max(width, height);
}

/** Pixels per metre. */
function scaleOf({ y0, y1 }: Box, wheels: readonly Box[]): number {
  const tall = y1 - y0;
  const tires = wheels.map((wheel) => wheel.y1 - wheel.y0);
  const byTires = tires.length > 0 ? Math.max(...tires) / TIRE_METRES : tall / VEHICLE_METRES;
  return clamp(byTires, tall / VEHICLE_HEIGHTS_METRES.most, tall / VEHICLE_HEIGHTS_METRES.least);
}

/** @param nearest row of the vehicle's nearest point on the ground @param focal length, in pixels */
function perspectiveOf(nearest: number, metrePixels: number, focal: number) {
  return {
    metrePixels,
    horizon: nearest - CAMERA_METRES * metrePixels,
    distanceMetres: Math.max(LEAST_DISTANCE_METRES, focal / metrePixels),
  };
}

/** A wheel in the upper half of its vehicle is an error, and would lift the floor of all frames. */
function feetOf({ vehicle, wheels }: Stance): Point[] {
  return wheels
    .map(({ x0, x1, y1 }) => ({ x: (x0 + x1) / 2, y: y1 }))
    .filter(({ y }) => y > (vehicle.y0 + vehicle.y1) / 2);
}

/** Lower edges of the matte by column, in rows; NaN for a column without any. */
function lowestRows(
  matte: Uint8Array,
  { width, height }: Size,
  { left, right, top }: { left: number; right: number; top: number },
): Float32Array {
  const rows = new Float32Array(right - left).fill(Number.NaN);
  for (let x = left; x < right; x += 1) {
    for (let y = height - 1; y >= top; y -= 1) {
      if ((matte[y * width + x] as number) < OPAQUE) continue;
      rows[x - left] = y + 1;
      break;
    }
  }
  return rows;
}

/** The middle of the lowest opaque pixels under a wheel; none where the matte leaves it out. */
function contactOf({ x0, x1 }: Box, bottoms: Float32Array, left: number): Point[] {
  const [middle, half] = [(x0 + x1) / 2, ((x1 - x0) / 2) * CONTACT_SHARE];
  const columns = Array.from({ length: bottoms.length }, (_, index) => left + index).filter(
    (x) => Math.abs(x + 0.5 - middle) <= half && !Number.isNaN(bottoms[x - left]),
  );
  const y = columns.reduce((lowest, x) => Math.max(lowest, bottoms[x - left] as number), 0);
  const touching = columns.filter((x) => bottoms[x - left] === y);
  const x = touching[Math.floor(touching.length / 2)];
  return x === undefined ? [] : [{ x: x + 0.5, y }];
}

/**
 * Rows of the ground: straight from tire to tire, whatever hangs between them, and under the overhangs at either end. Without
 * tires it is the lower side of the convex hull.
 */
function groundLine(
  bottoms: Float32Array,
  { contacts, left, metrePixels, fallback }: Pick<Ground, 'contacts' | 'left' | 'metrePixels'> & { fallback: number },
): Float32Array {
  const edge = [...bottoms].flatMap((y, x) => (Number.isNaN(y) ? [] : [{ x, y }]));
  const tires = contacts.map(({ x, y }) => ({ x: Math.floor(x) - left, y })).toSorted((a, b) => a.x - b.x);
  const [first, last] = [tires[0], tires.at(-1)];
  if (!first || !last) return drawn(lowerHull(edge), bottoms.length, fallback);
  const radius = (TIRE_METRES * metrePixels) / 2;
  const overhang = edge.map(({ x, y }) => {
    const isTire = tires.some((tire) => Math.abs(x - tire.x) <= radius);
    return { x, y: isTire ? y : y + CLEARANCE_METRES * metrePixels };
  });
  const points = [
    ...lowerHull([...overhang.filter(({ x }) => x < first.x), first]),
    ...lowerHull(tires),
    ...lowerHull([last, ...overhang.filter(({ x }) => x > last.x)]),
  ];
  return drawn(points, bottoms.length, fallback);
}

/** @param points from left to right */
function lowerHull(points: readonly Point[]): Point[] {
  const hull: Point[] = [];
  for (const point of points) {
    while (hull.length > 1 && !turnsUp(hull.at(-2) as Point, hull.at(-1) as Point, point)) hull.pop();
    hull.push(point);
  }
  return hull;
}

/** The rows of a line through points at each column, level beyond its ends. */
function drawn(points: readonly Point[], length: number, fallback: number): Float32Array {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return new Float32Array(length).fill(fallback);
  let next = 0;
  return Float32Array.from({ length }, (_, x) => {
    while (next < points.length - 1 && (points[next] as Point).x < x) next += 1;
    const [from, to] = [points[Math.max(0, next - 1)] as Point, points[next] as Point];
    if (x <= first.x) return first.y;
    if (x >= last.x) return last.y;
    return to.x === from.x ? to.y : from.y + ((to.y - from.y) * (x - from.x)) / (to.x - from.x);
  });
}

/** Whether the way from a over b to c bends upwards in the picture, so that b stays on the lower hull. */
function turnsUp(a: Point, b: Point, c: Point): boolean {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) < 0;
}
