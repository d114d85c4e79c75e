/** Pixels → Y′CbCr 4:2:0 of limited range by BT.709, as players expect of films. Pure. Source: Recommendation ITU-R BT.709-6, clause 3. */

const [RED, GREEN, BLUE] = [0.2126, 0.7152, 0.0722];
const [LUMA_RANGE, CHROMA_RANGE] = [219 / 255, 224 / 255];
const CB = CHROMA_RANGE / (2 * (1 - BLUE));
const CR = CHROMA_RANGE / (2 * (1 - RED));

/**
 * @param pixels [height, width, 3], sRGB; both sides are even
 * @returns the planes Y, Cb and Cr, one after another (I420)
 */
export function rgbToPlanes(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const area = width * height;
  const planes = new Uint8Array(area * 1.5);
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      let [sumLuma, sumRed, sumBlue] = [0, 0, 0];
      for (let corner = 0; corner < 4; corner += 1) {
        const place = (row + (corner >> 1)) * width + column + (corner & 1);
        const red = pixels[place * 3] as number;
        const blue = pixels[place * 3 + 2] as number;
        const luma = RED * red + GREEN * (pixels[place * 3 + 1] as number) + BLUE * blue;
        planes[place] = Math.round(16 + LUMA_RANGE * luma);
        sumLuma += luma;
        sumRed += red;
        sumBlue += blue;
      }
      const place = area + (row >> 1) * (width >> 1) + (column >> 1);
      planes[place] = Math.round(128 + (CB * (sumBlue - sumLuma)) / 4);
      planes[place + area / 4] = Math.round(128 + (CR * (sumRed - sumLuma)) / 4);
    }
  }
  return planes;
}
