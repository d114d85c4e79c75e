/**
 * Picture → its view and defects. The view comes from a classifier, or by a rule from the parts that a model for vehicles and
 * their parts finds; such a model also tells where the vehicle is and whether the picture cuts it off. Neither determines angles.
 */
import { IMAGE_QUALITY_REASONS, VIEWS } from '../../contracts/vocabulary/pictures.ts';
import type { Model } from '../../inference/models/model.ts';
import { createClassifier, createOptionalClassifier } from '../../inference/toolkit/detection/classifier.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createPartReader } from '../../inference/toolkit/segmentation/part-reader.ts';
import { findsVehicleParts, VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { applyParameters } from './apply-parameters.ts';
import { describeFraming } from './describe-framing.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Seen = Pick<Result, 'view' | 'vehicle' | 'framing'>;

export const pipeline: PipelineDefinition = {
  tasks: ['view-classification', VEHICLE_PARTS],
  create: (model) => {
    const see = findsVehicleParts(model) ? createVehicleReader(model) : createViewReader(model);
    // Null readings already state that there is no vehicle.
    const reasons = IMAGE_QUALITY_REASONS.filter((reason) => reason !== 'no_vehicle');
    const classifyQuality = createOptionalClassifier(model, 'quality', reasons);
    return async ({ pictures, parameters }) => {
      const requested: Parameters = parameters;
      const picture = await onlyPicture(pictures);
      const seen = await see(picture);
      const issues = await classifyQuality(picture);
      const result: Result = {
        ...seen,
        camera: null,
        quality_issues: issues.map(({ label, confidence }) => ({ reason: label, confidence })),
        matches_expected_view: null,
      };
      return applyParameters(result, requested);
    };
  },
};

function createViewReader(model: Model): (picture: RgbImage) => Promise<Seen> {
  const classifyView = createClassifier(model, 'view', VIEWS);
  return async (picture) => {
    const [view] = await classifyView(picture);
    return { view: view ? { value: view.label, confidence: view.confidence } : null, vehicle: null, framing: null };
  };
}

function createVehicleReader(model: Model): (picture: RgbImage) => Promise<Seen> {
  const read = createPartReader(model);
  return async (picture) => {
    const {
      vehicles: [main],
      assessment: { view },
    } = await read(picture);
    return { view, ...(main ? describeFraming(main, picture) : { vehicle: null, framing: null }) };
  };
}
