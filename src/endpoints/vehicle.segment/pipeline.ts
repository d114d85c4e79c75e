/** Picture → vehicles with their outlines; of the largest a matte, with soft edges of a model that has a matting network. */
import { Type } from 'typebox';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';
import { type Box, expandBox, type Size, toBoundingBox } from '../../inference/decoding/boxes.ts';
import { decodeAlpha, fillOutline } from '../../inference/decoding/mattes.ts';
import { areaOf } from '../../inference/decoding/rotated-boxes.ts';
import type { RgbImage } from '../../inference/images/rgb-image.ts';
import type { MadePicture } from '../../inference/made-files.ts';
import { decoderOf } from '../../inference/models/decoder-settings.ts';
import type { Model } from '../../inference/models/model.ts';
import { readSettings } from '../../inference/models/settings.ts';
import type { PipelineDefinition } from '../../inference/pipeline.ts';
import { onlyPicture } from '../../inference/pipelines/detection-pipeline.ts';
import { createDetector, type Detection, OUTLINE_DECODERS } from '../../inference/pipelines/detector.ts';
import { createPictureInput } from '../../inference/pipelines/picture-input.ts';
import { toPolygon } from '../../inference/pipelines/polygon.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Found = Detection<(typeof VEHICLE_CLASSES)[number]>;

const MATTING_FILE = 'matting';
/** Share of its size by which the vehicle's box grows before the matting network sees it. */
const MATTING_MARGIN = 0.05;
/** How near to an edge of the picture a box touches it, in pixels. */
const EDGE_PIXELS = 1;

export const pipeline: PipelineDefinition = {
  task: 'vehicle-segmentation',
  create: (model) => {
    const detect = createDetector(model, VEHICLE_CLASSES, OUTLINE_DECODERS);
    const makeMatte = createMatteMaker(model);
    return async ({ images, parameters }) => {
      const picture = onlyPicture(images);
      const found = (await detect(picture)).toSorted((a, b) => outlineArea(b) - outlineArea(a));
      const [main] = found;
      const { include_matte: isMatteWanted }: Parameters = parameters;
      const vehicles = found.map((vehicle) => toVehicle(vehicle, vehicle === main, picture));
      return { vehicles, matte: main && isMatteWanted !== false ? await makeMatte(picture, main) : null };
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

/** With the file `matting`, of which the network sees the vehicle alone; without it, the outline filled. */
function createMatteMaker(model: Model): (picture: RgbImage, vehicle: Found) => Promise<MadePicture> {
  if (!model.manifest.files[MATTING_FILE]) {
    return async (picture, { outline }) => madePicture(picture, fillOutline(outline ?? [], picture));
  }
  const file = Type.Object({ decoder: decoderOf(['alpha-matte']) });
  const { decoder } = readSettings(model, Type.Object({ files: Type.Object({ [MATTING_FILE]: file }) })).files.matting;
  const input = createPictureInput(model, MATTING_FILE);
  return async (picture, { box }) => {
    const { tensor, toPicture } = input.prepare(picture, expandBox(box, MATTING_MARGIN, MATTING_MARGIN, picture));
    const outputs = await model.run(MATTING_FILE, { [input.name]: tensor });
    return madePicture(picture, decodeAlpha(outputs.floats(decoder.output), { size: input.size, toPicture }, picture));
  };
}

function madePicture({ width, height }: Size, grey: Uint8Array): MadePicture {
  return { object: 'made_picture', width, height, grey };
}

function outlineArea({ outline }: Found): number {
  return areaOf(outline ?? []);
}

function touchesEdge({ x0, y0, x1, y1 }: Box, { width, height }: Size): boolean {
  return x0 < EDGE_PIXELS || y0 < EDGE_PIXELS || x1 > width - EDGE_PIXELS || y1 > height - EDGE_PIXELS;
}
