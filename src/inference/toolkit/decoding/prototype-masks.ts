/** Masks of Ultralytics YOLO segmentation: a weighted sum of prototypes, cropped to the box. */
import type { FloatTensor } from '../../models/tensors.ts';
import type { Box, Size } from './boxes.ts';
import type { Point } from './detections.ts';
import { axisSteps, interpolateAt, interpolateLine } from './interpolate.ts';
import { findRegions, outlineOf, simplifyOutline } from './regions.ts';

/** Simplification tolerance of an outline, in pixels of the input. */
const TOLERANCE_PIXELS = 1;

/**
 * The outline of one object: where the weighted sum of prototypes, scaled up bilinearly, exceeds 0 within the box. Only the
 * largest piece counts.
 *
 * @param prototypes [1, M, height, width], a plane for each coefficient
 * @param coefficients M weights
 * @param box in pixels of the input
 * @param size of the input
 * @returns in pixels of the input; null when no pixel exceeds 0
 * Source: `process_mask` in `ultralytics/utils/ops.py`, since release 8.4. Earlier releases cropped before scaling,
 * which smeared the edges.
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
  // The pixels whose index lies within the box.
  const [left, top] = [Math.max(0, Math.ceil(box.x0)), Math.max(0, Math.ceil(box.y0))];
  const [right, bottom] = [Math.min(size.width, Math.ceil(box.x1)), Math.min(size.height, Math.ceil(box.y1))];
  const map = { width: right - left, height: bottom - top, classes: new Int16Array(0) };
  if (map.width <= 0 || map.height <= 0) return null;
  const [columns, rows] = [axisSteps(width, size.width), axisSteps(height, size.height)];
  const sums = weightedSum(prototypes.data, coefficients, { width, height }, [
    rows.first[top] as number,
    rows.second[bottom - 1] as number,
  ]);
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

/** Σ coefficient × plane, [height, width], computed for the given lines only. */
function weightedSum(
  data: Float32Array,
  coefficients: ArrayLike<number>,
  { width, height }: Size,
  [firstLine, lastLine]: readonly [number, number],
): Float32Array {
  const sums = new Float32Array(width * height);
  for (let plane = 0; plane < coefficients.length; plane += 1) {
    const coefficient = coefficients[plane] as number;
    const start = plane * height * width;
    for (let cell = firstLine * width; cell < (lastLine + 1) * width; cell += 1) {
      sums[cell] = (sums[cell] as number) + coefficient * (data[start + cell] as number);
    }
  }
  return sums;
}
