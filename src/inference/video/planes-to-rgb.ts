/**
 * YUV planes → sRGB by the video's own matrix (ITU-T H.273). `VideoFrame.copyTo` always uses the standard-definition matrix,
 * which shifts the colours of HD videos.
 */
import type { RgbImage } from '../toolkit/images/rgb-image.ts';

export interface Planes {
  width: number;
  height: number;
  /** Bits per sample; 10 and 12 are stored in 16. */
  bits: 8 | 10 | 12;
  luma: Plane;
  blue: Plane;
  red: Plane;
  /** Pixels per chroma sample, horizontally and vertically: 1 or 2. */
  across: number;
  down: number;
  /** WebCodecs' name of `matrix_coefficients`; null if the video does not state it. */
  matrix: string | null;
  /** Whether black and white are 0 and 255 rather than 16 and 235. */
  isFullRange: boolean;
}

export interface Plane {
  samples: Uint8Array | Uint16Array;
  /** Index of the first sample, and distance between rows, in samples. */
  offset: number;
  stride: number;
  /** Distance between neighbouring samples: 2 for interleaved chroma. */
  step: number;
}

/** Luma coefficients of red and blue. */
const COEFFICIENTS: Readonly<Record<string, readonly [red: number, blue: number]>> = {
  bt709: [0.2126, 0.0722],
  bt470bg: [0.299, 0.114],
  smpte170m: [0.299, 0.114],
  'bt2020-ncl': [0.2627, 0.0593],
};
/** A video of this height without a stated matrix counts as high definition, as in players. */
const HIGH_DEFINITION_HEIGHT = 720;

export function planesToRgb(planes: Planes): RgbImage {
  const { width, height, luma, blue, red, across, down, isFullRange } = planes;
  const one = 2 ** (planes.bits - 8);
  const [kr, kb] = coefficientsOf(planes);
  const kg = 1 - kr - kb;
  const black = isFullRange ? 0 : 16 * one;
  const lumaScale = 255 / ((isFullRange ? 255 : 219) * one);
  const colourScale = 255 / ((isFullRange ? 255 : 224) * one);
  const neutral = 128 * one;
  const toRed = 2 * (1 - kr) * colourScale;
  const toBlue = 2 * (1 - kb) * colourScale;
  const greenOfRed = (2 * (1 - kr) * kr * colourScale) / kg;
  const greenOfBlue = (2 * (1 - kb) * kb * colourScale) / kg;

  // Rounds and clips.
  const pixels = new Uint8ClampedArray(width * height * 3);
  let at = 0;
  for (let y = 0; y < height; y += 1) {
    const lumaRow = luma.offset + y * luma.stride;
    const colourRow = Math.floor(y / down);
    const blueRow = blue.offset + colourRow * blue.stride;
    const redRow = red.offset + colourRow * red.stride;
    for (let x = 0; x < width; x += 1) {
      const column = across === 2 ? x >> 1 : x;
      const level = ((luma.samples[lumaRow + x * luma.step] ?? 0) - black) * lumaScale;
      const b = (blue.samples[blueRow + column * blue.step] ?? 0) - neutral;
      const r = (red.samples[redRow + column * red.step] ?? 0) - neutral;
      pixels[at] = level + r * toRed;
      pixels[at + 1] = level - r * greenOfRed - b * greenOfBlue;
      pixels[at + 2] = level + b * toBlue;
      at += 3;
    }
  }
  return { width, height, pixels: new Uint8Array(pixels.buffer) };
}

function coefficientsOf({ matrix, height }: Planes): readonly [number, number] {
  const usual = height >= HIGH_DEFINITION_HEIGHT ? 'bt709' : 'smpte170m';
  return COEFFICIENTS[matrix ?? usual] ?? COEFFICIENTS[usual] ?? [0.2126, 0.0722];
}
