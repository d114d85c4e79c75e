import { Type } from 'typebox';
import { damageId, damageType } from '../../contracts/vocabulary/damage-schemas.ts';
import { hotspot, normalizedPosition } from '../../contracts/vocabulary/hotspots.ts';
import { partName, side } from '../../contracts/vocabulary/part-schemas.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';

const placement = closed({
  frame_index: Type.Integer({ minimum: 0, description: 'Index in the `frames` of the spin set; 0 of an image.' }),
  ...normalizedPosition,
});

const placedHotspot = closed({
  ...hotspot,
  placements: Type.Array(placement, {
    minItems: 1,
    description: 'Where it is seen: one entry a frame that shows it, in the order of the frames.',
  }),
});

const unplaced = closed({
  damage_id: damageId,
  type: damageType,
  part: nullable(partName),
  side,
  reason: Type.Enum(['not_shown', 'not_found'], {
    description: '`not_shown`: its part is on no picture; `not_found`: the part is, the damage can not be made out.',
  }),
});

export const result = closed({
  hotspots: Type.Array(placedHotspot, { description: 'Damages first, then parts; each most confident first.' }),
  unplaced_damages: Type.Array(unplaced, {
    description: 'Damages of `damage_job_id` that have no hotspot. Empty without it.',
  }),
});

export type Result = Type.Static<typeof result>;
