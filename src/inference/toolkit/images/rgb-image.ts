/** A decoded picture: 8-bit sRGB, upright, without metadata. `pixels` is [height, width, 3], row by row, 0 to 255. */
export interface RgbImage {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** Luma of a pixel, on the scale of its channels. Source: ITU-R BT.601. */
export function lumaOf(red: number, green: number, blue: number): number {
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

/** Luma of each pixel, 0 to 255. */
export function lumaOfPicture({ pixels }: RgbImage): Float32Array {
  const luma = new Float32Array(pixels.length / 3);
  for (let pixel = 0; pixel < luma.length; pixel += 1) {
    const [red, green, blue] = [pixels[pixel * 3], pixels[pixel * 3 + 1], pixels[pixel * 3 + 2]] as number[];
    luma[pixel] = lumaOf(red as number, green as number, blue as number);
  }
  return luma;
}
