import { Type } from 'typebox';
import { FRAMINGS, IMAGE_QUALITY_REASONS, PICTURE_EDGES, VIEWS } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';

/** Null readings already state that there is no vehicle. */
const reasons = IMAGE_QUALITY_REASONS.filter((reason) => reason !== 'no_vehicle');

const view = closed(
  { value: Type.Enum(VIEWS), confidence },
  "What the picture shows; left and right are the driver's.",
);

const camera = closed(
  {
    azimuth_degrees: Type.Number({
      minimum: 0,
      exclusiveMaximum: 360,
      description: 'Camera position around the vehicle, clockwise seen from above: 0 is its front, 90 its right side.',
    }),
    elevation_degrees: Type.Number({
      minimum: -90,
      maximum: 90,
      description: 'Elevation angle of the camera above the centre of the vehicle.',
    }),
    confidence,
  },
  'Null for interiors and details.',
);

const vehicle = closed({
  confidence,
  bbox: boundingBox,
  area_fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Area of `bbox` as a fraction of the picture.' }),
});

const framing = closed({
  value: Type.Enum(FRAMINGS),
  confidence,
  cropped_edges: Type.Array(Type.Enum(PICTURE_EDGES), {
    description: 'Edges of the picture that cut the vehicle off.',
  }),
});

export const result = closed({
  view: nullable(view),
  camera: nullable(camera),
  vehicle: nullable(vehicle),
  framing: nullable(framing),
  quality_issues: Type.Array(closed({ reason: Type.Enum(reasons), confidence }), {
    description: 'Defects of the picture, most confident first; empty for a good picture.',
  }),
  matches_expected_view: nullable(Type.Boolean({ description: 'Null without `expected_view`.' })),
});

export type Result = Type.Static<typeof result>;
