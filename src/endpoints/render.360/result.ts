import { Type } from 'typebox';
import { COMPASS_VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { SCENES } from '../../contracts/vocabulary/renders.ts';
import { artefact, boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { leftOut, source } from '../../contracts/vocabulary/videos.ts';

const frameIndex = Type.Integer({ minimum: 0, description: 'Index in `frames`, from 0.' });

const corrections = closed(
  {
    roll_degrees: Type.Number({
      minimum: -45,
      maximum: 45,
      description: 'Clockwise rotation that levelled the picture.',
    }),
    exposure_ev: Type.Number({
      description: 'Exposure change in stops that matches the other frames; positive is brighter.',
    }),
    scale: Type.Number({
      exclusiveMinimum: 0,
      description: 'Scale factor that keeps the vehicle the same size on every frame.',
    }),
  },
  'Corrections applied to the original picture.',
);

const frame = closed({
  index: frameIndex,
  image: artefact,
  view: Type.Enum(COMPASS_VIEWS, { description: 'The nearest compass view.' }),
  azimuth_degrees: Type.Number({
    minimum: 0,
    exclusiveMaximum: 360,
    description: 'Camera position around the vehicle, clockwise seen from above: 0 is its front, 90 its right side.',
  }),
  confidence: { ...confidence, description: 'Confidence in the azimuth, from 0 to 1.' },
  vehicle_bbox: closed(boundingBox.properties, 'In pixels of `image`.'),
  source,
  corrections,
});

const coverage = closed(
  {
    degrees: Type.Number({ minimum: 0, maximum: 360, description: 'Degrees of the circle that the frames cover.' }),
    is_complete: Type.Boolean({ description: 'Whether the frames cover the whole circle without a gap.' }),
    largest_gap_degrees: Type.Number({
      minimum: 0,
      maximum: 360,
      description: 'Largest angle between neighbouring frames.',
    }),
    missing_views: Type.Array(Type.Enum(COMPASS_VIEWS)),
  },
  'How much of the circle around the vehicle the frames show.',
);

export const result = closed({
  frames: Type.Array(frame, {
    minItems: 1,
    description:
      'In walk-around order, by ascending azimuth. All frames have the same size and are level and evenly exposed.',
  }),
  start_frame_index: frameIndex,
  manifest: {
    ...artefact,
    description:
      'JSON for a viewer: the size of the frames, their `scene`, and for each frame its azimuth and the bounding box of the ' +
      'vehicle. It contains no links, because links expire: its n-th frame is the n-th of `frames`, which has the `image.url`.',
  },
  scene: nullable(
    Type.Enum(SCENES, { description: 'The scene behind the vehicle; null if the frames keep their surroundings.' }),
  ),
  coverage,
  left_out: leftOut,
});

export type Result = Type.Static<typeof result>;
