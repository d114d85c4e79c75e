import { Type } from 'typebox';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { SCENES } from '../../contracts/vocabulary/renders.ts';
import { picturesOrVideo } from '../../contracts/vocabulary/videos.ts';

export const MINIMUM_PICTURES = 8;
const MAXIMUM_FRAMES = 72;

export const files = picturesOrVideo(MAXIMUM_FRAMES);

export const DEFAULT_MAX_FRAMES = 36;
export const DEFAULT_START_VIEW = 'front_left';

export const parameters = Type.Object(
  {
    max_frames: Type.Optional(
      Type.Integer({
        minimum: MINIMUM_PICTURES,
        maximum: MAXIMUM_FRAMES,
        default: DEFAULT_MAX_FRAMES,
        description:
          'Maximum number of frames. From more pictures, the best and most evenly spaced are used; from a video, the ' +
          'moments that it shows well. No frame is invented.',
      }),
    ),
    start_view: Type.Optional(
      Type.Enum(COMPASS_VIEWS, {
        default: DEFAULT_START_VIEW,
        description: 'The view that a viewer opens with. `start_frame_index` is the frame nearest to it.',
      }),
    ),
    scene: Type.Optional(
      Type.Enum(SCENES, {
        description:
          'A scene in place of the surroundings, the same in all frames, with shadow and reflection of the vehicle. A frame ' +
          'on which the vehicle cannot be outlined keeps its photograph. Without it, all frames do.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ start_view: 'front_left' }] },
);

export type Parameters = Type.Static<typeof parameters>;
