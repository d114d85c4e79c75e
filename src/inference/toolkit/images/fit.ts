/** Crops and scales pictures to networks' inputs. */
import type { Box, Size } from '../decoding/boxes.ts';
import { resample } from './resample.ts';
import type { RgbImage } from './rgb-image.ts';

/** Scales the part of a picture inside a box to width × height. */
export type Resample = typeof resample;

/** Grey level (0 to 255) outside the picture, as in training. */
export const PADDING = 114;

/** Maps input pixels to pixels of the original picture: `original = (input − offset) / scale + origin`. */
export interface FitTransform {
  scale: number;
  offsetX: number;
  offsetY: number;
  originX: number;
  originY: number;
}

/**
 * Scales the part of a picture inside `box` (pixels of the picture) with its aspect ratio kept, until it fits width × height,
 * in whose middle it stands.
 */
export function fitInto(
  image: RgbImage,
  box: Box,
  width: number,
  height: number,
  scaleTo: Resample = resample,
): { scaled: RgbImage; transform: FitTransform } {
  const boxWidth = box.x1 - box.x0;
  const boxHeight = box.y1 - box.y0;
  const scale = Math.min(width / boxWidth, height / boxHeight);
  const innerWidth = Math.max(1, roundHalfToEven(boxWidth * scale));
  const innerHeight = Math.max(1, roundHalfToEven(boxHeight * scale));
  const offsetX = Math.floor((width - innerWidth) / 2);
  const offsetY = Math.floor((height - innerHeight) / 2);
  const transform = { scale, offsetX, offsetY, originX: box.x0, originY: box.y0 };
  return { scaled: scaleTo(image, box, innerWidth, innerHeight), transform };
}

/** As `fitInto`, on the grey level of padding. */
export function letterbox(
  image: RgbImage,
  box: Box,
  width: number,
  height: number,
): { image: RgbImage; transform: FitTransform } {
  const { scaled, transform } = fitInto(image, box, width, height);
  if (scaled.width === width && scaled.height === height) return { image: scaled, transform };
  const canvas = greyImage(width, height, PADDING);
  paste(canvas, scaled, transform.offsetX, transform.offsetY);
  return { image: canvas, transform };
}

/**
 * Fills width × height with the centre of the part of a picture inside `box`, with its aspect ratio kept. Source:
 * torchvision's `Resize` and `CenterCrop`.
 *
 * @param share visible share of the scaled part's shorter side: 0.875 for `Resize(256)` and `CenterCrop(224)`
 * @returns the picture and, per axis, the mapping `original = (input + offset) / scale + the box's origin`
 */
export function cover(
  image: RgbImage,
  box: Box,
  { width, height }: Size,
  { share, scaleTo = resample }: { share: number; scaleTo?: Resample },
): { image: RgbImage; scaleX: number; scaleY: number; offsetX: number; offsetY: number } {
  const [boxWidth, boxHeight] = [box.x1 - box.x0, box.y1 - box.y0];
  const [wholeWidth, wholeHeight] = [Math.round(width / share), Math.round(height / share)];
  const isTightAcross = wholeWidth / boxWidth >= wholeHeight / boxHeight;
  const scaledWidth = isTightAcross ? wholeWidth : Math.floor((wholeHeight * boxWidth) / boxHeight);
  const scaledHeight = isTightAcross ? Math.floor((wholeWidth * boxHeight) / boxWidth) : wholeHeight;
  const offsetX = roundHalfToEven((scaledWidth - width) / 2);
  const offsetY = roundHalfToEven((scaledHeight - height) / 2);
  const canvas = greyImage(width, height, 0);
  paste(canvas, scaleTo(image, box, scaledWidth, scaledHeight), -offsetX, -offsetY);
  return { image: canvas, scaleX: scaledWidth / boxWidth, scaleY: scaledHeight / boxHeight, offsetX, offsetY };
}

/** A box in input pixels → pixels of the original picture. */
export function toOriginal(box: Box, { scale, offsetX, offsetY, originX, originY }: FitTransform): Box {
  return {
    x0: (box.x0 - offsetX) / scale + originX,
    y0: (box.y0 - offsetY) / scale + originY,
    x1: (box.x1 - offsetX) / scale + originX,
    y1: (box.y1 - offsetY) / scale + originY,
  };
}

/**
 * A square around the centre of `box` (pixels of the picture), with `factor` × the box's longer side, scaled to
 * size × size. Its edges are whole pixels; outside the picture it is grey.
 */
export function squareCrop(image: RgbImage, box: Box, factor: number, size: number): RgbImage {
  const exactSide = Math.max(1, factor * Math.max(box.x1 - box.x0, box.y1 - box.y0));
  const left = Math.floor((box.x0 + box.x1 - exactSide) / 2);
  const top = Math.floor((box.y0 + box.y1 - exactSide) / 2);
  const side = Math.ceil(exactSide);
  const window = greyImage(side, side, PADDING);
  paste(window, image, -left, -top);
  return resample(window, { x0: 0, y0: 0, x1: side, y1: side }, size, size);
}

/** Widens a picture to `width` pixels with the grey level `padding` (0 to 255) on its right. */
export function padRight(image: RgbImage, width: number, padding: number): RgbImage {
  if (width === image.width) return image;
  const canvas = greyImage(width, image.height, padding);
  paste(canvas, image, 0, 0);
  return canvas;
}

function greyImage(width: number, height: number, level: number): RgbImage {
  const pixels = new Uint8Array(width * height * 3);
  // New memory is zero.
  return { width, height, pixels: level === 0 ? pixels : pixels.fill(level) };
}

/** Copies `source` to (left, top) of `target`, clipped to `target`. */
function paste(target: RgbImage, source: RgbImage, left: number, top: number): void {
  const from = Math.max(0, -left);
  const to = Math.min(source.width, target.width - left);
  if (to <= from) return;
  for (let row = Math.max(0, -top); row < Math.min(source.height, target.height - top); row += 1) {
    const start = row * source.width;
    const pixels = source.pixels.subarray((start + from) * 3, (start + to) * 3);
    target.pixels.set(pixels, ((row + top) * target.width + left + from) * 3);
  }
}

/** Rounds as Python and NumPy do, which training used. */
export function roundHalfToEven(value: number): number {
  const rounded = Math.round(value);
  return value % 1 === 0.5 && rounded % 2 === 1 ? rounded - 1 : rounded;
}
