/** Output of differentiable binarization: PP-OCR's text detectors (PaddleOCR) and similar. */
import type { FloatTensor } from '../../models/tensors.ts';
import { bestFirst, type Point, type RawDetection } from './detections.ts';
import { findRegions } from './regions.ts';
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
  const classes = new Int16Array(data.length).fill(-1);
  // A loop: `Int16Array.from` with a function takes an eighth of the whole reading.
  for (let pixel = 0; pixel < data.length; pixel += 1) {
    if ((data[pixel] as number) > settings.threshold) classes[pixel] = 0;
  }
  const found = findRegions({ width, height, classes }, 8).flatMap(({ pixels }) => {
    const points = pixels.map((pixel): Point => ({ x: pixel % width, y: Math.floor(pixel / width) }));
    const text = leastRectangle(points);
    if (Math.min(text.width, text.height) < SMALLEST_SIDE) return [];
    const score = pixels.reduce((sum, pixel) => sum + (data[pixel] as number), 0) / pixels.length;
    if (score < settings.score) return [];
    const growth = (text.width * text.height * settings.unclip) / (2 * (text.width + text.height));
    const corners = inReadingOrder(
      cornersOf(text.center, text.width + 2 * growth, text.height + 2 * growth, text.angle),
    );
    return [{ classIndex: 0, score, box: boxAround(corners), corners }];
  });
  return bestFirst(found);
}
