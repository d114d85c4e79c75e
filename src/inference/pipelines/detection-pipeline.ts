/** The pipeline of an endpoint whose result follows from what one detector finds in one picture. */
import type { RgbImage } from '../images/rgb-image.ts';
import type { Model } from '../models/model.ts';
import { onlyPicture, type PipelineDefinition, type PipelineInput } from '../pipeline.ts';
import { createDetector, type DETECTION_DECODERS, type Detection } from './detector.ts';

interface DetectionEndpoint<Label extends string, Parameters, Judgement> {
  task: string;
  /** What the classes of the model may be called. */
  labels: readonly Label[];
  /** Those that tell enough for the result; any, when left out. */
  decoders?: readonly (typeof DETECTION_DECODERS)[number][];
  /** Makes what judges the picture as a whole, from other files of the model. */
  createJudge: (model: Model) => (picture: RgbImage) => Promise<Judgement>;
  /** @param found the best first */
  toResult: (found: readonly Detection<Label>[], judgement: Judgement, parameters: Parameters) => unknown;
}

export function createDetectionPipeline<
  const Label extends string,
  Parameters extends PipelineInput['parameters'],
  Judgement,
>({
  task,
  labels,
  decoders,
  createJudge,
  toResult,
}: DetectionEndpoint<Label, Parameters, Judgement>): PipelineDefinition {
  return {
    task,
    create: (model) => {
      const detect = createDetector(model, labels, decoders);
      const judge = createJudge(model);
      return async ({ pictures, parameters }) => {
        const picture = await onlyPicture(pictures);
        // The request was held to the endpoint's schema when it came.
        return toResult(await detect(picture), await judge(picture), parameters as Parameters);
      };
    },
  };
}
