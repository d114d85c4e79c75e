/** What a picture mainly shows. */
export const SUBJECTS = [
  'whole_vehicle',
  'vehicle_section',
  'single_part',
  /** A part that is not on a vehicle. */
  'loose_part',
  'interior',
  'other',
] as const;
