/** Evens out contrast, so that embossed black on black looks like print on paper. */
import type { RgbImage } from './rgb-image.ts';

export interface GreyLevels {
  width: number;
  height: number;
  /** [height, width], 0 to 255; NaN where there is no picture. */
  levels: Float32Array;
}

/** Smaller deviations are noise and are not strengthened to the full contrast. In levels. */
const LEAST_DEVIATION = 10;
/** Levels per standard deviation. */
const CONTRAST = 45;

/**
 * Each level by its distance from the mean of the square around it, in standard deviations of that square.
 * @param reach half a side of the square, in pixels
 * @param ground level of means, and of what is no picture
 */
export function evenContrast({ width, height, levels: raw }: GreyLevels, reach: number, ground: number): RgbImage {
  const levels = smooth(smooth(raw, 1), width);
  const pixels = new Uint8Array(3 * width * height);
  // Of the rows within reach, by column.
  const columns = sumsOf(width);
  for (let y = -reach; y < height; y += 1) {
    addRow(columns, levels, y + reach, width, height, 1);
    addRow(columns, levels, y - reach - 1, width, height, -1);
    if (y >= 0) evenRow(pixels, levels, y, width, columns, reach, ground);
  }
  return { width, height, pixels };
}

interface Sums {
  levels: Float64Array;
  squares: Float64Array;
  counts: Float64Array;
}

function sumsOf(length: number): Sums {
  return {
    levels: new Float64Array(length),
    squares: new Float64Array(length),
    counts: new Float64Array(length),
  };
}

function addRow(sums: Sums, levels: Float32Array, row: number, width: number, height: number, sign: 1 | -1): void {
  if (row < 0 || row >= height) return;
  for (let x = 0; x < width; x += 1) {
    const level = levels[row * width + x] as number;
    if (Number.isNaN(level)) continue;
    sums.levels[x] = (sums.levels[x] as number) + sign * level;
    sums.squares[x] = (sums.squares[x] as number) + sign * level ** 2;
    sums.counts[x] = (sums.counts[x] as number) + sign;
  }
}

function evenRow(
  pixels: Uint8Array,
  levels: Float32Array,
  y: number,
  width: number,
  columns: Sums,
  reach: number,
  ground: number,
): void {
  let [sum, squares, count] = [0, 0, 0];
  const add = (x: number, sign: 1 | -1) => {
    if (x < 0 || x >= width) return;
    sum += sign * (columns.levels[x] as number);
    squares += sign * (columns.squares[x] as number);
    count += sign * (columns.counts[x] as number);
  };
  for (let x = -reach; x < width; x += 1) {
    add(x + reach, 1);
    add(x - reach - 1, -1);
    if (x < 0) continue;
    const level = levels[y * width + x] as number;
    const mean = sum / count;
    const deviation = Math.sqrt(Math.max(0, squares / count - mean ** 2));
    const evened = ground + (CONTRAST * (level - mean)) / Math.max(deviation, LEAST_DEVIATION);
    const rounded = Number.isNaN(level) ? ground : Math.min(255, Math.max(0, Math.round(evened)));
    pixels.fill(rounded, 3 * (y * width + x), 3 * (y * width + x) + 3);
  }
}

/** Binomial, over each level and its two neighbours at this distance: grain would be strengthened with the print. */
function smooth(levels: Float32Array, distance: number): Float32Array {
  const smoothed = levels.slice();
  for (let pixel = distance; pixel < levels.length - distance; pixel += 1) {
    const [before, own, after] = [levels[pixel - distance], levels[pixel], levels[pixel + distance]] as number[];
    const mean = ((before as number) + 2 * (own as number) + (after as number)) / 4;
    if (!Number.isNaN(mean)) smoothed[pixel] = mean;
  }
  return smoothed;
}
