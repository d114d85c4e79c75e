/** Masks as Ultralytics YOLO segmentation gives them: a sum of prototypes, cut to the box. */
import type { FloatTensor } from '../models/model.ts';
import type { Box, Size } from './boxes.ts';
import type { Point } from './detections.ts';
import { axisSteps, interpolateAt, interpolateLine } from './interpolate.ts';
import { findRegions, outlineOf, simplifyOutline } from './regions.ts';

/** Of an outline, in pixels of the input. */
const TOLERANCE_PIXELS = 1;

/**
 * The outline of one thing: the prototypes weighted and summed, 0 outside the box, scaled up bilinearly, and above 0.
 * Of several pieces the largest.
 *
 * @param prototypes [1, M, height, width], a plane for each coefficient
 * @param coefficients M weights
 * @param box in pixels of the input
 * @param size of the input
 * @returns in pixels of the input; null where nothing lies above 0
 * Source: `process_mask` in `ultralytics/utils/ops.py`.
 */
export function outlineOfMask(
  prototypes: FloatTensor,
  coefficients: ArrayLike<number>,
  box: Box,
  size: Size,
): Point[] | null {
  const [batch, planes, height = 0, width = 0] = prototypes.shape;
  if (batch !== 1 || planes !== coefficients.length) {
    throw new Error(
      `prototypes of shape [${prototypes.shape.join(', ')}] are not [1, ${coefficients.length}, height, width]`,
    );
  }
  const sums = sumWithin(
    prototypes.data,
    coefficients,
    { width, height },
    scaled(box, width / size.width, height / size.height),
  );
  const [columns, rows] = [axisSteps(width, size.width), axisSteps(height, size.height)];
  // Beyond the box the sums are 0, and from there they fade within a cell.
  const [marginX, marginY] = [Math.ceil(size.width / width), Math.ceil(size.height / height)];
  const left = Math.max(0, Math.floor(box.x0) - marginX);
  const top = Math.max(0, Math.floor(box.y0) - marginY);
  const right = Math.min(size.width, Math.ceil(box.x1) + marginX);
  const bottom = Math.min(size.height, Math.ceil(box.y1) + marginY);
  const map = { width: right - left, height: bottom - top, classes: new Int16Array(0) };
  if (map.width <= 0 || map.height <= 0) return null;
  map.classes = new Int16Array(map.width * map.height);
  const line = new Float64Array(width);
  for (let y = 0; y < map.height; y += 1) {
    interpolateLine(sums, { width, rows, y: y + top }, line);
    for (let x = 0; x < map.width; x += 1) {
      map.classes[y * map.width + x] = interpolateAt(line, columns, x + left) > 0 ? 0 : -1;
    }
  }
  const [largest] = findRegions(map, 4).toSorted((a, b) => b.pixels.length - a.pixels.length);
  if (!largest) return null;
  return simplifyOutline(outlineOf(largest, map.width), TOLERANCE_PIXELS).map(({ x, y }) => ({
    x: x + left,
    y: y + top,
  }));
}

/** Σ coefficient × plane for the cells whose index lies within the box, 0 for the others: [height, width]. */
function sumWithin(
  data: Float32Array,
  coefficients: ArrayLike<number>,
  { width, height }: Size,
  box: Box,
): Float32Array {
  const sums = new Float32Array(width * height);
  for (let y = Math.max(0, Math.ceil(box.y0)); y < Math.min(height, box.y1); y += 1) {
    for (let x = Math.max(0, Math.ceil(box.x0)); x < Math.min(width, box.x1); x += 1) {
      let sum = 0;
      for (let plane = 0; plane < coefficients.length; plane += 1) {
        sum += (coefficients[plane] as number) * (data[(plane * height + y) * width + x] as number);
      }
      sums[y * width + x] = sum;
    }
  }
  return sums;
}

function scaled({ x0, y0, x1, y1 }: Box, scaleX: number, scaleY: number): Box {
  return { x0: x0 * scaleX, y0: y0 * scaleY, x1: x1 * scaleX, y1: y1 * scaleY };
}
