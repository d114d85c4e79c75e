import { Type } from 'typebox';
import { picturesOrVideo } from '../../contracts/vocabulary/pictures-or-video.ts';
import { ASPECT_RATIOS } from '../../contracts/vocabulary/renders.ts';

export const MINIMUM_PICTURES = 3;

export const files = picturesOrVideo(60);

export const DEFAULT_ASPECT_RATIO = '16:9';

export const parameters = Type.Object(
  {
    aspect_ratio: Type.Optional(
      Type.Enum(ASPECT_RATIOS, {
        default: DEFAULT_ASPECT_RATIO,
        description:
          'Width to height. What a picture lacks is filled with a blurred enlargement of it, never cut off it.',
      }),
    ),
    max_duration_seconds: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 120,
        default: 30,
        description: 'Longest the video may be. Fewer pictures, or a shorter video, make a shorter one.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ aspect_ratio: '16:9' }] },
);

export type Parameters = Type.Static<typeof parameters>;
