/** Pictures of one vehicle, in any order, or frames of a video → the frames of a spin. */
import type { Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { MadeDocument, PictureToDraw } from '../../inference/toolkit/images/made-pictures.ts';
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import {
  createArrangeFrames,
  type LeftOut,
  type LevelFrame,
  levelFrames,
  sourceOf,
} from '../shared/frames/arrange-frames.ts';
import { coverageOf, viewAt } from '../shared/frames/choose-frames.ts';
import { drawFrame } from '../shared/frames/draw-frame.ts';
import { frameSize } from '../shared/frames/frame-corrections.ts';
import { applyParameters } from './apply-parameters.ts';
import { chargedShare } from './charged-share.ts';
import { DEFAULT_MAX_FRAMES, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { createSceneFrames, type DrawBeforeScene } from './scene-frames.ts';

type Frame = Result['frames'][number];
type Made = Omit<Result, 'frames' | 'manifest'> & {
  frames: (Omit<Frame, 'image'> & { image: PictureToDraw })[];
  manifest: MadeDocument;
};

export const pipeline: PipelineDefinition = {
  tasks: [VEHICLE_PARTS],
  chargedShare: (result) => chargedShare(result as Result),
  create: (model) => {
    const arrangeFrames = createArrangeFrames(model);
    const beforeScene = createSceneFrames(model);
    return async ({ pictures, parameters }): Promise<Made> => {
      const requested: Parameters = parameters;
      const { arranged, leftOut } = await arrangeFrames(pictures, requested.max_frames ?? DEFAULT_MAX_FRAMES);
      const size = frameSize(arranged.map((each) => each.size));
      const level = levelFrames(arranged, size);
      const scene = requested.scene ?? null;
      const drawBefore = scene && beforeScene(scene, level, size);
      const images = level.map((frame) => toDraw(frame, size, drawBefore));
      return applyParameters(makeSpin(level, images, { size, scene, leftOut }), requested);
    };
  },
};

/** @param drawBefore draws frames in front of a scene; null leaves the surroundings of the photograph */
function toDraw(frame: LevelFrame, size: Size, drawBefore: DrawBeforeScene | null): PictureToDraw {
  const { arranged, placing, stops } = frame;
  return {
    object: 'picture_to_draw',
    draw: async () => {
      const picture = await arranged.picture.decode();
      const replaced = drawBefore && (await drawBefore(picture, frame));
      return {
        object: 'made_picture',
        ...(replaced ?? drawFrame(picture, placing, { stops, frame: size })),
        channels: 3,
        format: 'jpg',
        edits: replaced ? ['spin_frame', 'background_replacement'] : ['spin_frame'],
      };
    },
  };
}

function makeSpin(
  level: readonly LevelFrame[],
  images: readonly PictureToDraw[],
  { size, scene, leftOut }: { size: Size; scene: Made['scene']; leftOut: LeftOut[] },
): Made {
  const frames = level.map(({ arranged: each, placing, stops }, index): Made['frames'][number] => {
    const image = images[index];
    if (!image) throw new Error('a frame has no picture');
    return {
      index,
      image,
      view: viewAt(each.azimuthDegrees),
      azimuth_degrees: each.azimuthDegrees,
      confidence: each.confidence,
      vehicle_bbox: placing.box,
      source: sourceOf(each),
      corrections: {
        roll_degrees: each.rollDegrees,
        exposure_ev: stops,
        // Beside a picture that is only brought to the size of the frame.
        scale: Math.round(((placing.scale * each.size.width) / size.width) * 1000) / 1000,
      },
    };
  });
  const coverage = coverageOf(level.map(({ arranged }) => arranged));
  return {
    frames,
    start_frame_index: 0,
    manifest: { object: 'made_document', value: manifestOf(frames, { isComplete: coverage.is_complete, size, scene }) },
    scene,
    coverage,
    left_out: leftOut,
  };
}

function manifestOf(
  frames: Made['frames'],
  { isComplete, size, scene }: { isComplete: boolean; size: Size; scene: Made['scene'] },
) {
  const share = (value: number, whole: number) => Math.round((value / whole) * 1000) / 1000;
  return {
    version: 1,
    direction: 'clockwise',
    is_complete: isComplete,
    frame_size: size,
    scene,
    frames: frames.map(({ index, azimuth_degrees, vehicle_bbox: { x, y, width, height } }) => ({
      index,
      azimuth_degrees,
      vehicle: {
        x_normalized: share(x, size.width),
        y_normalized: share(y, size.height),
        width_normalized: share(width, size.width),
        height_normalized: share(height, size.height),
      },
    })),
  };
}
