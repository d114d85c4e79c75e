/** Damages to the outside of a vehicle, and how requests and results state one. */
import { Type } from 'typebox';
import { partName, side } from './parts.ts';
import { boundingBox, closed, confidence, nullable, polygon } from './schemas.ts';

export const DAMAGE_TYPES = [
  'scratch',
  'scuff',
  'dent',
  'crack',
  'chip',
  'broken_glass',
  'broken_light',
  'missing_part',
  'misaligned_part',
  'deformation',
  'rust',
  'paint_peeling',
  'hail',
  'puncture',
  'dirt_or_stain',
] as const;

/** From a blemish to damage that makes the vehicle unroadworthy. */
export const SEVERITIES = ['minor', 'moderate', 'severe', 'critical'] as const;

export const REPAIR_METHODS = [
  'none',
  'polish',
  'touch_up',
  'paintless_dent_repair',
  'spot_repair',
  'repair_and_paint',
  'glass_repair',
  'replace',
] as const;

export const MATERIALS = ['metal', 'plastic', 'glass', 'rubber', 'alloy'] as const;

const millimetres = nullable(Type.Number({ minimum: 0, description: 'Null if the scale is unknown.' }));

export const damageId = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'Identifies the damage within one request and its result, such as `damage_1`.',
});

export const damageType = Type.Enum(DAMAGE_TYPES);

export const damagedPart = nullable(partName);

export const damageSize = closed(
  {
    length_mm: millimetres,
    width_mm: millimetres,
    part_area_fraction: nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'Fraction of the visible area of the part.' }),
    ),
    confidence,
  },
  'Estimated from the size of the surrounding parts: `length_mm` along the longest extent, `width_mm` across it.',
);

/** A damage as `damage.detect` returns it. */
export const damage = closed({
  id: damageId,
  type: damageType,
  part: damagedPart,
  side,
  confidence,
  bbox: boundingBox,
  polygon,
  size: nullable(damageSize),
});
