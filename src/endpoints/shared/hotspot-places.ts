/** Where on a picture a mark belongs, and how squarely the camera sees it. Pure. */
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { degreesBetween } from './spin-set-frames.ts';

/**
 * A point of an outline that lies inside of it: its centroid, or for a bent shape the middle of its widest stretch at that height.
 * @param outline in any unit
 */
export function middleOf(outline: readonly Point[]): Point {
  const centroid = centroidOf(outline);
  const crossings = outline
    .flatMap((from, index) => {
      const to = outline[(index + 1) % outline.length] ?? from;
      if (from.y > centroid.y === to.y > centroid.y) return [];
      return [from.x + ((centroid.y - from.y) / (to.y - from.y)) * (to.x - from.x)];
    })
    .toSorted((a, b) => a - b);
  const stretches = crossings.flatMap((from, index) => {
    const to = crossings[index + 1];
    return index % 2 === 0 && to !== undefined ? [{ from, to }] : [];
  });
  if (stretches.some(({ from, to }) => centroid.x >= from && centroid.x <= to)) return centroid;
  const [widest] = stretches.toSorted((a, b) => b.to - b.from - (a.to - a.from));
  return widest ? { x: (widest.from + widest.to) / 2, y: centroid.y } : centroid;
}

/** Of the area within; of the corners where they enclose none. */
function centroidOf(outline: readonly Point[]): Point {
  let [area, x, y] = [0, 0, 0];
  for (const [index, from] of outline.entries()) {
    const to = outline[(index + 1) % outline.length] ?? from;
    const cross = from.x * to.y - to.x * from.y;
    area += cross;
    x += (from.x + to.x) * cross;
    y += (from.y + to.y) * cross;
  }
  if (Math.abs(area) > 1e-9) return { x: x / (3 * area), y: y / (3 * area) };
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return { x: mean(outline.map((point) => point.x)), y: mean(outline.map((point) => point.y)) };
}

/** Degrees by which a light at a corner of the vehicle looks away from its face. */
const CORNER_DEGREES = 30;
const FRONT = ['front_bumper', 'grille', 'front_emblem', 'front_plate', 'hood', 'windshield'];
const REAR = ['rear_bumper', 'trunk_lid', 'rear_emblem', 'rear_plate', 'rear_windshield', 'exhaust', 'spoiler'];
const FRONT_CORNERS = ['headlight', 'fog_light'];
const REAR_CORNERS = ['taillight'];
/** A mark at a grazing angle stays visible. */
const LEAST = 0.05;

/**
 * The cosine of the angle between the camera and what the part faces, at least 0.05; 1 where either is unknown, and for a roof.
 * @param azimuthDegrees of the camera: 0 is the vehicle's front, 90 its right side
 */
export function prominenceOf(part: string | null, side: string | null, azimuthDegrees: number | null): number {
  const facing = facingOf(part, side);
  if (facing === null || azimuthDegrees === null) return 1;
  const cosine = Math.cos((degreesBetween(facing, azimuthDegrees) * Math.PI) / 180);
  return Math.round(Math.max(LEAST, cosine) * 1000) / 1000;
}

/** The azimuth that a part faces. */
function facingOf(part: string | null, side: string | null): number | null {
  if (part === null) return null;
  if (FRONT.includes(part)) return 0;
  if (REAR.includes(part)) return 180;
  if (side !== 'left' && side !== 'right') return null;
  const sign = side === 'right' ? 1 : -1;
  if (FRONT_CORNERS.includes(part)) return (360 + sign * CORNER_DEGREES) % 360;
  if (REAR_CORNERS.includes(part)) return 180 - sign * CORNER_DEGREES;
  return (360 + sign * 90) % 360;
}

/** The azimuth of a compass view; null for any other. */
export function azimuthOfView(view: string | null): number | null {
  const index = COMPASS_VIEWS.indexOf(view as (typeof COMPASS_VIEWS)[number]);
  return index < 0 ? null : (index * 360) / COMPASS_VIEWS.length;
}
