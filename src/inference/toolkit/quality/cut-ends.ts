/**
 * Marks the ends of lines of print beside which more may stand that the picture does not show: at its edge, and where
 * reflected light begins. Networks are sure of the characters that they see, and say nothing of those they do not.
 */
import type { Point } from '../decoding/detections.ts';
import { lumaOf, type RgbImage } from '../images/rgb-image.ts';
import { distance, middle } from '../text/straighten.ts';
import type { PrintedLine } from '../text/text-lines.ts';

/** All in heights of the line. How close to an edge of the picture a line may continue beyond it. */
const TOUCHING = 0.15;
/** How much of a line's end, and of what follows it, is looked at. */
const WINDOW = 1;
/** Boxes of lines are larger than their print by about this. */
const MARGIN = 0.2;
/** In pixels, however small the print. */
const TOUCHING_PIXELS = 1;
/** Every channel of reflected light is at least this bright. JPEG spreads 255 by a few levels. */
const SATURATED_LEVEL = 250;
/** Share of the pixels beside an end that must be saturated. */
const SATURATED = 0.6;
/** Saturated light beside darker ground is a reflection. In levels of luma. */
const WHITE_GROUND = 240;
/** Levels of luma by which light brightens the darkest print towards an end. On white ground nothing else shows it. */
const BRIGHTENED = 40;
/** Luma of the darkest print at an end from which on it fades away. */
const FADED = 160;
/** Samples along and across a window. */
const SAMPLES = 14;

/** @returns the same lines, with characters marked as `isAtCut` */
export function markCutEnds(picture: RgbImage, lines: readonly PrintedLine[]): PrintedLine[] {
  return lines.map((line) => {
    const [a, b, c, d] = line.quad;
    const isCutLeft = isCut(picture, middle(b, c), middle(a, d), distance(a, d));
    const isCutRight = isCut(picture, middle(a, d), middle(b, c), distance(b, c));
    if (!isCutLeft && !isCutRight) return line;
    const last = line.characters.length - 1;
    const characters = line.characters.map((each, place) =>
      (isCutLeft && place === 0) || (isCutRight && place === last) ? { ...each, isAtCut: true } : each,
    );
    return { ...line, characters };
  });
}

/** @param end of the line's middle axis @param height of the line there, in pixels */
function isCut(picture: RgbImage, start: Point, end: Point, height: number): boolean {
  const length = distance(start, end);
  if (length === 0 || height === 0) return false;
  const along = { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
  const from = (pixels: number): Point => ({ x: end.x + pixels * along.x, y: end.y + pixels * along.y });
  const beyond = from(Math.max(TOUCHING_PIXELS, TOUCHING * height));
  if (beyond.x <= 0 || beyond.y <= 0 || beyond.x >= picture.width || beyond.y >= picture.height) return true;
  const seen = (start: number, end: number) => look(picture, from(start * height), from(end * height), height);
  const beside = seen(0, WINDOW);
  if (beside.saturated < SATURATED) return false;
  const whole = look(picture, start, end, height);
  const last = seen(-Math.min(WINDOW + MARGIN, length / height), -MARGIN);
  return whole.median < WHITE_GROUND || last.dark - whole.dark >= BRIGHTENED || last.dark >= FADED;
}

interface Seen {
  /** 5th and 50th percentile of luma. */
  dark: number;
  median: number;
  /** Share of saturated pixels, of those within the picture. */
  saturated: number;
}

/** The stretch of a line's axis between two points, over most of its height. */
function look({ width, height, pixels }: RgbImage, start: Point, end: Point, lineHeight: number): Seen {
  const length = distance(start, end);
  const across = { x: -(end.y - start.y) / length, y: (end.x - start.x) / length };
  const levels: number[] = [];
  let saturated = 0;
  const columns = Math.max(SAMPLES, Math.round((SAMPLES * length) / lineHeight));
  for (let column = 0; column < columns; column += 1) {
    const share = (column + 0.5) / columns;
    for (let row = 0; row < SAMPLES; row += 1) {
      const offset = ((row + 0.5) / SAMPLES - 0.5) * lineHeight;
      const x = Math.floor(start.x * (1 - share) + end.x * share + offset * across.x);
      const y = Math.floor(start.y * (1 - share) + end.y * share + offset * across.y);
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const at = 3 * (y * width + x);
      const [red, green, blue] = [pixels[at] as number, pixels[at + 1] as number, pixels[at + 2] as number];
      levels.push(lumaOf(red, green, blue));
      if (Math.min(red, green, blue) >= SATURATED_LEVEL) saturated += 1;
    }
  }
  const sorted = Float64Array.from(levels).sort();
  const level = (part: number) => sorted[Math.floor(part * sorted.length)] ?? 0;
  return { dark: level(0.05), median: level(0.5), saturated: saturated / Math.max(1, levels.length) };
}
