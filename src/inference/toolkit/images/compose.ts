/** Cuts subjects out of pictures and composes them over backgrounds. */
import type { Box, Size } from '../decoding/boxes.ts';
import type { RgbImage } from './rgb-image.ts';

/** In whole pixels of the picture, origin at the top left. */
export interface PixelBox {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The whole pixels that a box touches, clamped to the picture; at least one. */
export function pixelsAround({ x0, y0, x1, y1 }: Box, picture: Size): PixelBox {
  const left = Math.min(Math.max(0, Math.floor(x0)), picture.width - 1);
  const top = Math.min(Math.max(0, Math.floor(y0)), picture.height - 1);
  const width = Math.max(1, Math.min(picture.width, Math.ceil(x1)) - left);
  const height = Math.max(1, Math.min(picture.height, Math.ceil(y1)) - top);
  return { left, top, width, height };
}

/**
 * Part of a picture with an alpha channel: [height, width, 4], 0 to 255. Transparent pixels are black, so that nothing of
 * them can be recovered.
 * @param matte opacity of each pixel of the picture, [height, width], 0 to 255
 */
export function cutOut(
  picture: RgbImage,
  matte: Uint8Array,
  { left, top, width, height }: PixelBox,
): { width: number; height: number; pixels: Uint8Array } {
  const pixels = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const source = (top + y) * picture.width + left + x;
      const opacity = matte[source] as number;
      if (opacity === 0) continue;
      pixels.set(picture.pixels.subarray(source * 3, source * 3 + 3), (y * width + x) * 4);
      pixels[(y * width + x) * 4 + 3] = opacity;
    }
  }
  return { width, height, pixels };
}

/** Composes a picture over `background`, of the same size, by its matte (0 to 255). Overwrites `background`. */
export function putOver(background: RgbImage, picture: RgbImage, matte: Uint8Array): void {
  for (let pixel = 0; pixel < matte.length; pixel += 1) {
    const share = (matte[pixel] as number) / 255;
    if (share === 0) continue;
    for (let index = pixel * 3; index < pixel * 3 + 3; index += 1) {
      const behind = background.pixels[index] as number;
      background.pixels[index] = Math.round(behind + ((picture.pixels[index] as number) - behind) * share);
    }
  }
}

/** `#rrggbb` → red, green and blue, 0 to 255. */
export function levelsOf(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @param colour `#rrggbb` */
export function plainPicture({ width, height }: Size, colour: string): RgbImage {
  const [red, green, blue] = levelsOf(colour);
  const pixels = new Uint8Array(width * height * 3);
  for (let index = 0; index < pixels.length; index += 3) {
    pixels[index] = red;
    pixels[index + 1] = green;
    pixels[index + 2] = blue;
  }
  return { width, height, pixels };
}
