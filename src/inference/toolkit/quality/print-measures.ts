/** How legible the pixels of print are, and of a picture in which none was found: measures only, no judgement. */
import { clamp } from '../decoding/boxes.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { lumaOf, type RgbImage } from '../images/rgb-image.ts';
import { distance } from '../text/straighten.ts';

/** Luma is on the scale of the channels, 0 to 255; lengths are in pixels of the picture. */
export interface AreaMeasures {
  /** 5th, 50th and 95th percentile of luma. The middle one of print is its ground. */
  dark: number;
  median: number;
  light: number;
  /**
   * How wide edges are: the standard deviation of the Gaussian that would blur a step of this contrast to the steepest slopes
   * found, in the blurrier of both directions. A thin stroke is less wide than its blur. Null without contrast to measure.
   * Source: the slope of a blurred step edge, as in Elder and Zucker, "Local scale control for edge detection and blur
   * estimation", 1998.
   */
  edgeWidth: number | null;
  /** Share of pixels in which every channel is saturated, 0 to 1. */
  saturated: number;
}

export interface PrintMeasures extends AreaMeasures {
  /** Of the line of print, margins of its box included. */
  height: number;
  /** The longest stretch of the line without a pixel that is not saturated, in heights of the line. */
  washedOut: number;
}

/** A channel this bright holds no more detail: JPEG spreads 255 by a few levels. */
const SATURATED_LEVEL = 250;
/** Samples of one line of print, and along each side of one tile of a picture. */
const LINE_SAMPLES = 2000;
const TILE_SAMPLES = 15;
const TILES_ALONG_LONG_SIDE = 12;
/** Percentile of the slopes that counts as the steepest: enough samples to bear noise, few enough for thin print. */
const STEEPEST = 0.98;
/** Slopes are counted in quarters of a level per pixel. */
const SLOPE_BINS = 4;
/** Levels of luma. With less, slopes are those of noise; a tile of a picture has more room for it than a line of print. */
const LEAST_CONTRAST = 12;
const LEAST_TILE_CONTRAST = 25;
/** The share of tiles, sharpest first, of which the last tells how sharp a picture is: its background may be out of focus. */
const SHARPEST_TILES = 0.1;

/** @param quad of a line of print, in reading order from its top left corner */
export function measurePrint(picture: RgbImage, quad: Quad): PrintMeasures {
  const [topLeft, topRight, bottomRight, bottomLeft] = quad;
  const height = (distance(topLeft, bottomLeft) + distance(topRight, bottomRight)) / 2;
  const width = (distance(topLeft, topRight) + distance(bottomLeft, bottomRight)) / 2;
  const step = Math.max(1, Math.sqrt((width * height) / LINE_SAMPLES));
  const rows = Math.max(2, Math.round(height / step));
  const columns = Math.max(2, Math.min(LINE_SAMPLES, Math.round(width / step)));
  const tally = new Tally(Math.atan2(topRight.y - topLeft.y, topRight.x - topLeft.x));
  let [stretch, longest] = [0, 0];
  for (let column = 0; column < columns; column += 1) {
    const u = (column + 0.5) / columns;
    let isWashedOut = true;
    for (let row = 0; row < rows; row += 1) {
      const v = (row + 0.5) / rows;
      const x = (topLeft.x * (1 - u) + topRight.x * u) * (1 - v) + (bottomLeft.x * (1 - u) + bottomRight.x * u) * v;
      const y = (topLeft.y * (1 - u) + topRight.y * u) * (1 - v) + (bottomLeft.y * (1 - u) + bottomRight.y * u) * v;
      if (!tally.add(picture, Math.floor(x), Math.floor(y))) isWashedOut = false;
    }
    stretch = isWashedOut ? stretch + 1 : 0;
    longest = Math.max(longest, stretch);
  }
  const washedOut = height === 0 ? 0 : ((longest / columns) * width) / height;
  return { ...tally.measures(), height, washedOut };
}

/** Of the whole picture; `edgeWidth` is that of its sharper parts. */
export function measurePicture(picture: RgbImage): AreaMeasures {
  const side = Math.max(picture.width, picture.height) / TILES_ALONG_LONG_SIDE;
  const across = Math.max(1, Math.round(picture.width / side));
  const down = Math.max(1, Math.round(picture.height / side));
  const whole = new Tally(0);
  const edgeWidths: number[] = [];
  for (let tileY = 0; tileY < down; tileY += 1) {
    for (let tileX = 0; tileX < across; tileX += 1) {
      const tile = new Tally(0);
      for (let sample = 0; sample < TILE_SAMPLES ** 2; sample += 1) {
        const u = tileX + ((sample % TILE_SAMPLES) + 0.5) / TILE_SAMPLES;
        const v = tileY + (Math.floor(sample / TILE_SAMPLES) + 0.5) / TILE_SAMPLES;
        tile.add(picture, Math.floor((u / across) * picture.width), Math.floor((v / down) * picture.height));
      }
      whole.include(tile);
      const { edgeWidth } = tile.measures(LEAST_TILE_CONTRAST);
      if (edgeWidth !== null) edgeWidths.push(edgeWidth);
    }
  }
  edgeWidths.sort((a, b) => a - b);
  return { ...whole.measures(), edgeWidth: edgeWidths[Math.floor(SHARPEST_TILES * edgeWidths.length)] ?? null };
}

/** Histograms of luma and of its slopes along and across one direction. */
class Tally {
  readonly #levels = new Uint32Array(256);
  readonly #along = new Uint32Array(256 * SLOPE_BINS);
  readonly #across = new Uint32Array(256 * SLOPE_BINS);
  readonly #cosine: number;
  readonly #sine: number;
  #count = 0;
  #saturated = 0;

  /** @param angle of the direction, in radians, clockwise in the picture */
  constructor(angle: number) {
    this.#cosine = Math.cos(angle);
    this.#sine = Math.sin(angle);
  }

  /** Counts a pixel, the nearest one inside the picture. Returns whether it is saturated. */
  add(picture: RgbImage, x: number, y: number): boolean {
    const { width, height, pixels } = picture;
    const column = clamp(x, 0, width - 1);
    const row = clamp(y, 0, height - 1);
    const [left, right] = [Math.max(0, column - 1), Math.min(width - 1, column + 1)];
    const [above, below] = [Math.max(0, row - 1), Math.min(height - 1, row + 1)];
    const at = 3 * (row * width + column);
    const slopeX = (lumaAt(pixels, row * width + right) - lumaAt(pixels, row * width + left)) / 2;
    const slopeY = (lumaAt(pixels, below * width + column) - lumaAt(pixels, above * width + column)) / 2;
    const along = Math.abs(slopeX * this.#cosine + slopeY * this.#sine);
    const across = Math.abs(slopeY * this.#cosine - slopeX * this.#sine);
    count(this.#levels, lumaAt(pixels, row * width + column));
    count(this.#along, along * SLOPE_BINS);
    count(this.#across, across * SLOPE_BINS);
    const isSaturated = Math.min(pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0) >= SATURATED_LEVEL;
    this.#count += 1;
    if (isSaturated) this.#saturated += 1;
    return isSaturated;
  }

  include(other: Tally): void {
    for (const [index, value] of other.#levels.entries()) this.#levels[index] = (this.#levels[index] ?? 0) + value;
    this.#count += other.#count;
    this.#saturated += other.#saturated;
  }

  measures(leastContrast = LEAST_CONTRAST): AreaMeasures {
    const level = (share: number) => percentile(this.#levels, this.#count, share);
    const slope = (bins: Uint32Array) => percentile(bins, this.#count, STEEPEST) / SLOPE_BINS;
    const [dark, light] = [level(0.05), level(0.95)];
    const steepest = Math.min(slope(this.#along), slope(this.#across));
    const hasEdges = light - dark >= leastContrast && steepest > 0;
    const edgeWidth = hasEdges ? (light - dark) / (Math.sqrt(2 * Math.PI) * steepest) : null;
    return { dark, median: level(0.5), light, edgeWidth, saturated: this.#saturated / Math.max(1, this.#count) };
  }
}

function lumaAt(pixels: Uint8Array, pixel: number): number {
  return lumaOf(pixels[3 * pixel] ?? 0, pixels[3 * pixel + 1] ?? 0, pixels[3 * pixel + 2] ?? 0);
}

function count(bins: Uint32Array, value: number): void {
  const bin = Math.min(bins.length - 1, Math.floor(value));
  bins[bin] = (bins[bin] ?? 0) + 1;
}

/** @param total of all bins */
function percentile(bins: Uint32Array, total: number, share: number): number {
  let counted = 0;
  for (let bin = 0; bin < bins.length; bin += 1) {
    counted += bins[bin] ?? 0;
    if (counted > share * total) return bin;
  }
  return 0;
}
