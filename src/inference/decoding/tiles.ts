/** A large picture in tiles of one size that overlap, and what a network makes of them put together without seams. */
import type { RgbImage } from '../images/rgb-image.ts';
import type { FloatTensor } from '../models/model.ts';

/** A run of pixels of one axis that a tile covers. */
export interface TileSpan {
  /** Of the tile's first pixel. */
  start: number;
  /** Where it begins to take over from the tile before, and where it has: equal for the first one. */
  fadeFrom: number;
  fadeTo: number;
}

/**
 * Tiles of the size `tile` that cover an axis of `length`, each overlapping the one before by at least `overlap`. In the
 * middle half of an overlap one tile fades into the next; the outer quarters, where a network sees the tile's edge, are
 * thrown away. No tile reaches over an end of the axis, unless the axis is shorter than a tile.
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

/** A tile of a picture, in its pixels. What lies beyond its right and lower edges repeats them. */
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

/** How the values of an output become pixels. */
export interface OutputPixels {
  colour: 'RGB' | 'BGR';
  /** What black and white are. */
  range: readonly number[];
}

/** [1, 3, height, width] → pixels; what lies beyond black and white is cut off. */
export function pixelsOfTensor({ data, shape }: FloatTensor, { colour, range }: OutputPixels): RgbImage {
  const [batch, planes, height = 0, width = 0] = shape;
  if (shape.length !== 4 || batch !== 1 || planes !== 3) {
    throw new Error(`a picture of shape [${shape.join(', ')}] is not [1, 3, height, width]`);
  }
  const [black = 0, white = 1] = range;
  const plane = width * height;
  // Rounds to the nearest, and cuts off.
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
 * Puts `piece` on `target` at a place, fading in from its left and upper edges over what lies there.
 * @param across, down the span of each axis, in pixels of `target`
 */
export function mergePiece(target: RgbImage, piece: RgbImage, across: TileSpan, down: TileSpan): void {
  const [right, bottom] = [
    Math.min(target.width, across.start + piece.width),
    Math.min(target.height, down.start + piece.height),
  ];
  for (let y = Math.max(down.start, down.fadeFrom); y < bottom; y += 1) {
    const ofRow = shareOf(down, y);
    for (let x = Math.max(across.start, across.fadeFrom); x < right; x += 1) {
      const share = ofRow * shareOf(across, x);
      const from = ((y - down.start) * piece.width + x - across.start) * 3;
      const to = (y * target.width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const before = target.pixels[to + channel] as number;
        const after = piece.pixels[from + channel] as number;
        target.pixels[to + channel] = Math.round(before + (after - before) * share);
      }
    }
  }
}

/** How far the later tile counts at a pixel: 0 to 1. */
function shareOf({ fadeFrom, fadeTo }: TileSpan, pixel: number): number {
  return pixel >= fadeTo ? 1 : (pixel + 0.5 - fadeFrom) / (fadeTo - fadeFrom);
}

/** The same span of an axis that is `scale` times as long. */
export function scaledSpan({ start, fadeFrom, fadeTo }: TileSpan, scale: number): TileSpan {
  return { start: start * scale, fadeFrom: fadeFrom * scale, fadeTo: fadeTo * scale };
}

/** Where a span alone lies: one whose first pixel counts in full. */
export function spanAt(start: number): TileSpan {
  return { start, fadeFrom: start, fadeTo: start };
}
