/** Output of differentiable binarization: PP-OCR's text detectors (PaddleOCR) and similar. */
import type { FloatTensor } from '../../models/tensors.ts';
import { bestFirst, type Point, type RawDetection } from './detections.ts';
import { boxAround, cornersOf, inReadingOrder, leastRectangle, type Quad } from './rotated-boxes.ts';

export interface DbTextSettings {
  /** Probability above which a pixel belongs to text. PaddleOCR's `thresh`. */
  threshold: number;
  /** Minimum mean probability of a text's pixels. PaddleOCR's `box_thresh` with `score_mode: slow`. */
  score: number;
  /** Regrowth of texts that training shrank: area × this ÷ perimeter, in pixels. PaddleOCR's `unclip_ratio`. */
  unclip: number;
}

/** Smaller texts are noise: PaddleOCR's `min_size`, in pixels of the map. */
const SMALLEST_SIDE = 3;

/**
 * The minimum-area rectangle around each connected region of text, grown on all sides. All have class 0.
 *
 * @param map [1, 1, height, width]: probability of each input pixel to belong to text, 0 to 1
 * @returns corners in reading order, and the upright box around them, in pixels of the input
 * Source: Liao and others, "Real-time Scene Text Detection with Differentiable Binarization", 2019; `DBPostProcess` of
 * PaddleOCR.
 */
export function decodeDbText(
  { data, shape }: FloatTensor,
  settings: DbTextSettings,
): (RawDetection & { corners: Quad })[] {
  const [batch, planes, height = 0, width = 0] = shape;
  if (shape.length !== 4 || batch !== 1 || planes !== 1) {
    throw new Error(`a text map of shape [${shape.join(', ')}] is not [1, 1, height, width]`);
  }
  const found = findTexts({ data, width, height }, settings.threshold).flatMap(({ ends, pixels, sum }) => {
    const text = leastRectangle(ends);
    if (Math.min(text.width, text.height) < SMALLEST_SIDE) return [];
    const score = sum / pixels;
    if (score < settings.score) return [];
    const growth = (text.width * text.height * settings.unclip) / (2 * (text.width + text.height));
    const corners = inReadingOrder(
      cornersOf(text.center, text.width + 2 * growth, text.height + 2 * growth, text.angle),
    );
    return [{ classIndex: 0, score, box: boxAround(corners), corners }];
  });
  return bestFirst(found);
}

/** Pixels that touch by their sides or corners. */
interface Text {
  /** The first and last pixel of each run along a row: no other is a corner of the convex hull. */
  ends: Point[];
  pixels: number;
  /** Of their probabilities. */
  sum: number;
}

/** Pixels of text beside each other. */
interface Run {
  y: number;
  first: number;
  last: number;
  sum: number;
}

/**
 * By runs along the rows, in the order of their first pixels: a list of all pixels would take as long as a tenth of the
 * networks. Source: Rosenfeld and Pfaltz, "Sequential operations in digital picture processing", 1966.
 */
function findTexts(
  { data, width, height }: { data: Float32Array; width: number; height: number },
  threshold: number,
): Text[] {
  const runs: Run[] = [];
  /** Of each run the earliest one known to belong to the same text, or itself. */
  const earlier: number[] = [];
  const earliestOf = (run: number): number => {
    let at = run;
    while (earlier[at] !== at) at = earlier[at] as number;
    earlier[run] = at;
    return at;
  };
  let above = 0;
  for (let y = 0; y < height; y += 1) {
    const start = runs.length;
    addRunsOfRow(runs, data.subarray(y * width, (y + 1) * width), threshold, y);
    let candidate = above;
    for (let own = start; own < runs.length; own += 1) {
      const { first, last } = runs[own] as Run;
      earlier.push(own);
      // Those of the row above that end before this run touch no later one.
      while (candidate < start && (runs[candidate]?.last as number) < first - 1) candidate += 1;
      for (let other = candidate; other < start && (runs[other]?.first as number) <= last + 1; other += 1) {
        const [one, two] = [earliestOf(own), earliestOf(other)];
        earlier[Math.max(one, two)] = Math.min(one, two);
      }
    }
    above = start;
  }
  const texts = new Map<number, Text>();
  for (const [index, { y, first, last, sum }] of runs.entries()) {
    const root = earliestOf(index);
    const text = texts.get(root) ?? { ends: [], pixels: 0, sum: 0 };
    texts.set(root, text);
    text.ends.push({ x: first, y }, { x: last, y });
    text.pixels += last - first + 1;
    text.sum += sum;
  }
  return [...texts.values()];
}

/** A function of its own: V8 runs nested loops of one that is called once a picture several times slower. */
function addRunsOfRow(runs: Run[], row: Float32Array, threshold: number, y: number): void {
  for (let x = 0; x < row.length; x += 1) {
    if (!((row[x] as number) > threshold)) continue;
    const first = x;
    let sum = 0;
    for (; x < row.length && (row[x] as number) > threshold; x += 1) sum += row[x] as number;
    runs.push({ y, first, last: x - 1, sum });
  }
}
