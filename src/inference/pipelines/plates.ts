/** Finds plates with their corners, with a network of any make that tells corners. */
import type { Box } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import type { Model } from '../models/model.ts';
import { CORNER_DECODERS, createDetector, DETECTOR_FILE } from './detector.ts';
import { toPolygon } from './polygon.ts';

export interface FoundPlate {
  confidence: number;
  box: Box;
  /** Top left, top right, bottom right, bottom left, in pixels of the picture. */
  corners: Point[];
}

/**
 * @returns finds the largest first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPlateFinder(model: Model): (picture: RgbImage) => Promise<FoundPlate[]> {
  requireFourKeypoints(model);
  const detect = createDetector(model, ['plate'], CORNER_DECODERS);
  return async (picture) => {
    const found = (await detect(picture)).toSorted((a, b) => areaOf(b.box) - areaOf(a.box));
    return found.map(({ confidence, box, points }) => ({ confidence, box, corners: toPolygon(points) }));
  };
}

/** Grows a quadrilateral on each side by shares of its own sides. */
export function growQuad(corners: readonly Point[], shareX: number, shareY: number): Quad {
  const [a, b, c, d] = corners;
  if (!a || !b || !c || !d) throw new Error(`a plate has four corners, not ${corners.length}`);
  const at = (u: number, v: number): Point => ({
    x: (a.x * (1 - u) + b.x * u) * (1 - v) + (d.x * (1 - u) + c.x * u) * v,
    y: (a.y * (1 - u) + b.y * u) * (1 - v) + (d.y * (1 - u) + c.y * u) * v,
  });
  const [left, right, top, bottom] = [-shareX, 1 + shareX, -shareY, 1 + shareY];
  return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
}

function requireFourKeypoints({ manifest }: Model): void {
  const decoder = manifest.files[DETECTOR_FILE]?.decoder;
  const isPose = decoder?.name === 'yolo-pose' || decoder?.name === 'yolo-end-to-end-pose';
  if (!isPose || decoder.keypoints === 4) return;
  throw new Error(`files.${DETECTOR_FILE}.decoder.keypoints must be 4, the corners of a plate as it is read`);
}

function areaOf({ x0, y0, x1, y1 }: Box): number {
  return (x1 - x0) * (y1 - y0);
}
