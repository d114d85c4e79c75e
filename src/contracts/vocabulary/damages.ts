/** What can be wrong with a vehicle's outside, and what is done about it. */

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

/** From a blemish to what makes a vehicle unfit for the road. */
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
