/** The files of endpoints that take several pictures of a walk around a vehicle, or one video of it. */
import { Type } from 'typebox';
import type { FileInput, ValidRequest } from '../endpoint-contract.ts';
import { IMAGE_MEDIA_TYPES, VIDEO_MEDIA_TYPES } from '../media-limits.ts';
import { pictures } from './file-inputs.ts';
import { closed, imageIndex, nullable } from './schemas.ts';
import { timeOffsetMs } from './videos.ts';
import { IMAGE_QUALITY_REASONS } from './views.ts';

/** Pictures are sent directly or as uploads, a video as an upload. How few pictures are too few is for `refuseMixture`. */
export const picturesOrVideo = (maximumPictures: number) =>
  ({
    ...pictures(1, maximumPictures),
    mediaTypes: [...IMAGE_MEDIA_TYPES, ...VIDEO_MEDIA_TYPES],
  }) as const satisfies FileInput;

/** Refuses pictures together with a video, several videos, and too few pictures. */
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

/** Which picture of the request, or which moment of its video. */
export const source = closed(
  mediaSource,
  'One of the two is null: the picture of the request, or the moment of its video.',
);

/** Why something that was sent is not used. */
const leftOutReasons = [...IMAGE_QUALITY_REASONS, 'same_view_again', 'not_the_vehicle', 'not_outside'] as const;

export const leftOut = Type.Array(closed({ ...mediaSource, reason: Type.Enum(leftOutReasons) }), {
  description:
    'What was sent and is not used, with the main reason: a picture, or the moment of a video where the view was poor. ' +
    '`same_view_again`: a better picture of the view is used; `not_the_vehicle`: another vehicle than on the others; ' +
    '`not_outside`: an interior or a close-up.',
});
