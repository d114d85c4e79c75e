/** Strokes that pass for print: what measures of pixels need of it. */
import { quadOfBox } from '../../../src/inference/toolkit/decoding/rotated-boxes.ts';
import type { RgbImage } from '../../../src/inference/toolkit/images/rgb-image.ts';
import { printedAt, spelt } from './print-saying.ts';

export interface DrawnPrint {
  picture: RgbImage;
  /** The line of print, as a reader finds it. */
  line: ReturnType<typeof printedAt>;
}

/** A line of eight strokes in the middle of a picture. Heights, widths and places in pixels; luma from 0 to 255. */
export function drawPrint(changed: Partial<typeof DRAWN> = {}): DrawnPrint {
  const { width, height, lineHeight, shift, ink, ground } = { ...DRAWN, ...changed };
  const [lineWidth, top] = [6 * lineHeight, (height - lineHeight) / 2];
  const left = (width - lineWidth) / 2 + shift;
  const [from, to] = [Math.max(0, Math.round(left)), Math.min(width, Math.round(left + lineWidth))];
  const pixels = new Uint8Array(3 * width * height).fill(ground);
  for (let y = Math.round(top); y < top + lineHeight; y += 1) {
    for (let x = from; x < to; x += 1) {
      const [across, down] = [((x - left) / lineHeight) % 0.75, (y - top) / lineHeight];
      // A stem with a foot and an arm, and a margin around them.
      const isStem = across > 0.1 && across < 0.3 && down > 0.1 && down < 0.9;
      const isArm = across > 0.1 && across < 0.6 && ((down > 0.1 && down < 0.25) || (down > 0.7 && down < 0.9));
      if (isStem || isArm) pixels.fill(ink, 3 * (y * width + x), 3 * (y * width + x) + 3);
    }
  }
  const quad = quadOfBox({ x0: from, y0: top, x1: to, y1: top + lineHeight });
  return { picture: { width, height, pixels }, line: { ...printedAt(left, top, spelt('ABCDEFGH')), quad } };
}

const DRAWN = { width: 500, height: 120, lineHeight: 24, shift: 0, ink: 40, ground: 200 };
