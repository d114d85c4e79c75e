/** Puts a vehicle that was cut out of its picture in front of another background. */
import { putOver } from '../../../inference/toolkit/images/compose.ts';
import type { RgbImage } from '../../../inference/toolkit/images/rgb-image.ts';
import type { Ground } from './ground.ts';
import { paintReflection, paintShadow } from './shadow.ts';

export interface CutOutVehicle {
  picture: RgbImage;
  /** Opacity of each pixel of the picture, [height, width], 0 to 255. */
  matte: Uint8Array;
  ground: Ground;
}

/**
 * Overwrites `background`, which has the size of the picture.
 * @param gloss how much its floor reflects, 0 to 1
 */
export function replaceBackground(
  { picture, matte, ground }: CutOutVehicle,
  background: RgbImage,
  { gloss, hasShadow }: { gloss: number; hasShadow: boolean },
): RgbImage {
  if (gloss > 0) paintReflection(background, picture, matte, ground, gloss);
  if (hasShadow) paintShadow(background, ground);
  putOver(background, picture, matte);
  return background;
}
