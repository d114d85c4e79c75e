import { Type } from 'typebox';
import { qualityIssues } from '../../contracts/vocabulary/pictures.ts';
import { SCENES } from '../../contracts/vocabulary/renders.ts';
import { artefact, boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';

const vehicle = closed(
  {
    class: Type.Enum(VEHICLE_CLASSES),
    confidence: {
      ...confidence,
      description:
        'From 0 to 1: how sure the model is of the vehicle. It says little of the edges: look at a cut-out before publishing it.',
    },
    is_cut_off: Type.Boolean({ description: 'Whether an edge of the picture cuts the vehicle off.' }),
    source_bbox: closed(boundingBox.properties, 'In pixels of the original picture as displayed.'),
    composite_bbox: closed(boundingBox.properties, 'In pixels of the composite.'),
  },
  'The main vehicle; null if the picture shows none.',
);

const picture = (description: string) => nullable({ ...artefact, description });

export const result = closed({
  vehicle: nullable(vehicle),
  cut_out: picture('The vehicle alone, cropped to `source_bbox`: PNG with an alpha channel. Null without a vehicle.'),
  composite: picture(
    'The vehicle in front of its new background, in `output_format` and the size of the original picture. Null without ' +
      'a vehicle.',
  ),
  scene: nullable(Type.Enum(SCENES, { description: 'Null with a `background_color`.' })),
  background_color: nullable(Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'Null with a `scene`.' })),
  has_shadow: Type.Boolean({
    description: 'Whether a shadow was added. A vehicle whose wheels are cut off gets none.',
  }),
  quality_issues: qualityIssues,
});

export type Result = Type.Static<typeof result>;
