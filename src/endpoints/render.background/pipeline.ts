/**
 * Picture → its largest vehicle cut out and placed in front of a scene or a colour, at the same position. It uses a model of
 * `vehicle.segment` and its matte. The vehicle itself is not retouched, but for the old background's colour in its soft edges;
 * what is seen through its windows stays.
 */
import { DEFAULT_OUTPUT_FORMAT } from '../../contracts/vocabulary/renders.ts';
import type { Model } from '../../inference/models/model.ts';
import { type Box, holdsMiddle } from '../../inference/toolkit/decoding/boxes.ts';
import { cutOut, pixelsAround, plainPicture } from '../../inference/toolkit/images/compose.ts';
import { removeSpill } from '../../inference/toolkit/images/foreground-colours.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import { createMatteMaker, touchesEdge } from '../../inference/toolkit/segmentation/matting.ts';
import { createPartOutliner } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { withSharedRuns } from '../../inference/toolkit/segmentation/shared-runs.ts';
import { createRefinedOutliner } from '../../inference/toolkit/segmentation/vehicle-outlines.ts';
import { findsVehicleParts, VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { findGround, showsGround, WHEELS } from '../shared/scene/ground.ts';
import { replaceBackground } from '../shared/scene/replace-background.ts';
import { glossOf, paintScene } from '../shared/scene/scenes.ts';
import { chargedShare } from './charged-share.ts';
import { DEFAULT_SCENE, type Parameters } from './request.ts';
import type { Result } from './result.ts';

type Made = Omit<Result, 'cut_out' | 'composite'> & { cut_out: MadePicture | null; composite: MadePicture | null };

export const pipeline: PipelineDefinition = {
  tasks: ['vehicle-segmentation', VEHICLE_PARTS],
  chargedShare: (result) => chargedShare(result as Result),
  create: (given) => {
    // Vehicle and wheels come from one run.
    const model = withSharedRuns(given);
    const outline = createRefinedOutliner(model);
    const makeMatte = createMatteMaker(model);
    const findWheels = createWheelFinder(model);
    const assess = createPictureAssessor(model);
    return async ({ pictures, parameters }): Promise<Made> => {
      const requested: Parameters = parameters;
      const { background_color, shadow = true, output_format: format = DEFAULT_OUTPUT_FORMAT } = requested;
      const picture = await onlyPicture(pictures);
      const { quality_issues } = await assess(picture);
      const scene = background_color === undefined ? (requested.scene ?? DEFAULT_SCENE) : null;
      const settings = { scene, background_color: background_color?.toLowerCase() ?? null, quality_issues };
      const [main] = await outline(picture);
      if (!main) return { ...settings, vehicle: null, cut_out: null, composite: null, has_shadow: false };

      const wheels = await findWheels(picture, main.box);
      const matte = await makeMatte(picture, main);
      const around = pixelsAround(main.box, picture);
      removeSpill(picture, matte, around);
      const cut = cutOut(picture, matte, around);
      const { width, height } = picture;
      const ground = findGround(matte, picture, main.box, wheels);
      const background =
        scene === null ? plainPicture(picture, requested.background_color ?? '') : paintScene(scene, picture, ground);
      const isGrounded = showsGround(main.box, picture);
      const gloss = scene !== null && isGrounded ? glossOf(scene) : 0;
      const hasShadow = shadow && isGrounded;
      const { pixels } = replaceBackground({ picture, matte, ground }, background, { gloss, hasShadow });
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
        cut_out: { object: 'made_picture', ...cut, channels: 4, format: 'png', edits: ['cut_out'] },
        composite: {
          object: 'made_picture',
          width,
          height,
          channels: 3,
          pixels,
          format,
          edits: ['background_replacement'],
        },
        has_shadow: hasShadow,
      };
    };
  },
};

/** Boxes of a vehicle's wheels, where the model finds parts; in pixels of the picture. */
function createWheelFinder(model: Model): (picture: RgbImage, vehicle: Box) => Promise<Box[]> {
  if (!findsVehicleParts(model)) return async () => [];
  const outlineParts = createPartOutliner(model);
  return async (picture, vehicle) =>
    (await outlineParts(picture))
      .filter(({ part, box }) => WHEELS.has(part) && holdsMiddle(vehicle, box))
      .map(({ box }) => box);
}
