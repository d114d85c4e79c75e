/** Outputs of semantic segmentation (SegFormer, U-Net, DeepLab and similar), one picture per run. */
import type { FloatTensor } from '../../models/tensors.ts';
import type { Size } from './boxes.ts';
import { bestFirst, type Point, type RawDetection } from './detections.ts';
import { axisSteps, interpolateAt, interpolateLine } from './interpolate.ts';
import { findRegions, outlineOf, type Region, simplifyOutline } from './regions.ts';
import { boxAround } from './rotated-boxes.ts';

/** Simplification tolerance of an outline, in pixels of the input. */
const TOLERANCE_PIXELS = 1;

export interface SegmentationSettings {
  /** Minimum mean probability of a region's pixels. */
  score: number;
  /** Minimum area of a region, in pixels of the input. */
  minimumPixels: number;
  /**
   * Joins the wanted classes: a region is made of the pixels whose wanted classes together have at least this probability, and
   * is of the class with the largest share of it. Without it, each class has regions of its own.
   */
  joined?: number;
}

/**
 * The connected regions of each class, where a pixel's class is the maximum of the logits scaled bilinearly to the input.
 *
 * @param logits [1, classes, height, width], before the softmax; usually smaller than the input by a whole factor
 * @param size of the input, in pixels
 * @param isWanted whether to return regions of a class, false for the background
 * @returns outlines and boxes in pixels of the input
 */
export function decodeSemanticSegmentation(
  logits: FloatTensor,
  size: Size,
  isWanted: (classIndex: number) => boolean,
  settings: SegmentationSettings,
): (RawDetection & { outline: Point[] })[] {
  const { regions, probabilities, classOf } =
    settings.joined === undefined
      ? separateRegions(logits, size, isWanted)
      : joinedRegions(logits, size, isWanted, settings.joined);
  const found = regions.flatMap((region) => {
    const { pixels } = region;
    if (pixels.length < settings.minimumPixels) return [];
    const score = pixels.reduce((sum, pixel) => sum + (probabilities[pixel] ?? 0), 0) / pixels.length;
    if (score < settings.score) return [];
    const outline = outlineOf(region, size.width);
    const box = boxAround(outline);
    return [{ classIndex: classOf(region), score, box, outline: simplifyOutline(outline, TOLERANCE_PIXELS) }];
  });
  return bestFirst(found);
}

interface Regions {
  regions: Region[];
  /** Per pixel, that of what its region shows. */
  probabilities: Float64Array;
  classOf: (region: Region) => number;
}

function separateRegions(logits: FloatTensor, size: Size, isWanted: (classIndex: number) => boolean): Regions {
  const { classes, probabilities } = classifyPixels(logits, size);
  const wanted = { ...size, classes: classes.map((classIndex) => (isWanted(classIndex) ? classIndex : -1)) };
  return { regions: findRegions(wanted, 4), probabilities, classOf: ({ classIndex }) => classIndex };
}

function joinedRegions(
  logits: FloatTensor,
  size: Size,
  isWanted: (classIndex: number) => boolean,
  least: number,
): Regions {
  const planes = probabilityPlanes(logits, size);
  const wanted = [...planes.keys()].filter(isWanted);
  const probabilities = new Float64Array(size.width * size.height);
  for (const classIndex of wanted) {
    planes[classIndex]?.forEach((probability, pixel) => {
      probabilities[pixel] = (probabilities[pixel] as number) + probability;
    });
  }
  const classes = Int16Array.from(probabilities, (probability) => (probability >= least ? 0 : -1));
  const within = ({ pixels }: Region, classIndex: number) =>
    pixels.reduce((sum, pixel) => sum + (planes[classIndex]?.[pixel] ?? 0), 0);
  return {
    regions: findRegions({ ...size, classes }, 4),
    probabilities,
    classOf: (region) => {
      const shares = wanted.map((classIndex) => within(region, classIndex));
      return wanted[shares.indexOf(Math.max(...shares))] as number;
    },
  };
}

/** The softmax of the logits scaled bilinearly to the input: a plane for each class. */
function probabilityPlanes(logits: FloatTensor, { width, height }: Size): Float64Array[] {
  const { classes, gridWidth, gridHeight } = gridOf(logits);
  const [columns, rows] = [axisSteps(gridWidth, width), axisSteps(gridHeight, height)];
  const line = new Float64Array(gridWidth);
  const planes = Array.from({ length: classes }, (_, classIndex) => {
    const grid = logits.data.subarray(classIndex * gridHeight * gridWidth, (classIndex + 1) * gridHeight * gridWidth);
    const plane = new Float64Array(width * height);
    for (let y = 0; y < height; y += 1) {
      interpolateLine(grid, { width: gridWidth, rows, y }, line);
      for (let x = 0; x < width; x += 1) plane[y * width + x] = interpolateAt(line, columns, x);
    }
    return plane;
  });
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const greatest = planes.reduce((most, plane) => Math.max(most, plane[pixel] as number), Number.NEGATIVE_INFINITY);
    let sum = 0;
    for (const plane of planes) {
      plane[pixel] = Math.exp((plane[pixel] as number) - greatest);
      sum += plane[pixel] as number;
    }
    for (const plane of planes) plane[pixel] = (plane[pixel] as number) / sum;
  }
  return planes;
}

/** @throws Error for logits of another shape than [1, classes, height, width] */
function gridOf({ shape }: FloatTensor): { classes: number; gridHeight: number; gridWidth: number } {
  const [batch, classes = 0, gridHeight = 0, gridWidth = 0] = shape;
  if (shape.length !== 4 || batch !== 1) {
    throw new Error(`logits of shape [${shape.join(', ')}] are not [1, classes, height, width]`);
  }
  return { classes, gridHeight, gridWidth };
}

/** Per pixel of the input, row by row: the class with the maximum logit, and its probability. */
function classifyPixels(logits: FloatTensor, { width, height }: Size) {
  const { classes, gridHeight, gridWidth } = gridOf(logits);
  const [columns, rows] = [axisSteps(gridWidth, width), axisSteps(gridHeight, height)];
  const best = new Int16Array(width * height);
  const greatest = new Float64Array(width * height).fill(Number.NEGATIVE_INFINITY);
  // Per pixel Σ exp(logit − maximum logit) over the classes so far; its reciprocal is the best class's probability.
  const sums = new Float64Array(width * height);
  const line = new Float64Array(gridWidth);
  for (let classIndex = 0; classIndex < classes; classIndex += 1) {
    const plane = logits.data.subarray(classIndex * gridHeight * gridWidth, (classIndex + 1) * gridHeight * gridWidth);
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
