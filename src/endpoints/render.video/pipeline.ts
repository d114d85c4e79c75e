/** Pictures of one vehicle, in any order, or frames of a video → a film that walks around it. */
import type { FilmToMake, PictureToDraw } from '../../inference/toolkit/images/made-pictures.ts';
import type { Picture, PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { createArrangeFrames, type LevelFrame, levelFrames, sourceOf } from '../shared/frames/arrange-frames.ts';
import { viewAt } from '../shared/frames/choose-frames.ts';
import { drawBackdrop, drawFrame } from '../shared/frames/draw-frame.ts';
import { filmSize } from '../shared/frames/frame-corrections.ts';
import { DEFAULT_ASPECT_RATIO, DEFAULT_MAX_DURATION_SECONDS, MINIMUM_PICTURES, type Parameters } from './request.ts';
import type { Result } from './result.ts';
import { FRAMES_PER_SECOND, inWalkOrder, mostPictures, segmentsOf, timingOf } from './storyboard.ts';

type Made = Omit<Result, 'video' | 'poster'> & { video: FilmToMake; poster: PictureToDraw };

const SHAPES = { '16:9': [16, 9], '1:1': [1, 1], '9:16': [9, 16] } as const satisfies Record<
  Result['aspect_ratio'],
  readonly [number, number]
>;

export const pipeline: PipelineDefinition = {
  tasks: [VEHICLE_PARTS],
  makesFilms: true,
  create: (model) => {
    const arrangeFrames = createArrangeFrames(model);
    return async ({ pictures, parameters }): Promise<Made> => {
      const requested: Parameters = parameters;
      const { aspect_ratio = DEFAULT_ASPECT_RATIO } = requested;
      const most = longestOf(pictures, requested.max_duration_seconds ?? DEFAULT_MAX_DURATION_SECONDS);
      const { arranged, leftOut } = await arrangeFrames(pictures, mostPictures(pictures, most));
      if (arranged.length < MINIMUM_PICTURES) throw tooFew(arranged.length);
      const inOrder = inWalkOrder(arranged);
      const size = filmSize(
        inOrder.map((each) => each.size),
        SHAPES[aspect_ratio],
      );
      const timing = timingOf(inOrder.length, most);
      const drawn = levelFrames(inOrder, size).map((frame) => toDraw(frame, size));
      const [poster] = drawn;
      if (!poster) throw new Error('the film has no picture');
      return {
        video: { object: 'film_to_make', ...size, pictures: drawn, ...timing, edits: ['film_frame'] },
        poster,
        duration_seconds: timing.frames / FRAMES_PER_SECOND,
        frames_per_second: FRAMES_PER_SECOND,
        aspect_ratio,
        segments: segmentsOf(inOrder.length, timing).map((seconds, index) => {
          const each = inOrder[index];
          if (!each) throw new Error('a segment has no picture');
          const view = { value: viewAt(each.azimuthDegrees), confidence: each.confidence };
          return { ...seconds, view, source: sourceOf(each) };
        }),
        left_out: leftOut,
      };
    };
  },
};

function toDraw(
  { arranged: { picture }, placing, stops }: LevelFrame,
  frame: { width: number; height: number },
): PictureToDraw {
  return {
    object: 'picture_to_draw',
    draw: async () => {
      const image = await picture.decode();
      return {
        object: 'made_picture',
        ...drawFrame(image, placing, { stops, frame, backdrop: drawBackdrop(image, frame) }),
        channels: 3,
        format: 'jpg',
        edits: ['film_frame'],
      };
    },
  };
}

/** In seconds: a video of less than `maximum` makes no longer film. */
function longestOf(pictures: readonly Picture[], maximum: number): number {
  const offsets = pictures.flatMap(({ timeOffsetMs }) => timeOffsetMs ?? []);
  return offsets.length === 0 ? maximum : Math.min(maximum, Math.max(1, Math.max(...offsets) / 1_000));
}

function tooFew(usable: number): ServiceError {
  const message =
    `Only ${usable === 1 ? '1 picture shows' : `${usable} pictures show`} the vehicle from outside and large enough. ` +
    `A film needs at least ${MINIMUM_PICTURES}. Nothing was charged.`;
  return new ServiceError('input_unreadable', message, { param: 'images' });
}
