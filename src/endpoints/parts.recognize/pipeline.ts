/**
 * Picture → its parts. Boxes come from a detector, or from the outlines of a model for vehicles and their parts. Neither returns
 * a subject, a main part or alternatives: those fields stay empty.
 */

import type { Model } from '../../inference/models/model.ts';
import { type Box, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createDetector } from '../../inference/toolkit/detection/detector.ts';
import { type NamedPart, partLabels, partOfLabel } from '../../inference/toolkit/detection/part-labels.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createPictureAssessor, type PictureAssessment } from '../../inference/toolkit/quality/picture-assessment.ts';
import { createPartReader } from '../../inference/toolkit/segmentation/part-reader.ts';
import { findsVehicleParts, VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

interface Recognized {
  parts: readonly (NamedPart & { confidence: number; box: Box })[];
  assessment: PictureAssessment;
}

export const pipeline: PipelineDefinition = {
  tasks: ['part-detection', VEHICLE_PARTS],
  create: (model) => {
    const recognize = findsVehicleParts(model) ? createPartReader(model) : createBoxReader(model);
    return async ({ pictures, parameters }) => {
      const requested: Parameters = parameters;
      const { parts, assessment } = await recognize(await onlyPicture(pictures));
      const mostConfidentFirst = parts.toSorted((a, b) => b.confidence - a.confidence);
      const result: Result = {
        ...assessment,
        subject: null,
        main_part: null,
        parts: mostConfidentFirst.map(({ part, side, confidence, box }) => ({
          part,
          side,
          confidence,
          bbox: toBoundingBox(box),
          alternatives: [],
        })),
      };
      return applyParameters(result, requested);
    };
  },
};

function createBoxReader(model: Model): (picture: RgbImage) => Promise<Recognized> {
  const detect = createDetector(model, partLabels);
  const assess = createPictureAssessor(model);
  return async (picture) => {
    const found = await detect(picture);
    const parts = found.map(({ label, confidence, box }) => ({ ...partOfLabel(label), confidence, box }));
    return { parts, assessment: await assess(picture) };
  };
}
