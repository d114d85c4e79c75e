import { Type } from 'typebox';
import type { FileInput } from '../../contracts/endpoint-contract.ts';
import { VIDEO_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';

/** Accepted only as an upload, of up to 2 GB. */
export const files = {
  field: 'video',
  minimum: 1,
  maximum: 1,
  mediaTypes: VIDEO_MEDIA_TYPES,
  directMediaTypes: [],
  maximumBytes: 0,
} as const satisfies FileInput;

/** The endpoints that can run on key frames. */
export const FRAME_TASKS = ['vehicle.identify', 'plate.read', 'damage.detect', 'damage.severity'] as const;

export const DEFAULT_FRAMES_PER_VIEW = 1;

export const parameters = Type.Object(
  {
    views: Type.Optional(
      Type.Array(Type.Enum(COMPASS_VIEWS), {
        minItems: 1,
        maxItems: COMPASS_VIEWS.length,
        uniqueItems: true,
        default: [...COMPASS_VIEWS],
        description: 'The views to extract key frames for.',
      }),
    ),
    frames_per_view: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5,
        default: DEFAULT_FRAMES_PER_VIEW,
        description: 'Maximum number of key frames per view; the best are used.',
      }),
    ),
    run: Type.Optional(
      Type.Array(Type.Enum(FRAME_TASKS), {
        maxItems: FRAME_TASKS.length,
        uniqueItems: true,
        default: [],
        description: 'The endpoints to run on each key frame, each with its defaults and at its own price.',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ frames_per_view: 1 }] },
);

export type Parameters = Type.Static<typeof parameters>;
