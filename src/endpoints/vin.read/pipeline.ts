/**
 * Picture → characters, each with its box → the VIN that they spell from left to right. Anything but seventeen characters
 * is no VIN, and the network does not know where on the vehicle it sits.
 */
import { type Box, suppressOverlaps, toBoundingBox } from '../../inference/decoding/boxes.ts';
import { boxAround } from '../../inference/decoding/rotated-boxes.ts';
import { createDetectionPipeline } from '../../inference/pipelines/detection-pipeline.ts';
import type { Detection } from '../../inference/pipelines/detector.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import { applyParameters } from './apply-parameters.ts';
import { checkDigit } from './check-digit.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

const LENGTH = 17;
/** I, O and Q are not used in a VIN. */
const CHARACTERS = Array.from('ABCDEFGHJKLMNPRSTUVWXYZ0123456789');
/** Two characters that overlap by more are two readings of one. */
const SAME_PLACE = 0.5;

export const pipeline = createDetectionPipeline({
  task: 'vin-character-detection',
  labels: CHARACTERS,
  createJudge: () => async () => null,
  toResult: (found, _, parameters: Parameters) => applyParameters({ vin: vinOf(found) }, parameters),
});

function vinOf(found: readonly Detection<string>[]): Result['vin'] {
  const line = suppressOverlaps(found, SAME_PLACE).toSorted((a, b) => a.box.x0 - b.box.x0);
  const [first, last] = [line[0], line.at(-1)];
  if (line.length !== LENGTH || !first || !last) return null;
  const text = line.map(({ label }) => label).join('');
  return {
    text,
    confidence: Math.min(...line.map(({ confidence }) => confidence)),
    characters: line.map(({ label, confidence, box }) => ({ character: label, confidence, bbox: toBoundingBox(box) })),
    location: null,
    bbox: toBoundingBox(boxAround(line.flatMap(({ box }) => cornersOf(box)))),
    // The line may rise or fall: from the outer edge of the first character to that of the last.
    quad: toPolygon([
      { x: first.box.x0, y: first.box.y0 },
      { x: last.box.x1, y: last.box.y0 },
      { x: last.box.x1, y: last.box.y1 },
      { x: first.box.x0, y: first.box.y1 },
    ]),
    check_digit: checkDigit(text),
  };
}

function cornersOf({ x0, y0, x1, y1 }: Box) {
  return [
    { x: x0, y: y0 },
    { x: x1, y: y1 },
  ];
}
