/** Where a picture was taken from, as the vehicle is seen by its driver: left is the driver's left. */

/** The eight compass views, clockwise from the front, seen from above. */
export const COMPASS_VIEWS = [
  'front',
  'front_right',
  'right',
  'rear_right',
  'rear',
  'rear_left',
  'left',
  'front_left',
] as const;

export const DETAIL_VIEWS = [
  'interior_front',
  'interior_rear',
  'dashboard',
  'trunk',
  'engine_bay',
  'wheel',
  'underbody',
  'roof',
  'document',
  'vin_plate',
  'close_up',
] as const;

export const VIEWS = [...COMPASS_VIEWS, ...DETAIL_VIEWS] as const;

/** Why a picture may be of little use. */
export const IMAGE_QUALITY_REASONS = [
  'blurred',
  'too_dark',
  'overexposed',
  'reflections',
  'low_resolution',
  'too_far',
  'too_close',
  'cropped',
  'occluded',
  'dirty_vehicle',
  'wet_vehicle',
  'no_vehicle',
  'several_vehicles',
] as const;
