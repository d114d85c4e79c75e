/** Pictures of one vehicle, in any order, or frames of a video → the frames of a spin. */
import type { Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { MadeDocument, PictureToDraw } from '../../inference/toolkit/images/made-pictures.ts';
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import {
  type Arranged,
  createArrangeFrames,
  type LeftOut,
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
    return async ({ pictures, parameters }): Promise<Made> => {
      const requested: Parameters = parameters;
      const { arranged, leftOut } = await arrangeFrames(pictures, requested.max_frames ?? DEFAULT_MAX_FRAMES);
      return applyParameters(makeSpin(arranged, leftOut), requested);
    };
  },
};

function makeSpin(arranged: readonly Arranged[], leftOut: LeftOut[]): Made {
  const size = frameSize(arranged.map((each) => each.size));
  const frames = levelFrames(arranged, size).map(
    ({ arranged: each, placing, stops }, index): Made['frames'][number] => ({
      index,
      image: {
        object: 'picture_to_draw',
        draw: async () => ({
          object: 'made_picture',
          ...drawFrame(await each.picture.decode(), placing, { stops, frame: size }),
          channels: 3,
          format: 'jpg',
          edits: ['spin_frame'],
        }),
      },
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
    }),
  );
  const coverage = coverageOf(arranged);
  return {
    frames,
    start_frame_index: 0,
    manifest: { object: 'made_document', value: manifestOf(frames, coverage.is_complete, size) },
    coverage,
    left_out: leftOut,
  };
}

function manifestOf(frames: Made['frames'], isComplete: boolean, size: Size) {
  const share = (value: number, whole: number) => Math.round((value / whole) * 1000) / 1000;
  return {
    version: 1,
    direction: 'clockwise',
    is_complete: isComplete,
    frame_size: size,
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
