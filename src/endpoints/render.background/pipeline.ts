/**
 * Picture → its largest vehicle cut out, and put before a scene or a colour, where it was. The model is one of
 * `vehicle.segment`; its matte is as soft as its matting network makes it. Nothing of the vehicle is retouched.
 */
import { DEFAULT_OUTPUT_FORMAT } from '../../contracts/vocabulary/renders.ts';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';
import { cutOut, pixelsAround, plainPicture, putOver } from '../../inference/images/compose.ts';
import type { MadePicture } from '../../inference/made-files.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createDetector, OUTLINE_DECODERS } from '../../inference/pipelines/detector.ts';
import { createMatteMaker, largestFirst, touchesEdge } from '../../inference/pipelines/matting.ts';
import { createPictureJudge } from '../../inference/pipelines/picture-judge.ts';
import { DEFAULT_SCENE, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { paintScene, paintShadow } from './scenes.ts';

type Made = Omit<Result, 'cut_out' | 'composite'> & { cut_out: MadePicture | null; composite: MadePicture | null };

/** A vehicle whose box comes as near to the lower edge of the picture stands on nothing that is seen, in pixels. */
const LOWER_EDGE_PIXELS = 1;

export const pipeline: PipelineDefinition = {
  task: 'vehicle-segmentation',
  // A picture without a vehicle costs nothing.
  chargedShare: (result) => ((result as Result).vehicle ? 1 : 0),
  create: (model) => {
    const detect = createDetector(model, VEHICLE_CLASSES, OUTLINE_DECODERS);
    const makeMatte = createMatteMaker(model);
    const judge = createPictureJudge(model);
    return async ({ pictures, parameters }): Promise<Made> => {
      const asked: Parameters = parameters;
      const { background_color, shadow = true, output_format: format = DEFAULT_OUTPUT_FORMAT } = asked;
      const picture = await onlyPicture(pictures);
      const { quality_issues } = await judge(picture);
      const scene = background_color === undefined ? (asked.scene ?? DEFAULT_SCENE) : null;
      const settings = { scene, background_color: background_color?.toLowerCase() ?? null, quality_issues };
      const [main] = largestFirst(await detect(picture));
      if (!main) return { ...settings, vehicle: null, cut_out: null, composite: null, has_shadow: false };

      const matte = await makeMatte(picture, main);
      const around = pixelsAround(main.box, picture);
      const cut = cutOut(picture, matte, around);
      const { width, height } = picture;
      const background =
        scene === null ? plainPicture(picture, asked.background_color ?? '') : paintScene(scene, picture, main.box);
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
