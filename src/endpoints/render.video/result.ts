import { Type } from 'typebox';
import { VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { ASPECT_RATIOS } from '../../contracts/vocabulary/renders.ts';
import { artefact, classified, closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { leftOut, source } from '../../contracts/vocabulary/videos.ts';

const seconds = Type.Number({ minimum: 0, description: 'Seconds from the start of the video.' });

const segment = closed({
  start_seconds: seconds,
  end_seconds: seconds,
  view: nullable(classified(VIEWS)),
  source,
});

export const result = closed({
  video: { ...artefact, description: 'MP4 without sound. VP9 in live mode; the examples of test mode are H.264.' },
  poster: { ...artefact, description: 'JPEG of the first frame, for display before the video plays.' },
  duration_seconds: Type.Number({ exclusiveMinimum: 0 }),
  frames_per_second: Type.Number({ exclusiveMinimum: 0 }),
  aspect_ratio: Type.Enum(ASPECT_RATIOS),
  segments: Type.Array(segment, {
    minItems: 1,
    description: 'What the video shows when, in order. Neighbouring segments overlap during cross-fades.',
  }),
  left_out: leftOut,
});

export type Result = Type.Static<typeof result>;
