/** Technical quality of a picture, by published formulas on its pixels, whatever it shows. */
import { clamp } from '../decoding/boxes.ts';
import { lumaOfPicture, type RgbImage } from '../images/rgb-image.ts';

/** From 0 to 1; 1 is the best of each. */
export interface PictureQuality {
  /** The mean of the others. */
  overall: number;
  sharpness: number;
  noise: number;
  exposure: number;
  color: number;
}

/** Standard deviation of noise (levels of 0 to 255) that scores 0: a night picture from an old phone. */
const WORST_NOISE = 25;
/** Luma, 0 to 1, of a well exposed picture: 18 % grey in sRGB. */
const MIDDLE_GREY = 0.46;
/** Levels this close to black or white are clipped. */
const CLIPPED_LEVELS = 2;
/** Exponent of the norm by which a channel's light is estimated. */
const MINKOWSKI = 6;

export function measureQuality(picture: RgbImage): PictureQuality {
  const luma = lumaOfPicture(picture);
  const sharpness = 1 - blurOf(luma, picture.width, picture.height);
  const noise = 1 - clamp(noiseOf(luma, picture.width, picture.height) / WORST_NOISE, 0, 1);
  const exposure = exposureOf(luma);
  const color = neutralityOf(picture);
  return { overall: (sharpness + noise + exposure + color) / 4, sharpness, noise, exposure, color };
}

/**
 * Standard deviation of the noise in levels of 0 to 255; 0 for a picture less than three pixels wide or high.
 * Source: Immerkær, "Fast noise variance estimation", 1996.
 */
function noiseOf(luma: Float32Array, width: number, height: number): number {
  if (width < 3 || height < 3) return 0;
  let sum = 0;
  for (let y = 1; y < height - 1; y += 1) {
    const [above, row, below] = [(y - 1) * width, y * width, (y + 1) * width];
    for (let x = 1; x < width - 1; x += 1) {
      const at = (start: number, column: number) => luma[start + column] as number;
      const corners = at(above, x - 1) + at(above, x + 1) + at(below, x - 1) + at(below, x + 1);
      const sides = at(row, x - 1) + at(row, x + 1) + at(above, x) + at(below, x);
      sum += Math.abs(corners - 2 * sides + 4 * at(row, x));
    }
  }
  return (Math.sqrt(Math.PI / 2) * sum) / (6 * (width - 2) * (height - 2));
}

/**
 * Share of neighbouring differences that survives another blur: little is lost where a picture is already blurred. 0 (sharp)
 * to 1 (blurred), the worse of both directions; 1 for a picture of one colour.
 * Source: Crété-Roffet and others, "The blur effect: perception and estimation with a new no-reference perceptual blur
 * metric", 2007.
 */
function blurOf(luma: Float32Array, width: number, height: number): number {
  const across = blurAlong(luma, { lines: height, lineStep: width, length: width, step: 1 });
  const down = blurAlong(luma, { lines: width, lineStep: 1, length: height, step: width });
  // A direction without differences does not count.
  return Math.max(across ?? down ?? 1, down ?? across ?? 1);
}

/** Pixels of the mean filter on each side. */
const REACH = 4;

/** Lines copied together: neighbouring columns share cache lines. */
const LINES_AT_ONCE = 32;

function blurAlong(
  luma: Float32Array,
  { lines, lineStep, length, step }: { lines: number; lineStep: number; length: number; step: number },
): number | null {
  let [differences, lost] = [0, 0];
  const smooth = new Float32Array(length);
  // Each line with its ends repeated, as far as the filter reaches.
  const padded = Array.from({ length: LINES_AT_ONCE }, () => new Float32Array(length + 2 * REACH + 1));
  for (let first = 0; first < lines; first += LINES_AT_ONCE) {
    const block = padded.slice(0, Math.min(LINES_AT_ONCE, lines - first));
    for (let place = 0; place < length; place += 1) {
      const start = first * lineStep + place * step;
      for (let line = 0; line < block.length; line += 1) {
        (block[line] as Float32Array)[place + REACH] = luma[start + line * lineStep] as number;
      }
    }
    for (const line of block) {
      line.fill(line[REACH] as number, 0, REACH);
      line.fill(line[REACH + length - 1] as number, REACH + length);
      let window = 0;
      for (let place = 0; place <= 2 * REACH; place += 1) window += line[place] as number;
      for (let place = 0; place < length; place += 1) {
        smooth[place] = window / (2 * REACH + 1);
        window += (line[place + 2 * REACH + 1] as number) - (line[place] as number);
      }
      for (let place = 1; place < length; place += 1) {
        const sharp = Math.abs((line[REACH + place] as number) - (line[REACH + place - 1] as number));
        const blurred = Math.abs((smooth[place] as number) - (smooth[place - 1] as number));
        differences += sharp;
        lost += Math.max(0, sharp - blurred);
      }
    }
  }
  return differences === 0 ? null : clamp((differences - lost) / differences, 0, 1);
}

/** Closeness of the mean luma to middle grey, times the share of unclipped pixels; 0 to 1. */
function exposureOf(luma: Float32Array): number {
  let [sum, clipped] = [0, 0];
  for (let pixel = 0; pixel < luma.length; pixel += 1) {
    const level = luma[pixel] as number;
    sum += level;
    if (level <= CLIPPED_LEVELS || level >= 255 - CLIPPED_LEVELS) clipped += 1;
  }
  const mean = sum / luma.length / 255;
  return (1 - Math.abs(mean - MIDDLE_GREY) / (1 - MIDDLE_GREY)) * (1 - clipped / luma.length);
}

/**
 * The illuminant's weakest channel as a share of its strongest, 0 to 1.
 * Source: Finlayson and Trezzi, "Shades of gray and colour constancy", 2004.
 */
function neutralityOf({ pixels }: RgbImage): number {
  const powers = Float64Array.from({ length: 256 }, (_, level) => (level / 255) ** MINKOWSKI);
  const sums: [number, number, number] = [0, 0, 0];
  for (let index = 0; index < pixels.length; index += 3) {
    sums[0] += powers[pixels[index] as number] as number;
    sums[1] += powers[pixels[index + 1] as number] as number;
    sums[2] += powers[pixels[index + 2] as number] as number;
  }
  const light = sums.map((sum) => (sum / (pixels.length / 3)) ** (1 / MINKOWSKI));
  const strongest = Math.max(...light);
  return strongest === 0 ? 1 : Math.min(...light) / strongest;
}
