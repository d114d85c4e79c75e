/** Sidewall markings and the visible condition of tires and wheels. */

/** Position on the vehicle. Left and right are the driver's. */
export const TIRE_POSITIONS = ['front_left', 'front_right', 'rear_left', 'rear_right', 'spare', 'unknown'] as const;

/** Ply arrangement: `R`, `D` or `-`, and `B` in a size designation. */
export const TIRE_CONSTRUCTIONS = ['radial', 'diagonal', 'bias_belted'] as const;

/** Service type, by the letters around the size: none, `P`, `LT`, `C`, `T`. */
export const TIRE_SERVICES = ['euro_metric', 'passenger', 'light_truck', 'commercial', 'temporary_spare'] as const;

/** Speed symbols as moulded. `(Y)` means above 300 km/h. */
export const SPEED_INDEXES = [
  'J',
  'K',
  'L',
  'M',
  'N',
  'P',
  'Q',
  'R',
  'S',
  'T',
  'U',
  'H',
  'V',
  'W',
  'Y',
  '(Y)',
  'ZR',
] as const;

export const TIRE_SEASONS = ['summer', 'winter', 'all_season'] as const;

export const TIRE_MARKS = [
  'mud_and_snow',
  'three_peak_mountain_snowflake',
  'ice_grip',
  'extra_load',
  'run_flat',
  'tubeless',
  'electric_vehicle',
  'outside',
  'inside',
  'rotation',
] as const;

/** From new to worn through: `at_limit` exposes the wear indicators, `bald` lacks tread where there should be some. */
export const TREAD_WEAR = ['new', 'light', 'moderate', 'heavy', 'at_limit', 'bald'] as const;

/** Depth classes of the main grooves. 1.6 mm is the legal minimum in most countries; 3 mm and 4 mm are recommendations. */
export const TREAD_DEPTHS = ['over_6_mm', '4_to_6_mm', '3_to_4_mm', '1_6_to_3_mm', 'under_1_6_mm'] as const;

/** Where the tread is worn most. */
export const WEAR_PATTERNS = ['even', 'centre', 'both_shoulders', 'one_shoulder', 'cupped', 'flat_spot'] as const;

export const SIDEWALL_DAMAGES = ['cut', 'bulge', 'cracking', 'abrasion', 'puncture', 'foreign_object'] as const;

export const RIM_TYPES = ['alloy', 'steel', 'steel_with_cover', 'temporary_spare'] as const;

export const RIM_DAMAGES = ['scuff', 'bent', 'cracked', 'corroded', 'paint_peeling', 'missing_cap'] as const;
