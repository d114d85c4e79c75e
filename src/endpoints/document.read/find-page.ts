/** The outline of the page that print stands on, and what makes it hard to read. */
import { clamp, type Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import type { Layout } from './page-layout.ts';
import type { Result } from './result.ts';

/** Fewer lines or characters are a sign or a label, not a document. */
const LEAST_LINES = 6;
const LEAST_CHARACTERS = 60;
/** For print that names no type of document. Instruments, signs and stickers have fewer and shorter lines. */
const LEAST_UNNAMED = 250;
const LEAST_UNNAMED_LENGTH = 8;
/** How much less certain print without a type is. */
const UNNAMED = 0.6;
/** Share of the print that must run in one direction. */
const LEAST_ALONG = 0.7;
/** Lower mean probabilities are texture that was taken for print. */
const LEAST_SURE = 0.6;
/** Paper around its print, in heights of a line. */
const MARGIN = 1;

/**
 * Null when there is not enough print for a document.
 * @param isNamed whether the print names a type of document
 */
export function findPage(
  layout: Layout,
  imageIndex: number,
  picture: Size,
  isNamed: boolean,
): Result['pages'][number] | null {
  const characters = layout.lines.flatMap((line) => line.characters);
  const all = layout.printed.flatMap((line) => line.characters).length;
  if (layout.lines.length < LEAST_LINES || characters.length < LEAST_CHARACTERS) return null;
  const along = characters.length / all;
  const sureness = characters.reduce((sum, { probability }) => sum + probability, 0) / characters.length;
  if (along < LEAST_ALONG || sureness < LEAST_SURE) return null;
  const isText = characters.length >= LEAST_UNNAMED && characters.length / layout.lines.length >= LEAST_UNNAMED_LENGTH;
  if (!isNamed && !isText) return null;
  const confidence = along * sureness * (isNamed ? 1 : UNNAMED);
  return { image_index: imageIndex, quad: toPolygon(outlineOf(layout, picture)), confidence };
}

/** The rectangle around the print, turned with it, grown a little; corners in reading orientation. */
function outlineOf({ printed, angle, height }: Layout, { width, height: tall }: Size): Point[] {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const corners = printed.flatMap(({ quad }) => quad);
  const box = boxAround(corners.map(({ x, y }) => ({ x: x * cosine + y * sine, y: y * cosine - x * sine })));
  const margin = MARGIN * height;
  const [left, right, top, bottom] = [box.x0 - margin, box.x1 + margin, box.y0 - margin, box.y1 + margin];
  const inPicture = (u: number, v: number): Point => ({
    x: clamp(u * cosine - v * sine, 0, width),
    y: clamp(u * sine + v * cosine, 0, tall),
  });
  return [inPicture(left, top), inPicture(right, top), inPicture(right, bottom), inPicture(left, bottom)];
}

/** Print this small is read with errors: the reader's networks see lines of 48 pixels. */
const SMALL_PRINT_PIXELS = 11;
/** Lines that touch an edge of the picture before it counts as cropped. */
const LEAST_CUT = 2;
const TOUCHING_PIXELS = 1;

/** Only what the print itself shows. */
export function findIssues(layout: Layout, imageIndex: number, { width, height }: Size): Result['issues'] {
  const issues: Result['issues'] = [];
  const cut = layout.lines.filter((line) =>
    line.characters.some(({ quad }) =>
      quad.some(
        ({ x, y }) =>
          x <= TOUCHING_PIXELS || y <= TOUCHING_PIXELS || x >= width - TOUCHING_PIXELS || y >= height - TOUCHING_PIXELS,
      ),
    ),
  );
  if (cut.length >= LEAST_CUT) {
    issues.push({ reason: 'cropped', image_index: imageIndex, confidence: Math.min(0.95, 0.4 + 0.1 * cut.length) });
  }
  if (layout.height < SMALL_PRINT_PIXELS) {
    const confidence = clamp(1.5 - layout.height / SMALL_PRINT_PIXELS, 0.5, 0.95);
    issues.push({ reason: 'low_resolution', image_index: imageIndex, confidence });
  }
  return issues;
}
