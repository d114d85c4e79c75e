import { Type } from 'typebox';
import { qualityIssues } from '../../contracts/vocabulary/picture-schemas.ts';
import { SCENES } from '../../contracts/vocabulary/renders.ts';
import { artefact, boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';

const vehicle = closed(
  {
    class: Type.Enum(VEHICLE_CLASSES),
    confidence: { ...confidence, description: 'From 0 to 1. Look at a cut-out below 0.5 before you publish it.' },
    is_cut_off: Type.Boolean({ description: 'Whether an edge of the picture cuts the vehicle.' }),
    source_bbox: closed(boundingBox.properties, 'On the picture that was sent, in its pixels as displayed.'),
    composite_bbox: closed(boundingBox.properties, 'On the composite, in its pixels.'),
  },
  'The vehicle the picture is of; null where it shows none.',
);

const picture = (description: string) => nullable({ ...artefact, description });

export const result = closed({
  vehicle: nullable(vehicle),
  cut_out: picture('The vehicle alone, cropped to `source_bbox`: PNG with an alpha channel. Null without a vehicle.'),
  composite: picture(
    'The vehicle before its new background, in `output_format`, as large as the picture that was sent. Null without a ' +
      'vehicle.',
  ),
  scene: nullable(Type.Enum(SCENES, { description: 'Null before a `background_color`.' })),
  background_color: nullable(Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Null before a `scene`.' })),
  has_shadow: Type.Boolean({
    description: 'Whether the composite has a shadow that was made. A vehicle whose wheels are cut off has none.',
  }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
