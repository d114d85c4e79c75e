/**
 * The frames of a spin in front of one scene. It is painted from the ground that they have in common, so it stands still while
 * the vehicle turns; shadow and reflection follow the wheels and the hull of each frame.
 */
import type { Model } from '../../inference/models/model.ts';
import {
  type Box,
  fromBoundingBox,
  holdsMiddle,
  intersectionOverUnion,
  type Size,
} from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { pixelsAround } from '../../inference/toolkit/images/compose.ts';
import { removeSpill } from '../../inference/toolkit/images/foreground-colours.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { createMatteMaker } from '../../inference/toolkit/segmentation/matting.ts';
import { createRefinedOutliner } from '../../inference/toolkit/segmentation/vehicle-outlines.ts';
import type { LevelFrame } from '../shared/frames/arrange-frames.ts';
import { drawFrame, drawMatte, shrinkToFrame } from '../shared/frames/draw-frame.ts';
import { inFrame } from '../shared/frames/frame-corrections.ts';
import {
  commonGround,
  findGround,
  focalPixels,
  inPerspective,
  type Stance,
  showsGround,
  WHEELS,
} from '../shared/scene/ground.ts';
import { replaceBackground } from '../shared/scene/replace-background.ts';
import { glossOf, paintScene, type Scene } from '../shared/scene/scenes.ts';

/** Least overlap of an outline with the place of the vehicle: another vehicle, or a piece of it, has less. */
const SAME_VEHICLE = 0.5;

/** Picture → its frame in front of the scene; null where its vehicle cannot be outlined. */
export type DrawBeforeScene = (picture: RgbImage, frame: LevelFrame) => Promise<RgbImage | null>;

export function createSceneFrames(
  model: Model,
): (scene: Scene, frames: readonly LevelFrame[], size: Size) => DrawBeforeScene {
  const cut = createVehicleCutter(model);
  return (scene, frames, size) => {
    const stances = new Map(frames.map((frame) => [frame, stanceOf(frame, size)]));
    const common = commonGround([...stances.values()], size, frames[0]?.placing.groundY ?? size.height);
    return async (picture, frame) => {
      // The network sees no borders of the frame: beside them it took roofs and tires for surroundings.
      const small = shrinkToFrame(picture, frame.placing);
      const vehicle = await cut(small.picture, boxAround(frame.arranged.outline), small.picture.width / picture.width);
      if (!vehicle) return null;
      const drawn = drawFrame(small.picture, small.placing, { stops: frame.stops, frame: size });
      const matte = drawMatte(vehicle.matte, small.picture, small.placing, size);
      const { wheels, vehicle: place } = stances.get(frame) ?? stanceOf(frame, size);
      const box = vehicle.outline
        ? boxAround(vehicle.outline.map((point) => inFrame(point, small.placing, size)))
        : place;
      const ground = inPerspective(findGround(matte, size, box, wheels), common);
      return replaceBackground({ picture: drawn, matte, ground }, paintScene(scene, size, common), {
        gloss: vehicle.showsGround ? glossOf(scene) : 0,
        hasShadow: vehicle.showsGround,
      });
    };
  };
}

/** Cuts out the vehicle that is around a place, and takes the colour of the surroundings out of its edges in the picture. */
function createVehicleCutter(model: Model) {
  const outline = createRefinedOutliner(model);
  const makeMatte = createMatteMaker(model);
  return async (picture: RgbImage, { x0, y0, x1, y1 }: Box, scale: number) => {
    const place = { x0: x0 * scale, y0: y0 * scale, x1: x1 * scale, y1: y1 * scale };
    const found = (await outline(picture)).find(({ box }) => intersectionOverUnion(box, place) >= SAME_VEHICLE);
    if (!found) return null;
    const matte = await makeMatte(picture, found);
    removeSpill(picture, matte, pixelsAround(found.box, picture));
    return { matte, outline: found.outline, showsGround: showsGround(found.box, picture) };
  };
}

function stanceOf({ arranged: { parts, size }, placing }: LevelFrame, frame: Size): Stance {
  const vehicle = fromBoundingBox(placing.box);
  const toFrame = ({ x0, y0, x1, y1 }: Box): Box => {
    const foot = inFrame({ x: (x0 + x1) / 2, y: y1 }, placing, frame);
    const [half, tall] = [((x1 - x0) / 2) * placing.scale, (y1 - y0) * placing.scale];
    return { x0: foot.x - half, y0: foot.y - tall, x1: foot.x + half, y1: foot.y };
  };
  const wheels = parts.filter(({ part }) => WHEELS.has(part)).map(({ box }) => toFrame(box));
  return {
    vehicle,
    wheels: wheels.filter((wheel) => holdsMiddle(vehicle, wheel)),
    focalPixels: focalPixels(size) * placing.scale,
  };
}
