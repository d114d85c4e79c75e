import { Type } from 'typebox';
import { artefact, boundingBox, closed, confidence, nullable, polygon } from '../../contracts/vocabulary/schemas.ts';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';

const vehicle = closed({
  class: Type.Enum(VEHICLE_CLASSES),
  confidence,
  is_main: Type.Boolean({ description: 'True for the one main vehicle of the picture.' }),
  is_cut_off: Type.Boolean({ description: 'Whether an edge of the picture cuts the vehicle off.' }),
  bbox: boundingBox,
  polygon,
  area_fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Area of the mask as a fraction of the picture.' }),
});

export const result = closed({
  vehicles: Type.Array(vehicle, { description: 'The main vehicle first, then by size.' }),
  matte: nullable({
    ...artefact,
    description:
      'Greyscale picture of the same size: white on the main vehicle, black elsewhere, grey on soft edges. ' +
      'Null without a vehicle, or with `include_matte: false`.',
  }),
});

export type Result = Type.Static<typeof result>;
