/**
 * Pictures as bad photographs show them, by causes and strengths from a seed: some stay legible, some do not. Clean drawings
 * are nearly all read right, which says nothing of confidences.
 */
import sharp, { type Sharp } from 'sharp';
import type { RgbImage } from '../src/inference/toolkit/images/rgb-image.ts';
import { exposed, glaring, shaken } from './degraded-pictures.ts';
import { between, oneOf, type Random } from './print-pictures.ts';

type Cause = (picture: RgbImage, random: Random) => Promise<RgbImage>;

/** Pixels and levels of 0 to 255. The weaker ends do little to a picture 1600 pixels wide, the stronger ones hide most print. */
const CAUSES: readonly Cause[] = [
  async function outOfFocus(picture, random) {
    return pixelsOf(fileOf(picture).blur(between(random, 1, 5)));
  },
  async function shakenSideways(picture, random) {
    return shaken(picture, between(random, 3, 20));
  },
  async function ofFewPixels(picture, random) {
    return pixelsOf(fileOf(picture).resize({ width: Math.round(picture.width * between(random, 0.2, 0.6)) }));
  },
  async function dark(picture, random) {
    return exposed(picture, -between(random, 2, 5));
  },
  async function faded(picture, random) {
    const contrast = between(random, 0.1, 0.5);
    return pixelsOf(fileOf(picture).linear(contrast, between(random, 0, 255 * (1 - contrast))));
  },
  async function overexposedInPlaces(picture, random) {
    const centre = { x: picture.width * between(random, 0.2, 0.8), y: picture.height * between(random, 0.2, 0.8) };
    return glaring(picture, centre, picture.width * between(random, 0.08, 0.3));
  },
  async function noisy(picture, random) {
    const deviation = between(random, 10, 50);
    const pixels = new Uint8ClampedArray(picture.pixels);
    // The sum of three uniform numbers is nearly normal, with a standard deviation of one half.
    for (let index = 0; index < pixels.length; index += 1) {
      pixels[index] = (pixels[index] as number) + 2 * deviation * (random() + random() + random() - 1.5);
    }
    return { ...picture, pixels: new Uint8Array(pixels.buffer) };
  },
];

/** One cause, or two of them. */
export async function takenBadly(jpeg: Buffer, random: Random): Promise<Buffer> {
  let picture = await pixelsOf(sharp(jpeg));
  for (let causes = random() < 0.3 ? 2 : 1; causes > 0; causes -= 1) {
    picture = await oneOf(random, CAUSES)(picture, random);
  }
  return fileOf(picture)
    .jpeg({ quality: Math.round(between(random, 20, 85)) })
    .toBuffer();
}

function fileOf({ width, height, pixels }: RgbImage) {
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

async function pixelsOf(file: Sharp): Promise<RgbImage> {
  const { data, info } = await file.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, pixels: data };
}
