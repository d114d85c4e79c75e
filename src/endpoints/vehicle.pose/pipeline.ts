/** Picture → its view, and what spoils it. A classifier tells no angles and finds no vehicle: these stay null. */
import { IMAGE_QUALITY_REASONS, VIEWS } from '../../contracts/vocabulary/views.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createClassifier, createOptionalClassifier } from '../../inference/pipelines/classifier.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  task: 'view-classification',
  create: (model) => {
    const classifyView = createClassifier(model, 'view', VIEWS);
    // A picture without a vehicle says so by its null readings.
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
