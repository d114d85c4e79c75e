import { Type } from 'typebox';
import { bundleSummary, chargedCredits } from '../../contracts/vocabulary/bundle-schemas.ts';
import { qualityIssues } from '../../contracts/vocabulary/picture-schemas.ts';
import { artefact, boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { timeOffsetMs, VIDEO_QUALITY_REASONS, WALK_DIRECTIONS } from '../../contracts/vocabulary/videos.ts';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';
import { taskOutcomes } from '../bundled-tasks.ts';

const pixels = Type.Integer({ minimum: 1, description: 'As displayed, in pixels.' });
const compassView = Type.Enum(COMPASS_VIEWS);

const video = closed({
  duration_ms: Type.Integer({ minimum: 1 }),
  width: pixels,
  height: pixels,
  frames_per_second: Type.Number({ exclusiveMinimum: 0 }),
});

const walk = closed(
  {
    direction: Type.Enum(WALK_DIRECTIONS, { description: 'Seen from above.' }),
    degrees: Type.Number({ minimum: 0, description: 'How far around the vehicle; 360 is once around.' }),
    confidence,
  },
  'How the camera went around the vehicle.',
);

const keyFrame = closed({
  index: Type.Integer({ minimum: 0, description: 'Index in `key_frames`, from 0.' }),
  view: compassView,
  confidence: { ...confidence, description: 'In the view, from 0 to 1.' },
  time_offset_ms: timeOffsetMs,
  image: artefact,
  vehicle_bbox: closed(boundingBox.properties, 'On `image`, in its pixels.'),
  quality_issues: qualityIssues,
  outcomes: taskOutcomes,
});

const coverageOfView = closed({
  is_covered: Type.Boolean({ description: 'Whether the video shows the view well enough for a key frame.' }),
  seen_ms: Type.Integer({ minimum: 0, description: 'For how long it shows the view.' }),
  key_frames: Type.Integer({ minimum: 0, description: 'How many of `key_frames` are of the view.' }),
});

const coverage = closed({
  fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Of the wanted views, those that are covered.' }),
  missing_views: Type.Array(compassView, { description: 'Wanted and not covered.' }),
  views: closed(
    {
      front: coverageOfView,
      front_right: coverageOfView,
      right: coverageOfView,
      rear_right: coverageOfView,
      rear: coverageOfView,
      rear_left: coverageOfView,
      left: coverageOfView,
      front_left: coverageOfView,
    } satisfies Record<(typeof COMPASS_VIEWS)[number], typeof coverageOfView>,
    'Every compass view, wanted or not.',
  ),
});

const videoIssue = closed({
  reason: Type.Enum(VIDEO_QUALITY_REASONS),
  confidence,
  from_ms: timeOffsetMs,
  to_ms: timeOffsetMs,
});

export const result = closed({
  video,
  walk: nullable(walk),
  key_frames: Type.Array(keyFrame, { description: 'In the order of the video.' }),
  coverage,
  quality_issues: Type.Array(videoIssue, { description: 'Passages of the video that are of little use.' }),
  summary: { ...bundleSummary, description: 'What the key frames say together; of each fact the surest reading.' },
  charged_credits: {
    ...chargedCredits,
    description:
      'The price of the video by the share of the wanted views that is covered, and the charges of `outcomes`.',
  },
});

export type Result = Type.Static<typeof result>;
