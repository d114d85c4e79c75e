/** Finds number plates by their corners. */

import type { Model } from '../../models/model.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createCornerFinder, type FoundCorners } from './corners.ts';

/**
 * @returns a function that returns the largest plate first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createPlateFinder(model: Model): (picture: RgbImage) => Promise<FoundCorners[]> {
  return createCornerFinder(model, 'plate');
}
