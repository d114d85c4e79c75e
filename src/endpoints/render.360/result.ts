import { Type } from 'typebox';
import { leftOut, source } from '../../contracts/vocabulary/pictures-or-video.ts';
import { artefact, boundingBox, closed, confidence } from '../../contracts/vocabulary/schemas.ts';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/views.ts';

const frameIndex = Type.Integer({ minimum: 0, description: 'Index in `frames`, from 0.' });

const corrections = closed(
  {
    roll_degrees: Type.Number({ minimum: -45, maximum: 45, description: 'Turned by, clockwise, so that it is level.' }),
    exposure_ev: Type.Number({ description: 'Brightened by, in stops, to be even with the other frames.' }),
    scale: Type.Number({ exclusiveMinimum: 0, description: 'Enlarged by, so that the vehicle keeps its size.' }),
  },
  'What was done to the picture that was sent.',
);

const frame = closed({
  index: frameIndex,
  image: artefact,
  view: Type.Enum(COMPASS_VIEWS, { description: 'The compass view that is nearest.' }),
  azimuth_degrees: Type.Number({
    minimum: 0,
    exclusiveMaximum: 360,
    description: 'Where the camera stood around the vehicle, clockwise from above: 0 its front, 90 its right side.',
  }),
  confidence: { ...confidence, description: 'In the azimuth, from 0 to 1.' },
  vehicle_bbox: closed(boundingBox.properties, 'On `image`, in its pixels.'),
  source,
  corrections,
});

const coverage = closed(
  {
    degrees: Type.Number({ minimum: 0, maximum: 360, description: 'Of the circle, what frames lie near enough to.' }),
    is_complete: Type.Boolean({ description: 'Whether the set can be spun all the way around.' }),
    largest_gap_degrees: Type.Number({ minimum: 0, maximum: 360, description: 'Between neighbouring frames.' }),
    missing_views: Type.Array(Type.Enum(COMPASS_VIEWS)),
  },
  'How much of the way around the vehicle the frames show.',
);

export const result = closed({
  frames: Type.Array(frame, {
    minItems: 1,
    description:
      'In the order of a walk around the vehicle: by azimuth, rising. All of one size, level, evenly exposed.',
  }),
  start_frame_index: frameIndex,
  manifest: {
    ...artefact,
    description:
      'JSON for a viewer: the size of the frames, and for each its azimuth and the place of the vehicle. It holds no ' +
      "links, because links end: its n-th frame is the n-th of `frames`, whose `image.url` is the frame's.",
  },
  coverage,
  left_out: leftOut,
});

export type Result = Type.Static<typeof result>;
