import { Type } from 'typebox';
import { bundleSummary, chargedCredits } from '../../contracts/vocabulary/bundles.ts';
import { COMPASS_VIEWS, qualityIssues } from '../../contracts/vocabulary/pictures.ts';
import { artefact, boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { timeOffsetMs, VIDEO_QUALITY_REASONS, WALK_DIRECTIONS } from '../../contracts/vocabulary/videos.ts';
import { taskOutcomes } from '../shared/bundled-tasks.ts';

const pixels = Type.Integer({ minimum: 1, description: 'In pixels, as displayed.' });
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
    degrees: Type.Number({ minimum: 0, description: 'Degrees walked around the vehicle; 360 is once around.' }),
    confidence,
  },
  'The path of the camera around the vehicle.',
);

const keyFrame = closed({
  index: Type.Integer({ minimum: 0, description: 'Index in `key_frames`, from 0.' }),
  view: compassView,
  confidence: { ...confidence, description: 'Confidence in the view, from 0 to 1.' },
  time_offset_ms: timeOffsetMs,
  image: artefact,
  vehicle_bbox: closed(boundingBox.properties, 'In pixels of `image`.'),
  quality_issues: qualityIssues,
  outcomes: taskOutcomes,
});

const coverageOfView = closed({
  is_covered: Type.Boolean({ description: 'Whether the video shows the view well enough for a key frame.' }),
  seen_ms: Type.Integer({ minimum: 0, description: 'How long the video shows the view.' }),
  key_frames: Type.Integer({ minimum: 0, description: 'Number of `key_frames` that show the view.' }),
});

const coverage = closed({
  fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Fraction of the requested views that are covered.' }),
  missing_views: Type.Array(compassView, { description: 'Requested views that are not covered.' }),
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
    'Every compass view, requested or not.',
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
  quality_issues: Type.Array(videoIssue, { description: 'Passages of the video that are unsuitable.' }),
  summary: { ...bundleSummary, description: 'The key frames combined: for each fact, the most confident reading.' },
  charged_credits: {
    ...chargedCredits,
    description:
      'The price of the video times the covered fraction of the requested views, plus the charges of `outcomes`.',
  },
});

export type Result = Type.Static<typeof result>;
