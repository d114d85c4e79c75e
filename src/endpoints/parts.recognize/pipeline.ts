/** Picture → the parts it shows. A detector names no subject, no main part and no alternatives: none are stated. */
import { toBoundingBox } from '../../inference/decoding/boxes.ts';
import { createDetectionPipeline } from '../../inference/pipelines/detection-pipeline.ts';
import { partLabels, partOfLabel } from '../../inference/pipelines/part-labels.ts';
import { createPictureJudge } from '../../inference/pipelines/picture-judge.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

export const pipeline = createDetectionPipeline({
  task: 'part-detection',
  labels: partLabels,
  createJudge: createPictureJudge,
  toResult: (found, judgement, parameters: Parameters) => {
    const result: Result = {
      ...judgement,
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
