/** How good a picture is, measured on its pixels by published formulas. It says nothing of what the picture shows. */
import { clamp } from '../decoding/boxes.ts';
import { lumaOf, type RgbImage } from '../images/rgb-image.ts';

/** From 0 to 1; 1 is the best of each. */
export interface PictureQuality {
  /** The mean of the others. */
  overall: number;
  sharpness: number;
  noise: number;
  exposure: number;
  color: number;
}

/** Standard deviation of noise, of 255, at which a picture has the score 0: a night picture of an old telephone. */
const WORST_NOISE = 25;
/** Luma, 0 to 1, of a well exposed picture: 18 % grey as sRGB shows it. */
const MIDDLE_GREY = 0.46;
/** Levels as near as this to black or white have lost their detail. */
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

/** Of each pixel, 0 to 255. */
function lumaOfPicture({ pixels }: RgbImage): Float32Array {
  const luma = new Float32Array(pixels.length / 3);
  for (let pixel = 0; pixel < luma.length; pixel += 1) {
    const [red, green, blue] = [pixels[pixel * 3], pixels[pixel * 3 + 1], pixels[pixel * 3 + 2]] as number[];
    luma[pixel] = lumaOf(red as number, green as number, blue as number);
  }
  return luma;
}

/**
 * Standard deviation of the noise, of 255; 0 of a picture less than three pixels wide or high.
 * Source: Immerkær, "Fast noise variance estimation", 1996.
 */
function noiseOf(luma: Float32Array, width: number, height: number): number {
  if (width < 3 || height < 3) return 0;
  let sum = 0;
  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const at = (dx: number, dy: number) => luma[(y + dy) * width + x + dx] as number;
      const corners = at(-1, -1) + at(1, -1) + at(-1, 1) + at(1, 1);
      const sides = at(0, -1) + at(-1, 0) + at(1, 0) + at(0, 1);
      sum += Math.abs(corners - 2 * sides + 4 * at(0, 0));
    }
  }
  return (Math.sqrt(Math.PI / 2) * sum) / (6 * (width - 2) * (height - 2));
}

/**
 * How much of the difference between neighbours would be lost if the picture were blurred: little where it is blurred
 * already. 0 sharp to 1 blurred, by the worse of both directions; 1 of a picture of one colour.
 * Source: Crété-Roffet and others, "The blur effect: perception and estimation with a new no-reference perceptual blur
 * metric", 2007.
 */
function blurOf(luma: Float32Array, width: number, height: number): number {
  const across = blurAlong(luma, { lines: height, lineStep: width, length: width, step: 1 });
  const down = blurAlong(luma, { lines: width, lineStep: 1, length: height, step: width });
  // A direction in which nothing differs tells nothing.
  return Math.max(across ?? down ?? 1, down ?? across ?? 1);
}

/** Pixels of the mean filter on each side. */
const REACH = 4;

function blurAlong(
  luma: Float32Array,
  { lines, lineStep, length, step }: { lines: number; lineStep: number; length: number; step: number },
): number | null {
  let [differences, lost] = [0, 0];
  const smooth = new Float32Array(length);
  for (let line = 0; line < lines; line += 1) {
    const at = (place: number) => luma[line * lineStep + clamp(place, 0, length - 1) * step] as number;
    let window = 0;
    for (let place = -REACH; place <= REACH; place += 1) window += at(place);
    for (let place = 0; place < length; place += 1) {
      smooth[place] = window / (2 * REACH + 1);
      window += at(place + REACH + 1) - at(place - REACH);
    }
    for (let place = 1; place < length; place += 1) {
      const sharp = Math.abs(at(place) - at(place - 1));
      const blurred = Math.abs((smooth[place] as number) - (smooth[place - 1] as number));
      differences += sharp;
      lost += Math.max(0, sharp - blurred);
    }
  }
  return differences === 0 ? null : clamp((differences - lost) / differences, 0, 1);
}

/** How near the mean luma is to a middle grey, times the share of pixels that are neither black nor white. */
function exposureOf(luma: Float32Array): number {
  let [sum, clipped] = [0, 0];
  for (const level of luma) {
    sum += level;
    if (level <= CLIPPED_LEVELS || level >= 255 - CLIPPED_LEVELS) clipped += 1;
  }
  const mean = sum / luma.length / 255;
  return (1 - Math.abs(mean - MIDDLE_GREY) / (1 - MIDDLE_GREY)) * (1 - clipped / luma.length);
}

/**
 * The weakest channel of the light as a share of the strongest.
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
