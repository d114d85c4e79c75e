/**
 * Picture → its largest vehicle cut out and placed in front of a scene or a colour, at the same position. It uses a model of
 * `vehicle.segment` and its matte. The vehicle itself is not retouched.
 */
import { DEFAULT_OUTPUT_FORMAT } from '../../contracts/vocabulary/renders.ts';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';
import { createDetector, OUTLINE_DECODERS } from '../../inference/toolkit/detection/detector.ts';
import { cutOut, pixelsAround, plainPicture, putOver } from '../../inference/toolkit/images/compose.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import { createMatteMaker, largestFirst, touchesEdge } from '../../inference/toolkit/segmentation/matting.ts';
import { chargedShare } from './charged-share.ts';
import { DEFAULT_SCENE, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { paintScene, paintShadow } from './scenes.ts';

type Made = Omit<Result, 'cut_out' | 'composite'> & { cut_out: MadePicture | null; composite: MadePicture | null };

/** A vehicle this close to the lower edge, in pixels, has no visible ground to cast a shadow on. */
const LOWER_EDGE_PIXELS = 1;

export const pipeline: PipelineDefinition = {
  tasks: ['vehicle-segmentation'],
  chargedShare: (result) => chargedShare(result as Result),
  create: (model) => {
    const detect = createDetector(model, VEHICLE_CLASSES, OUTLINE_DECODERS);
    const makeMatte = createMatteMaker(model);
    const assess = createPictureAssessor(model);
    return async ({ pictures, parameters }): Promise<Made> => {
      const requested: Parameters = parameters;
      const { background_color, shadow = true, output_format: format = DEFAULT_OUTPUT_FORMAT } = requested;
      const picture = await onlyPicture(pictures);
      const { quality_issues } = await assess(picture);
      const scene = background_color === undefined ? (requested.scene ?? DEFAULT_SCENE) : null;
      const settings = { scene, background_color: background_color?.toLowerCase() ?? null, quality_issues };
      const [main] = largestFirst(await detect(picture));
      if (!main) return { ...settings, vehicle: null, cut_out: null, composite: null, has_shadow: false };

      const matte = await makeMatte(picture, main);
      const around = pixelsAround(main.box, picture);
      const cut = cutOut(picture, matte, around);
      const { width, height } = picture;
      const background =
        scene === null ? plainPicture(picture, requested.background_color ?? '') : paintScene(scene, picture, main.box);
      const hasShadow = shadow && main.box.y1 < height - LOWER_EDGE_PIXELS;
      if (hasShadow) paintShadow(background, main.box);
      putOver(background, picture, matte);
      const bbox = { x: around.left, y: around.top, width: around.width, height: around.height };
      return {
        ...settings,
        vehicle: {
          class: main.label,
          confidence: main.confidence,
          is_cut_off: touchesEdge(main.box, picture),
          source_bbox: bbox,
          composite_bbox: bbox,
        },
        cut_out: { object: 'made_picture', ...cut, channels: 4, format: 'png' },
        composite: { object: 'made_picture', width, height, channels: 3, pixels: background.pixels, format },
        has_shadow: hasShadow,
      };
    };
  },
};
