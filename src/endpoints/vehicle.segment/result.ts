import { Type } from 'typebox';
import { artefact, boundingBox, closed, confidence, nullable, polygon } from '../../contracts/vocabulary/schemas.ts';
import { VEHICLE_CLASSES } from '../../contracts/vocabulary/vehicles.ts';

const vehicle = closed({
  class: Type.Enum(VEHICLE_CLASSES),
  confidence,
  is_main: Type.Boolean({ description: 'True of the one vehicle that the picture is of.' }),
  is_cut_off: Type.Boolean({ description: 'Whether an edge of the picture cuts it.' }),
  bbox: boundingBox,
  polygon,
  area_fraction: Type.Number({ minimum: 0, maximum: 1, description: 'Of the mask in the whole picture.' }),
});

export const result = closed({
  vehicles: Type.Array(vehicle, { description: 'The main vehicle first, then by size.' }),
  matte: nullable({
    ...artefact,
    description:
      'Greyscale picture of the same size: white where the main vehicle is, black elsewhere, grey on soft edges. ' +
      'Null without a vehicle, or with `include_matte: false`.',
  }),
});

export type Result = Type.Static<typeof result>;
