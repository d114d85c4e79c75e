/** Outputs of the DETR family (RT-DETR, RF-DETR, D-FINE and similar), one picture per run. None needs suppression. */
import type { FloatTensor } from '../../models/tensors.ts';
import type { Box } from './boxes.ts';
import { indexOfMaximum, sigmoid, softmax } from './classification.ts';
import { bestFirst, type RawDetection } from './detections.ts';

/**
 * Raw outputs, as exported by RF-DETR (`dets`, `labels`) and Hugging Face Transformers (`pred_boxes`, `logits`). Each class
 * of each query is a separate candidate.
 *
 * @param boxes [1, queries, 4]: centre x, centre y, width, height, as shares of the input's width and height
 * @param logits [1, queries, classes]: before the sigmoid
 * @param size of the input, in pixels
 * Source: `PostProcess` of RF-DETR and Deformable DETR, `post_process_object_detection` of RT-DETR in Transformers.
 */
export function decodeDetr(
  boxes: FloatTensor,
  logits: FloatTensor,
  size: { width: number; height: number },
  settings: { score: number; maximum: number },
): RawDetection[] {
  const { columns: classes } = queriesOf(boxes, logits);
  const found: RawDetection[] = [];
  logits.data.forEach((logit, place) => {
    const score = sigmoid(logit);
    if (score < settings.score) return;
    const box = boxOfShares(boxes.data, Math.floor(place / classes) * 4, size);
    found.push({ classIndex: place % classes, score, box });
  });
  return bestFirst(found).slice(0, settings.maximum);
}

/**
 * The original DETR and other networks with a softmax: the most probable class of each query. The network's last class, for
 * no object, has no label.
 *
 * @param boxes [1, queries, 4], as above
 * @param logits [1, queries, classes + 1]: before the softmax
 * Source: `post_process_object_detection` of DETR in Transformers.
 */
export function decodeDetrSoftmax(
  boxes: FloatTensor,
  logits: FloatTensor,
  size: { width: number; height: number },
  settings: { score: number; maximum: number },
): RawDetection[] {
  const { queries, columns } = queriesOf(boxes, logits);
  const found = Array.from({ length: queries }, (_, query): RawDetection => {
    const shares = softmax(logits.data.subarray(query * columns, (query + 1) * columns)).subarray(0, -1);
    const classIndex = indexOfMaximum(shares);
    return { classIndex, score: shares[classIndex] ?? 0, box: boxOfShares(boxes.data, query * 4, size) };
  });
  return bestFirst(found.filter(({ score }) => score >= settings.score)).slice(0, settings.maximum);
}

/**
 * RT-DETR as Ultralytics exports it.
 *
 * @param output [1, N, 6]: centre x, centre y, width, height, as shares of the input's width and height; score; class index
 * @param size of the input, in pixels
 * Source: `RTDETRPredictor` in `ultralytics/models/rtdetr/predict.py`.
 */
export function decodeUltralyticsRtDetr(
  output: FloatTensor,
  size: { width: number; height: number },
  settings: { score: number },
): RawDetection[] {
  const found = Array.from({ length: rowsOf(output, 6) }, (_, row): RawDetection => {
    const [score = 0, classIndex = 0] = output.data.subarray(row * 6 + 4, row * 6 + 6);
    return { classIndex: Math.round(classIndex), score, box: boxOfShares(output.data, row * 6, size) };
  });
  return bestFirst(found.filter(({ score }) => score >= settings.score));
}

/** Centre x, centre y, width, height at index `place`, as shares of the input → corners in pixels of the input. */
function boxOfShares(data: Float32Array, place: number, size: { width: number; height: number }): Box {
  const [x = 0, y = 0, width = 0, height = 0] = data.subarray(place, place + 4);
  return {
    x0: (x - width / 2) * size.width,
    y0: (y - height / 2) * size.height,
    x1: (x + width / 2) * size.width,
    y1: (y + height / 2) * size.height,
  };
}

/**
 * Exports with built-in post-processing from the repositories of RT-DETR, D-FINE and DEIM. Their second input,
 * `orig_target_sizes` [1, 2] int64, is the width and height of the input, so that boxes are in its pixels.
 *
 * @param boxes [1, N, 4]: x0, y0, x1, y1 in pixels of the input
 * @param scores [1, N], 0 to 1
 * @param labels N class indexes
 * Source: `deploy` of `RTDETRPostProcessor` and `DFINEPostProcessor`.
 */
export function decodeDetrWithPostprocessor(
  boxes: FloatTensor,
  scores: FloatTensor,
  labels: readonly number[],
  settings: { score: number },
): RawDetection[] {
  const rows = rowsOf(boxes, 4);
  if (scores.data.length !== rows || labels.length !== rows) {
    throw new Error(`${scores.data.length} scores and ${labels.length} labels do not match ${rows} boxes`);
  }
  const found = labels.map((classIndex, row): RawDetection => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = boxes.data.subarray(row * 4, row * 4 + 4);
    return { classIndex, score: scores.data[row] ?? 0, box: { x0, y0, x1, y1 } };
  });
  return bestFirst(found.filter(({ score }) => score >= settings.score));
}

/** Numbers of queries and of logits per query. @throws Error when boxes and logits do not match */
function queriesOf(boxes: FloatTensor, logits: FloatTensor): { queries: number; columns: number } {
  const queries = rowsOf(boxes, 4);
  const columns = logits.shape[2] ?? 0;
  if (rowsOf(logits, columns) === queries) return { queries, columns };
  throw new Error(`logits of shape [${logits.shape.join(', ')}] do not match ${queries} boxes`);
}

/** Number of rows of a tensor [1, rows, columns]. @throws Error for another shape */
function rowsOf({ shape }: FloatTensor, columns: number): number {
  const [batch, rows = 0, last] = shape;
  if (shape.length === 3 && batch === 1 && last === columns) return rows;
  throw new Error(`a tensor of shape [${shape.join(', ')}] is not [1, queries, ${columns}]`);
}
