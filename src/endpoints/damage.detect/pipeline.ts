/**
 * Picture → damages with outlines. A segmentation network does not know the part of a damage, its size or the parts that it
 * examined: those fields stay null, and `parts_seen` empty.
 */
import { DAMAGE_TYPES } from '../../contracts/vocabulary/damages.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createDetectionPipeline } from '../../inference/toolkit/detection/detection-pipeline.ts';
import { OUTLINE_DECODERS } from '../../inference/toolkit/detection/detector.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

export const pipeline = createDetectionPipeline({
  tasks: ['damage-segmentation'],
  labels: DAMAGE_TYPES,
  decoders: OUTLINE_DECODERS,
  createAssessor: createPictureAssessor,
  toResult: (found, assessment, parameters: Parameters) => {
    const result: Result = {
      ...assessment,
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
