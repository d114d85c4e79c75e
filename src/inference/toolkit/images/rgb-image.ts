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
