/** Walk-around videos, and the files of endpoints that take either pictures or a video. */
import { Type } from 'typebox';
import type { FileInput, ValidRequest } from '../endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, VIDEO_MEDIA_TYPES } from '../media-limits.ts';
import { IMAGE_QUALITY_REASONS, pictures } from './pictures.ts';
import { closed, imageIndex, nullable } from './schemas.ts';

/** Why a passage of a video may be unsuitable. */
export const VIDEO_QUALITY_REASONS = [...IMAGE_QUALITY_REASONS, 'shaky', 'too_fast', 'interrupted'] as const;

/** Seen from above. */
export const WALK_DIRECTIONS = ['clockwise', 'counterclockwise'] as const;

export const timeOffsetMs = Type.Integer({ minimum: 0, description: 'Milliseconds from the start of the video.' });

/** Pictures directly or as uploads, a video as an upload. `refuseMixture` checks the minimum number of pictures. */
export const picturesOrVideo = (maximumPictures: number) =>
  ({
    ...pictures(1, maximumPictures),
    mediaTypes: [...IMAGE_MEDIA_TYPES, ...VIDEO_MEDIA_TYPES],
  }) as const satisfies FileInput;

/** Refuses pictures mixed with a video, more than one video, and too few pictures. */
export function refuseMixture({ files }: ValidRequest, minimumPictures: number) {
  const hasVideo = files.some(({ mediaType }) => mediaType.startsWith('video/'));
  if (hasVideo && files.length === 1) return null;
  if (hasVideo)
    return { param: 'input_refs', message: '"input_refs" must name pictures, or one video and nothing else.' };
  if (files.length >= minimumPictures) return null;
  const message = `"images" (in JSON "input_refs") must be at least ${minimumPictures} pictures, or one video.`;
  return { param: 'images', message };
}

const mediaSource = {
  image_index: nullable(imageIndex),
  time_offset_ms: nullable({ ...timeOffsetMs, description: 'Milliseconds into the video; null for a picture.' }),
};

export const source = closed(
  mediaSource,
  'The picture of the request, or the moment of its video. The other field is null.',
);

const leftOutReasons = [...IMAGE_QUALITY_REASONS, 'same_view_again', 'not_the_vehicle', 'not_outside'] as const;

export const leftOut = Type.Array(closed({ ...mediaSource, reason: Type.Enum(leftOutReasons) }), {
  description:
    'Input that was not used, with the main reason: a picture, or the moment of a video with a poor view. ' +
    '`same_view_again`: a better picture shows the same view; `not_the_vehicle`: it shows a different vehicle; ' +
    '`not_outside`: an interior or a close-up.',
});
