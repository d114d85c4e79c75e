/** A decoded picture: 8-bit sRGB, upright, without metadata. `pixels` is [height, width, 3], row by row. */
export interface RgbImage {
  width: number;
  height: number;
  pixels: Uint8Array;
}
