import { Type } from 'typebox';
import { damageId, damageType } from '../../contracts/vocabulary/damages.ts';
import { hotspot, normalizedPosition } from '../../contracts/vocabulary/hotspots.ts';
import { partName, side } from '../../contracts/vocabulary/parts.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';

const placement = closed({
  frame_index: Type.Integer({ minimum: 0, description: 'Index in the `frames` of the spin set; 0 for an image.' }),
  ...normalizedPosition,
});

const placedHotspot = closed({
  ...hotspot,
  placements: Type.Array(placement, {
    minItems: 1,
    description: 'One entry per frame that shows the hotspot, in the order of the frames.',
  }),
});

const unplaced = closed({
  damage_id: damageId,
  type: damageType,
  part: nullable(partName),
  side,
  reason: Type.Enum(['not_shown', 'not_found'], {
    description: '`not_shown`: no picture shows its part; `not_found`: the part is visible, but not the damage.',
  }),
});

export const result = closed({
  hotspots: Type.Array(placedHotspot, { description: 'Damages first, then parts; each most confident first.' }),
  unplaced_damages: Type.Array(unplaced, {
    description: 'Damages of `damage_job_id` without a hotspot. Empty without `damage_job_id`.',
  }),
});

export type Result = Type.Static<typeof result>;
