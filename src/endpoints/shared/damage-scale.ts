/** How many millimetres a pixel of a vehicle is, by things of known size on it. Pure. */
import { type Box, clamp, type Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { leastRectangle } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { touchesEdge } from '../../inference/toolkit/segmentation/matting.ts';
import { distance } from '../../inference/toolkit/text/straighten.ts';

/** A thing of known size, in pixels of the picture. */
export interface Reference {
  box: Box;
  mmPerPixel: number;
  /** How sure its size is, 0 to 1. A convention, not a measurement. */
  confidence: number;
}

export interface Measured {
  lengthMm: number;
  widthMm: number;
  confidence: number;
}

/**
 * Outer diameter of a passenger car's tire: 632 mm for 205/55 R16, 634 mm for 225/45 R17, 676 mm for 225/60 R17, 739 mm for
 * 235/60 R18, by the nominal sizes of ISO 4000-1.
 */
const TIRE_MM = 660;
/** A wheel seen whole is as high as its tire; a fender over it or an edge of the picture makes it lower than wide. */
const LEAST_HEIGHT_TO_WIDTH = 0.9;
/** Below this a wheel seen almost from behind shows its tread, not its circle. */
const LEAST_WIDTH_TO_HEIGHT = 0.35;
const WHEEL_CONFIDENCE = 0.7;

/** Heights in mm of a plate of Europe (520 × 110) and of North America (12 × 6 inches): oblique views leave heights alone. */
const PLATES = { wide: 110, tall: 152 };
/** Width to height from which a plate has the European format: 4.7 and 2 seen from the front. */
const WIDE_FROM = 2.6;
const PLATE_CONFIDENCE = 0.7;
/** Share of the confidence that a damage loses as far from the reference as the picture is long: it is nearer or farther away. */
const LOST_FAR_AWAY = 0.6;
/** No van is higher: by a scale that makes one higher, a wheel half hidden was taken for a whole one. */
const HIGHEST_MM = 3_000;
/** No panel is longer: what measures more has no true scale. */
const LONGEST_MM = 2_000;

/** The scale at a wheel; null unless the whole of it shows. */
export function scaleOfWheel(box: Box, picture: Size): Reference | null {
  const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
  if (height <= 0 || touchesEdge(box, picture)) return null;
  if (height < LEAST_HEIGHT_TO_WIDTH * width || width < LEAST_WIDTH_TO_HEIGHT * height) return null;
  return { box, mmPerPixel: TIRE_MM / height, confidence: WHEEL_CONFIDENCE };
}

/** The scale at a number plate. @param corners top left, top right, bottom right, bottom left */
export function scaleOfPlate(box: Box, corners: readonly Point[], picture: Size): Reference | null {
  const [topLeft, topRight, bottomRight, bottomLeft] = corners;
  if (!topLeft || !topRight || !bottomRight || !bottomLeft || touchesEdge(box, picture)) return null;
  const width = (distance(topLeft, topRight) + distance(bottomLeft, bottomRight)) / 2;
  const height = (distance(topLeft, bottomLeft) + distance(topRight, bottomRight)) / 2;
  if (height <= 0) return null;
  const heightMm = width / height >= WIDE_FROM ? PLATES.wide : PLATES.tall;
  return { box, mmPerPixel: heightMm / height, confidence: PLATE_CONFIDENCE };
}

/** Whether a vehicle can have the height that the reference gives it. @param vehicle its box, in pixels of the picture */
export function fitsVehicle({ mmPerPixel }: Reference, vehicle: Box): boolean {
  return mmPerPixel * (vehicle.y1 - vehicle.y0) <= HIGHEST_MM;
}

/**
 * Length along the longest extent of an outline and width across it, by the nearest reference.
 * @returns null without a reference, and for a length that no panel has
 */
export function measure(outline: readonly Point[], references: readonly Reference[], picture: Size): Measured | null {
  const { center, width, height } = leastRectangle(outline);
  const [nearest] = references.toSorted((a, b) => distanceTo(a.box, center) - distanceTo(b.box, center));
  if (!nearest) return null;
  const lengthMm = Math.round(Math.max(width, height) * nearest.mmPerPixel);
  if (lengthMm > LONGEST_MM) return null;
  const away = distanceTo(nearest.box, center) / Math.max(picture.width, picture.height);
  return {
    lengthMm,
    widthMm: Math.round(Math.min(width, height) * nearest.mmPerPixel),
    confidence: clamp(nearest.confidence * (1 - LOST_FAR_AWAY * Math.min(1, away)), 0, 1),
  };
}

function distanceTo(box: Box, { x, y }: Point): number {
  return Math.hypot(x - clamp(x, box.x0, box.x1), y - clamp(y, box.y0, box.y1));
}
