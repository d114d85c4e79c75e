import { Type } from 'typebox';
import { FRAMINGS, PICTURE_EDGES } from '../../contracts/vocabulary/framing.ts';
import { boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { IMAGE_QUALITY_REASONS, VIEWS } from '../../contracts/vocabulary/views.ts';

/** A picture without a vehicle says so by its null readings. */
const reasons = IMAGE_QUALITY_REASONS.filter((reason) => reason !== 'no_vehicle');

const view = closed(
  { value: Type.Enum(VIEWS), confidence },
  "What the picture shows; left and right are the vehicle's own.",
);

const camera = closed(
  {
    azimuth_degrees: Type.Number({
      minimum: 0,
      exclusiveMaximum: 360,
      description: 'Where the camera stands around the vehicle, clockwise from above: 0 its front, 90 its right side.',
    }),
    elevation_degrees: Type.Number({
      minimum: -90,
      maximum: 90,
      description: "Height of the camera above the level of the vehicle's middle, as an angle.",
    }),
    confidence,
  },
  'Null for interiors and details.',
);

const vehicle = closed({
  confidence,
  bbox: boundingBox,
  area_fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Of `bbox` in the whole picture.' }),
});

const framing = closed({
  value: Type.Enum(FRAMINGS),
  confidence,
  cropped_edges: Type.Array(Type.Enum(PICTURE_EDGES), { description: 'Edges of the picture that cut the vehicle.' }),
});

export const result = closed({
  view: nullable(view),
  camera: nullable(camera),
  vehicle: nullable(vehicle),
  framing: nullable(framing),
  quality_issues: Type.Array(closed({ reason: Type.Enum(reasons), confidence }), {
    description: 'Why the picture may be of little use, most confident first; empty for a good one.',
  }),
  matches_expected_view: nullable(Type.Boolean({ description: 'Null without `expected_view`.' })),
});

export type Result = Type.Static<typeof result>;
