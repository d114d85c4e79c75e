/** Splits a large picture into overlapping tiles of one size, and joins the network's outputs without seams. */

import type { FloatTensor } from '../../models/tensors.ts';
import type { RgbImage } from './rgb-image.ts';

/** The pixels of one axis that a tile covers. */
export interface TileSpan {
  /** First pixel of the tile. */
  start: number;
  /** Where the fade from the previous tile begins and ends; equal for the first tile. */
  fadeFrom: number;
  fadeTo: number;
}

/**
 * Tiles of `tile` pixels that cover an axis of `length` pixels, each overlapping the previous one by at least `overlap`
 * pixels. In the middle half of an overlap one tile fades into the next; the outer quarters, where the network sees the
 * tile's edge, are discarded. Tiles stay within the axis unless it is shorter than a tile.
 *
 * @param overlap at most half of `tile`
 */
export function tileSpans(length: number, tile: number, overlap: number): TileSpan[] {
  const count = length <= tile ? 1 : Math.ceil((length - overlap) / (tile - overlap));
  const fade = Math.floor(overlap / 2);
  let before = 0;
  return Array.from({ length: count }, (_, index) => {
    const start = count === 1 ? 0 : Math.round((index * (length - tile)) / (count - 1));
    const middle = Math.floor((start + before + tile) / 2);
    const fadeFrom = index === 0 ? 0 : middle - Math.floor(fade / 2);
    before = start;
    return { start, fadeFrom, fadeTo: index === 0 ? 0 : fadeFrom + fade };
  });
}

/** A tile of a picture, in its pixels. Beyond the right and lower edges the edge pixels repeat. */
export function cutTile(picture: RgbImage, left: number, top: number, width: number, height: number): RgbImage {
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const row = Math.min(top + y, picture.height - 1) * picture.width;
    const inside = Math.min(width, picture.width - left);
    pixels.set(picture.pixels.subarray((row + left) * 3, (row + left + inside) * 3), y * width * 3);
    const edge = picture.pixels.subarray((row + picture.width - 1) * 3, (row + picture.width) * 3);
    for (let x = inside; x < width; x += 1) pixels.set(edge, (y * width + x) * 3);
  }
  return { width, height, pixels };
}

/** How to convert an output to pixels. */
export interface OutputPixels {
  colour: 'RGB' | 'BGR';
  /** Values of black and white. */
  range: readonly number[];
}

/** [1, 3, height, width] → pixels, rounded and clamped to black and white. @throws Error for another shape */
export function pixelsOfTensor({ data, shape }: FloatTensor, { colour, range }: OutputPixels): RgbImage {
  const [batch, planes, height = 0, width = 0] = shape;
  if (shape.length !== 4 || batch !== 1 || planes !== 3) {
    throw new Error(`a picture of shape [${shape.join(', ')}] is not [1, 3, height, width]`);
  }
  const [black = 0, white = 1] = range;
  const plane = width * height;
  // Rounds and clamps.
  const pixels = new Uint8ClampedArray(plane * 3);
  for (let channel = 0; channel < 3; channel += 1) {
    const source = (colour === 'RGB' ? channel : 2 - channel) * plane;
    for (let pixel = 0; pixel < plane; pixel += 1) {
      pixels[pixel * 3 + channel] = (((data[source + pixel] as number) - black) / (white - black)) * 255;
    }
  }
  return { width, height, pixels: new Uint8Array(pixels.buffer) };
}

/**
 * Puts `piece` on `target`, fading in from its left and upper edges over what lies there.
 * @param across, down the span of each axis, in pixels of `target`
 */
export function mergePiece(target: RgbImage, piece: RgbImage, across: TileSpan, down: TileSpan): void {
  const right = Math.min(target.width, across.start + piece.width);
  const bottom = Math.min(target.height, down.start + piece.height);
  const left = Math.max(across.start, across.fadeFrom);
  for (let y = Math.max(down.start, down.fadeFrom); y < bottom; y += 1) {
    const ofRow = shareOf(down, y);
    // Most of a piece lies behind its fades: there its rows are copied.
    const wholeFrom = ofRow === 1 ? Math.min(Math.max(left, across.fadeTo), right) : right;
    const pieceRow = (y - down.start) * piece.width - across.start;
    for (let x = left; x < wholeFrom; x += 1) {
      const share = ofRow * shareOf(across, x);
      const from = (pieceRow + x) * 3;
      const to = (y * target.width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const before = target.pixels[to + channel] as number;
        const after = piece.pixels[from + channel] as number;
        target.pixels[to + channel] = Math.round(before + (after - before) * share);
      }
    }
    if (wholeFrom === right) continue;
    const whole = piece.pixels.subarray((pieceRow + wholeFrom) * 3, (pieceRow + right) * 3);
    target.pixels.set(whole, (y * target.width + wholeFrom) * 3);
  }
}

/** Weight of the later tile at a pixel, 0 to 1. */
function shareOf({ fadeFrom, fadeTo }: TileSpan, pixel: number): number {
  return pixel >= fadeTo ? 1 : (pixel + 0.5 - fadeFrom) / (fadeTo - fadeFrom);
}

/** A span of an axis that is `scale` times as long. */
export function scaledSpan({ start, fadeFrom, fadeTo }: TileSpan, scale: number): TileSpan {
  return { start: start * scale, fadeFrom: fadeFrom * scale, fadeTo: fadeTo * scale };
}

/** A span without a fade. */
export function spanAt(start: number): TileSpan {
  return { start, fadeFrom: start, fadeTo: start };
}
