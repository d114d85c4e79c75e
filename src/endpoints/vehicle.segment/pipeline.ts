/** Picture → vehicles with their outlines; of the largest a matte, with soft edges of a model that has a matting network. */
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';
import { type Size, toBoundingBox } from '../../inference/decoding/boxes.ts';
import { areaOf } from '../../inference/decoding/rotated-boxes.ts';
import type { MadePicture } from '../../inference/made-files.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createDetector, type Detection, OUTLINE_DECODERS } from '../../inference/pipelines/detector.ts';
import { createMatteMaker, largestFirst, touchesEdge } from '../../inference/pipelines/matting.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Found = Detection<(typeof VEHICLE_CLASSES)[number]>;

export const pipeline: PipelineDefinition = {
  task: 'vehicle-segmentation',
  create: (model) => {
    const detect = createDetector(model, VEHICLE_CLASSES, OUTLINE_DECODERS);
    const makeMatte = createMatteMaker(model);
    return async ({ pictures, parameters }) => {
      const picture = await onlyPicture(pictures);
      const found = largestFirst(await detect(picture));
      const [main] = found;
      const { include_matte: isMatteWanted }: Parameters = parameters;
      const vehicles = found.map((vehicle) => toVehicle(vehicle, vehicle === main, picture));
      const matte = main && isMatteWanted !== false ? greyPicture(picture, await makeMatte(picture, main)) : null;
      return { vehicles, matte };
    };
  },
};

function toVehicle(
  { label, confidence, box, outline }: Found,
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
  return { object: 'made_picture', width, height, channels: 1, pixels, format: 'png' };
}
