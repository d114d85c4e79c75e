/** Picture → the engine bay and its parts, and the propulsion if the model has a classifier for it. */
import { ENGINE_PARTS } from '../../contracts/vocabulary/engine-parts.ts';
import { PROPULSIONS } from '../../contracts/vocabulary/vehicles.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createOptionalClassifier } from '../../inference/toolkit/detection/classifier.ts';
import { createDetectionPipeline } from '../../inference/toolkit/detection/detection-pipeline.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

const ENGINE_BAY = 'engine_bay';

export const pipeline = createDetectionPipeline({
  tasks: ['engine-part-detection'],
  labels: [...ENGINE_PARTS, ENGINE_BAY],
  createAssessor: (model) => createOptionalClassifier(model, 'propulsion', PROPULSIONS),
  toResult: (found, [propulsion], parameters: Parameters) => {
    const bay = found.find(({ label }) => label === ENGINE_BAY);
    const result: Result = {
      engine_bay: bay ? { confidence: bay.confidence, bbox: toBoundingBox(bay.box) } : null,
      propulsion: propulsion ? { value: propulsion.label, confidence: propulsion.confidence } : null,
      parts: found.flatMap(({ label, confidence, box }) =>
        label === ENGINE_BAY ? [] : [{ part: label, confidence, bbox: toBoundingBox(box) }],
      ),
    };
    return applyParameters(result, parameters);
  },
});
