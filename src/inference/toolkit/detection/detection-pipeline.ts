/** The pipeline of an endpoint whose result follows from one detector on one picture. */

import type { Model } from '../../models/model.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition, type PipelineInput } from '../pipeline.ts';
import { createDetector, type DETECTION_DECODERS, type Detection } from './detector.ts';

interface DetectionEndpoint<Label extends string, Parameters, Assessment> {
  tasks: readonly string[];
  /** Allowed labels of the model. */
  labels: readonly Label[];
  /** Decoders that return enough for the result; any by default. */
  decoders?: readonly (typeof DETECTION_DECODERS)[number][];
  /** Assesses the picture as a whole, with other files of the model. */
  createAssessor: (model: Model) => (picture: RgbImage) => Promise<Assessment>;
  /** @param found best first */
  toResult: (found: readonly Detection<Label>[], assessment: Assessment, parameters: Parameters) => unknown;
}

export function createDetectionPipeline<
  const Label extends string,
  Parameters extends PipelineInput['parameters'],
  Assessment,
>({
  tasks,
  labels,
  decoders,
  createAssessor,
  toResult,
}: DetectionEndpoint<Label, Parameters, Assessment>): PipelineDefinition {
  return {
    tasks,
    create: (model) => {
      const detect = createDetector(model, labels, decoders);
      const assess = createAssessor(model);
      return async ({ pictures, parameters }) => {
        const picture = await onlyPicture(pictures);
        // Admission validated the parameters against the endpoint's schema.
        return toResult(await detect(picture), await assess(picture), parameters as Parameters);
      };
    },
  };
}
