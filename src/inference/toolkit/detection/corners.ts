/** Finds planar objects by their four corners, with any network that finds corners. */

import type { Model } from '../../models/model.ts';
import type { Box } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { toPolygon } from '../segmentation/polygon.ts';
import { CORNER_DECODERS, createDetector, DETECTOR_FILE } from './detector.ts';

export interface FoundCorners {
  confidence: number;
  box: Box;
  /** Top left, top right, bottom right, bottom left, in pixels of the picture. */
  corners: Point[];
}

/**
 * @param label the only class of `files.detector.labels`
 * @returns a function that returns the largest first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createCornerFinder(model: Model, label: string): (picture: RgbImage) => Promise<FoundCorners[]> {
  requireFourKeypoints(model, label);
  const detect = createDetector(model, [label], CORNER_DECODERS);
  return async (picture) => {
    const found = (await detect(picture)).toSorted((a, b) => areaOf(b.box) - areaOf(a.box));
    return found.map(({ confidence, box, points }) => ({ confidence, box, corners: toPolygon(points) }));
  };
}

function requireFourKeypoints({ manifest }: Model, label: string): void {
  const decoder = manifest.files[DETECTOR_FILE]?.decoder;
  const isPose = decoder?.name === 'yolo-pose' || decoder?.name === 'yolo-end-to-end-pose';
  if (!isPose || decoder.keypoints === 4) return;
  throw new Error(`files.${DETECTOR_FILE}.decoder.keypoints must be 4, the corners of a ${label} in reading order`);
}

function areaOf({ x0, y0, x1, y1 }: Box): number {
  return (x1 - x0) * (y1 - y0);
}
