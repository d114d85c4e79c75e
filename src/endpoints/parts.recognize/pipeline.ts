/** Picture → its parts. A detector returns no subject, main part or alternatives: those fields stay empty. */
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createDetectionPipeline } from '../../inference/toolkit/detection/detection-pipeline.ts';
import { partLabels, partOfLabel } from '../../inference/toolkit/detection/part-labels.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

export const pipeline = createDetectionPipeline({
  tasks: ['part-detection'],
  labels: partLabels,
  createAssessor: createPictureAssessor,
  toResult: (found, assessment, parameters: Parameters) => {
    const result: Result = {
      ...assessment,
      subject: null,
      main_part: null,
      parts: found.map(({ label, confidence, box }) => ({
        ...partOfLabel(label),
        confidence,
        bbox: toBoundingBox(box),
        alternatives: [],
      })),
    };
    return applyParameters(result, parameters);
  },
});
