import { Type } from 'typebox';
import { ASPECT_RATIOS } from '../../contracts/vocabulary/renders.ts';
import { picturesOrVideo } from '../../contracts/vocabulary/videos.ts';

export const MINIMUM_PICTURES = 3;

export const files = picturesOrVideo(60);

export const DEFAULT_ASPECT_RATIO = '16:9';
export const DEFAULT_MAX_DURATION_SECONDS = 30;

export const parameters = Type.Object(
  {
    aspect_ratio: Type.Optional(
      Type.Enum(ASPECT_RATIOS, {
        default: DEFAULT_ASPECT_RATIO,
        description:
          'Width to height. The vehicle is never cropped: it has one size on all pictures, and a blurred enlargement fills ' +
          'the area that a picture does not show.',
      }),
    ),
    max_duration_seconds: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 120,
        default: DEFAULT_MAX_DURATION_SECONDS,
        description:
          'Maximum duration. Fewer pictures or a shorter input video produce a shorter video. Of more pictures than it can ' +
          'show for 0.4 seconds each, the best and most evenly spaced are used.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ aspect_ratio: '16:9' }] },
);

export type Parameters = Type.Static<typeof parameters>;
