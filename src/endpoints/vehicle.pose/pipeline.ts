/** Picture → its view and defects. A classifier determines neither angles nor a vehicle box: those fields stay null. */
import { IMAGE_QUALITY_REASONS, VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { createClassifier, createOptionalClassifier } from '../../inference/toolkit/detection/classifier.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['view-classification'],
  create: (model) => {
    const classifyView = createClassifier(model, 'view', VIEWS);
    // Null readings already state that there is no vehicle.
    const reasons = IMAGE_QUALITY_REASONS.filter((reason) => reason !== 'no_vehicle');
    const classifyQuality = createOptionalClassifier(model, 'quality', reasons);
    return async ({ pictures, parameters }) => {
      const picture = await onlyPicture(pictures);
      const [view] = await classifyView(picture);
      const issues = await classifyQuality(picture);
      const result: Result = {
        view: view ? { value: view.label, confidence: view.confidence } : null,
        camera: null,
        vehicle: null,
        framing: null,
        quality_issues: issues.map(({ label, confidence }) => ({ reason: label, confidence })),
        matches_expected_view: null,
      };
      return applyParameters(result, parameters);
    };
  },
};
