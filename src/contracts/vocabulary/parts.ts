/** The closed list of exterior parts. Left and right are the driver's. */

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

/** `none` for a part that exists once. */
export const SIDES = ['left', 'right', 'none'] as const;
