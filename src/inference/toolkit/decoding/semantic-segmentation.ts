/** Outputs of semantic segmentation (SegFormer, U-Net, DeepLab and similar), one picture per run. */
import type { FloatTensor } from '../../models/tensors.ts';
import type { Size } from './boxes.ts';
import { bestFirst, type Point, type RawDetection } from './detections.ts';
import { axisSteps, interpolateAt, interpolateLine } from './interpolate.ts';
import { findRegions, outlineOf, simplifyOutline } from './regions.ts';
import { boxAround } from './rotated-boxes.ts';

/** Simplification tolerance of an outline, in pixels of the input. */
const TOLERANCE_PIXELS = 1;

/**
 * The connected regions of each class, where a pixel's class is the maximum of the logits scaled bilinearly to the input.
 *
 * @param logits [1, classes, height, width], before the softmax; usually smaller than the input by a whole factor
 * @param size of the input, in pixels
 * @param isWanted whether to return regions of a class, false for the background
 * @param settings `score`: minimum mean probability of a region's pixels; `minimumPixels`: its minimum area in input pixels
 * @returns outlines and boxes in pixels of the input
 */
export function decodeSemanticSegmentation(
  logits: FloatTensor,
  size: Size,
  isWanted: (classIndex: number) => boolean,
  settings: { score: number; minimumPixels: number },
): (RawDetection & { outline: Point[] })[] {
  const { classes, probabilities } = classifyPixels(logits, size);
  const wanted = { ...size, classes: classes.map((classIndex) => (isWanted(classIndex) ? classIndex : -1)) };
  const found = findRegions(wanted, 4).flatMap((region) => {
    const { classIndex, pixels } = region;
    if (pixels.length < settings.minimumPixels) return [];
    const score = pixels.reduce((sum, pixel) => sum + (probabilities[pixel] ?? 0), 0) / pixels.length;
    if (score < settings.score) return [];
    const outline = outlineOf(region, size.width);
    return [{ classIndex, score, box: boxAround(outline), outline: simplifyOutline(outline, TOLERANCE_PIXELS) }];
  });
  return bestFirst(found);
}

/** Per pixel of the input, row by row: the class with the maximum logit, and its probability. */
function classifyPixels({ data, shape }: FloatTensor, { width, height }: Size) {
  const [batch, classes = 0, gridHeight = 0, gridWidth = 0] = shape;
  if (shape.length !== 4 || batch !== 1) {
    throw new Error(`logits of shape [${shape.join(', ')}] are not [1, classes, height, width]`);
  }
  const [columns, rows] = [axisSteps(gridWidth, width), axisSteps(gridHeight, height)];
  const best = new Int16Array(width * height);
  const greatest = new Float64Array(width * height).fill(Number.NEGATIVE_INFINITY);
  // Per pixel Σ exp(logit − maximum logit) over the classes so far; its reciprocal is the best class's probability.
  const sums = new Float64Array(width * height);
  const line = new Float64Array(gridWidth);
  for (let classIndex = 0; classIndex < classes; classIndex += 1) {
    const plane = data.subarray(classIndex * gridHeight * gridWidth, (classIndex + 1) * gridHeight * gridWidth);
    for (let y = 0; y < height; y += 1) {
      interpolateLine(plane, { width: gridWidth, rows, y }, line);
      for (let x = 0; x < width; x += 1) {
        const value = interpolateAt(line, columns, x);
        const pixel = y * width + x;
        const before = greatest[pixel] as number;
        const sum = sums[pixel] as number;
        if (value > before) {
          best[pixel] = classIndex;
          greatest[pixel] = value;
          sums[pixel] = sum * Math.exp(before - value) + 1;
        } else {
          sums[pixel] = sum + Math.exp(value - before);
        }
      }
    }
  }
  return { classes: best, probabilities: sums.map((sum) => 1 / sum) };
}
