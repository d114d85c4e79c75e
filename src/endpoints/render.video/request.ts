import { Type } from 'typebox';
import { ASPECT_RATIOS } from '../../contracts/vocabulary/renders.ts';
import { picturesOrVideo } from '../../contracts/vocabulary/videos.ts';

export const MINIMUM_PICTURES = 3;

export const files = picturesOrVideo(60);

export const DEFAULT_ASPECT_RATIO = '16:9';

export const parameters = Type.Object(
  {
    aspect_ratio: Type.Optional(
      Type.Enum(ASPECT_RATIOS, {
        default: DEFAULT_ASPECT_RATIO,
        description: 'Width to height. Pictures are never cropped: a blurred enlargement fills the remaining area.',
      }),
    ),
    max_duration_seconds: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 120,
        default: 30,
        description: 'Maximum duration. Fewer pictures or a shorter input video produce a shorter video.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ aspect_ratio: '16:9' }] },
);

export type Parameters = Type.Static<typeof parameters>;
