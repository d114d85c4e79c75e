/** The closed list of exterior parts, and how requests and results name them. Left and right are the driver's. */
import { Type } from 'typebox';
import { confidence, nullable } from './schemas.ts';

export const PAIRED_PARTS = [
  'headlight',
  'fog_light',
  'front_fender',
  'front_door',
  'rear_door',
  'front_door_handle',
  'rear_door_handle',
  'front_window',
  'rear_window',
  'mirror',
  'rocker_panel',
  'quarter_panel',
  'taillight',
  'a_pillar',
  'front_wheel',
  'rear_wheel',
] as const;

export const SINGLE_PARTS = [
  'front_bumper',
  'grille',
  'front_emblem',
  'front_plate',
  'hood',
  'windshield',
  'roof',
  'rear_windshield',
  'trunk_lid',
  'rear_bumper',
  'rear_emblem',
  'rear_plate',
  'exhaust',
  'spoiler',
  'fuel_door',
  'antenna',
] as const;

export const PARTS = [...SINGLE_PARTS, ...PAIRED_PARTS] as const;
export type Part = (typeof PARTS)[number];

/** `none` for a part that a vehicle has only one of. */
export const SIDES = ['left', 'right', 'none'] as const;

export const partName = Type.Enum(PARTS);

export const side = nullable(
  Type.Enum(SIDES, {
    description:
      "The driver's left or right; `none` for a part that a vehicle has only one of; null if the picture does not show which.",
  }),
);

/** The fields that identify a part in a result. */
export const namedPart = { part: partName, side, confidence };

/** The fields that say whether a picture shows the whole part. */
export const completeness = {
  is_cut_off: Type.Boolean({ description: 'Whether an edge of the picture cuts the part off.' }),
  is_occluded: nullable(
    Type.Boolean({ description: 'Whether something in front hides some of the part; null if the model cannot tell.' }),
  ),
};

export const chosenParts = Type.Array(partName, {
  minItems: 1,
  maxItems: PARTS.length,
  uniqueItems: true,
  description: 'The parts to look for. Defaults to every part.',
});
