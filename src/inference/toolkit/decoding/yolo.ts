/**
 * Outputs of Ultralytics YOLO exports (v8 and later) to ONNX, one picture per run. Coordinates are in pixels of the input.
 * Source: https://docs.ultralytics.com/modes/export, `ultralytics/utils/ops.py` and `nms.py`.
 */
import type { FloatTensor } from '../../models/tensors.ts';
import type { Box, Size } from './boxes.ts';
import { bestFirst, type Point, type RawDetection, suppressFast, suppressPerClass } from './detections.ts';
import { outlineOfMask } from './prototype-masks.ts';
import {
  boxAround,
  cornersOf,
  inReadingOrder,
  probabilisticOverlap,
  type Quad,
  type TurnedBox,
} from './rotated-boxes.ts';

export interface YoloSettings {
  /** Minimum score of a box's best class, 0 to 1. */
  score: number;
  /** Intersection over union above which the weaker of two boxes of a class is dropped. */
  overlap: number;
  /** Most results to keep, best first. */
  maximum: number;
}

/** A candidate with a sufficient score. */
interface Candidate extends RawDetection {
  /** Its index on the output's last axis. */
  column: number;
}

/**
 * Detection: one tensor [1, 4 + classes, candidates]. Rows: centre x, centre y, width, height in pixels of the input,
 * then the classes' scores, 0 to 1. A box has only its best class.
 */
export function decodeYoloDetection(output: FloatTensor, classes: number, settings: YoloSettings): RawDetection[] {
  requireRows(output, 4 + classes);
  return suppressPerClass(candidates(output, classes, settings.score), settings);
}

/**
 * Segmentation: [1, 4 + classes + M, candidates], rows as in detection, then M coefficients; and the prototypes
 * [1, M, height, width], usually a quarter of the input's size. Results without a pixel are dropped.
 */
export function decodeYoloSegmentation(
  { output, prototypes }: { output: FloatTensor; prototypes: FloatTensor },
  classes: number,
  size: Size,
  settings: YoloSettings,
): (RawDetection & { outline: Point[] })[] {
  const planes = prototypes.shape[1] ?? 0;
  requireRows(output, 4 + classes + planes);
  return suppressPerClass(candidates(output, classes, settings.score), settings).flatMap((candidate) => {
    const coefficients = rowsAt(output, candidate.column, 4 + classes, planes);
    const outline = outlineOfMask(prototypes, coefficients, candidate.box, size);
    return outline ? [{ ...candidate, outline }] : [];
  });
}

/**
 * Pose: [1, 4 + classes + keypoints × values, candidates], rows as in detection, then x and y of each keypoint in pixels of
 * the input and, if `values` is 3, its visibility.
 */
export function decodeYoloPose(
  output: FloatTensor,
  classes: number,
  settings: YoloSettings & { keypoints: number; values: 2 | 3 },
): (RawDetection & { keypoints: Point[] })[] {
  const { keypoints, values } = settings;
  requireRows(output, 4 + classes + keypoints * values);
  return suppressPerClass(candidates(output, classes, settings.score), settings).map((candidate) => {
    const rows = rowsAt(output, candidate.column, 4 + classes, keypoints * values);
    return { ...candidate, keypoints: pointsOf(rows, settings) };
  });
}

/**
 * Oriented boxes: [1, 4 + classes + 1, candidates], rows as in detection, then the angle in radians. Suppression compares them as
 * Gaussians and drops a box that any better one overlaps, as Ultralytics does.
 * @returns corners in reading order, and the upright box around them
 */
export function decodeYoloObb(
  output: FloatTensor,
  classes: number,
  settings: YoloSettings,
): (RawDetection & { corners: Quad })[] {
  requireRows(output, 4 + classes + 1);
  const turned = candidates(output, classes, settings.score).map(({ column, ...candidate }) => {
    const [x, y, width, height] = rowsAt(output, column, 0, 4) as [number, number, number, number];
    const [angle] = rowsAt(output, column, 4 + classes, 1) as [number];
    return { ...candidate, turned: { x, y, width, height, angle } };
  });
  return suppressFast(turned, settings, (one, other) => probabilisticOverlap(one.turned, other.turned)).map(
    withCorners,
  );
}

/**
 * Export with `nms=True`, or of a network without NMS (v10, YOLO26): one tensor [1, N, 6]. Each row: x0, y0, x1, y1 in
 * pixels of the input, score, class index. Unused rows have the score 0.
 */
export function decodeYoloEndToEnd(output: FloatTensor, settings: { score: number }): RawDetection[] {
  return finished(output, 0, settings.score).map(({ classIndex, score, box }) => ({ classIndex, score, box }));
}

/** The same for segmentation: [1, N, 6 + M], after the class index M coefficients; and the prototypes [1, M, height, width]. */
export function decodeYoloEndToEndSegmentation(
  { output, prototypes }: { output: FloatTensor; prototypes: FloatTensor },
  size: Size,
  settings: { score: number },
): (RawDetection & { outline: Point[] })[] {
  return finished(output, prototypes.shape[1] ?? 0, settings.score).flatMap(({ more, ...found }) => {
    const outline = outlineOfMask(prototypes, more, found.box, size);
    return outline ? [{ ...found, outline }] : [];
  });
}

/** The same for pose: [1, N, 6 + keypoints × values], after the class index x and y of each keypoint, and its visibility. */
export function decodeYoloEndToEndPose(
  output: FloatTensor,
  settings: { score: number; keypoints: number; values: 2 | 3 },
): (RawDetection & { keypoints: Point[] })[] {
  const { score, keypoints, values } = settings;
  return finished(output, keypoints * values, score).map(({ more, ...found }) => ({
    ...found,
    keypoints: pointsOf(more, settings),
  }));
}

/** The same for oriented boxes: [1, N, 7], centre x, centre y, width, height, score, class index, angle in radians. */
export function decodeYoloEndToEndObb(
  output: FloatTensor,
  settings: { score: number },
): (RawDetection & { corners: Quad })[] {
  return finished(output, 1, settings.score).map(({ box: { x0, y0, x1, y1 }, more, ...found }) =>
    // Here the four numbers are centre and size.
    withCorners({ ...found, turned: { x: x0, y: y0, width: x1, height: y1, angle: more[0] ?? 0 } }),
  );
}

/** Rows [1, N, 6 + more] of end-to-end exports, best first; `box` holds their first four numbers unchanged. */
function finished(
  { data, shape }: FloatTensor,
  more: number,
  leastScore: number,
): (RawDetection & { more: Float32Array })[] {
  const [batch, rows = 0, columns] = shape;
  if (shape.length !== 3 || batch !== 1 || columns !== 6 + more) {
    throw new Error(`a YOLO output of shape [${shape.join(', ')}] is not [1, N, ${6 + more}]`);
  }
  const found = Array.from({ length: rows }, (_, row) => {
    const values = data.subarray(row * columns, (row + 1) * columns);
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, score = 0, classIndex = 0] = values;
    return { classIndex: Math.round(classIndex), score, box: { x0, y0, x1, y1 }, more: values.subarray(6) };
  });
  return bestFirst(found.filter(({ score }) => score >= leastScore));
}

function withCorners<Found extends { turned: TurnedBox }>({ turned, ...found }: Found) {
  const { x, y, width, height, angle } = turned;
  const corners = inReadingOrder(cornersOf({ x, y }, width, height, angle));
  return { ...found, box: boxAround(corners), corners };
}

function pointsOf(rows: ArrayLike<number>, { keypoints, values }: { keypoints: number; values: 2 | 3 }): Point[] {
  return Array.from({ length: keypoints }, (_, index) => ({
    x: rows[index * values] as number,
    y: rows[index * values + 1] as number,
  }));
}

/** Columns whose best class reaches `leastScore`, best first. */
function candidates({ data, shape }: FloatTensor, classes: number, leastScore: number): Candidate[] {
  const columns = shape[2] ?? 0;
  const found: Candidate[] = [];
  for (let column = 0; column < columns; column += 1) {
    let classIndex = 0;
    let score = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < classes; index += 1) {
      const value = data[(4 + index) * columns + column] as number;
      if (value > score) [classIndex, score] = [index, value];
    }
    if (score >= leastScore) found.push({ classIndex, score, box: boxAt(data, columns, column), column });
  }
  return bestFirst(found);
}

function boxAt(data: Float32Array, columns: number, column: number): Box {
  const at = (row: number) => data[row * columns + column] as number;
  const [halfWidth, halfHeight] = [at(2) / 2, at(3) / 2];
  return { x0: at(0) - halfWidth, y0: at(1) - halfHeight, x1: at(0) + halfWidth, y1: at(1) + halfHeight };
}

/** `count` values of one column, from row `first` on. */
function rowsAt({ data, shape }: FloatTensor, column: number, first: number, count: number): number[] {
  const columns = shape[2] ?? 0;
  return Array.from({ length: count }, (_, row) => data[(first + row) * columns + column] as number);
}

function requireRows({ shape }: FloatTensor, rows: number): void {
  if (shape.length === 3 && shape[0] === 1 && shape[1] === rows) return;
  throw new Error(`a YOLO output of shape [${shape.join(', ')}] is not [1, ${rows}, candidates]`);
}
