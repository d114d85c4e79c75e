/** Finds plates with their corners, with a network of any make that tells corners. */
import type { RgbImage } from '../images/rgb-image.ts';
import type { Model } from '../models/model.ts';
import { createCornerFinder, type FoundCorners } from './corners.ts';

/**
 * @returns finds the largest first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPlateFinder(model: Model): (picture: RgbImage) => Promise<FoundCorners[]> {
  return createCornerFinder(model, 'plate');
}
