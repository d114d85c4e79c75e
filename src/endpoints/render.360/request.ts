import { Type } from 'typebox';
import { picturesOrVideo } from '../../contracts/vocabulary/pictures-or-video.ts';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';

export const MINIMUM_PICTURES = 8;
const MAXIMUM_FRAMES = 72;

export const files = picturesOrVideo(MAXIMUM_FRAMES);

export const DEFAULT_START_VIEW = 'front_left';

export const parameters = Type.Object(
  {
    max_frames: Type.Optional(
      Type.Integer({
        minimum: MINIMUM_PICTURES,
        maximum: MAXIMUM_FRAMES,
        default: 36,
        description:
          'Most frames of the spin set. Of more pictures those are taken that are best and most evenly spaced; of a ' +
          'video as many moments as it shows well. None is made up.',
      }),
    ),
    start_view: Type.Optional(
      Type.Enum(COMPASS_VIEWS, {
        default: DEFAULT_START_VIEW,
        description: 'The view a viewer opens with: `start_frame_index` is the frame nearest to it.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ start_view: 'front_left' }] },
);

export type Parameters = Type.Static<typeof parameters>;
