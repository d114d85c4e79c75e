/**
 * Picture → damages with their outlines. A segmentation network knows neither the part that a damage is on, nor its size,
 * nor which parts were examined: they stay null, and `parts_seen` empty.
 */
import { DAMAGE_TYPES } from '../../contracts/vocabulary/damages.ts';
import { toBoundingBox } from '../../inference/decoding/boxes.ts';
import { createDetectionPipeline } from '../../inference/pipelines/detection-pipeline.ts';
import { OUTLINE_DECODERS } from '../../inference/pipelines/detector.ts';
import { createPictureJudge } from '../../inference/pipelines/picture-judge.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

export const pipeline = createDetectionPipeline({
  task: 'damage-segmentation',
  labels: DAMAGE_TYPES,
  decoders: OUTLINE_DECODERS,
  createJudge: createPictureJudge,
  toResult: (found, judgement, parameters: Parameters) => {
    const result: Result = {
      ...judgement,
      parts_seen: [],
      damages: found.map(({ label, confidence, box, outline }, index) => ({
        id: `damage_${index + 1}`,
        type: label,
        part: null,
        side: null,
        confidence,
        bbox: toBoundingBox(box),
        polygon: toPolygon(outline),
        size: null,
      })),
    };
    return applyParameters(result, parameters);
  },
});
