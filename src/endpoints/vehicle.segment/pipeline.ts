/** Picture → vehicles with outlines, and a matte of the largest, with soft edges if the model has a matting network. */
import { type Size, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { areaOf } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createMatteMaker, touchesEdge } from '../../inference/toolkit/segmentation/matting.ts';
import { toPolygon } from '../../inference/toolkit/segmentation/polygon.ts';
import { createRefinedOutliner, type OutlinedVehicle } from '../../inference/toolkit/segmentation/vehicle-outlines.ts';
import { VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['vehicle-segmentation', VEHICLE_PARTS],
  create: (model) => {
    const outline = createRefinedOutliner(model);
    const makeMatte = createMatteMaker(model);
    return async ({ pictures, parameters }) => {
      const picture = await onlyPicture(pictures);
      const found = await outline(picture);
      const [main] = found;
      const { include_matte: isMatteWanted }: Parameters = parameters;
      const vehicles = found.map((vehicle) => toVehicle(vehicle, vehicle === main, picture));
      const matte = main && isMatteWanted !== false ? greyPicture(picture, await makeMatte(picture, main)) : null;
      return { vehicles, matte };
    };
  },
};

function toVehicle(
  { label, confidence, box, outline }: OutlinedVehicle,
  isMain: boolean,
  picture: Size,
): Result['vehicles'][number] {
  return {
    class: label,
    confidence,
    is_main: isMain,
    is_cut_off: touchesEdge(box, picture),
    bbox: toBoundingBox(box),
    polygon: toPolygon(outline),
    area_fraction: Math.min(1, areaOf(outline ?? []) / (picture.width * picture.height)),
  };
}

function greyPicture({ width, height }: Size, pixels: Uint8Array): MadePicture {
  return { object: 'made_picture', width, height, channels: 1, pixels, format: 'png', edits: ['matte'] };
}
