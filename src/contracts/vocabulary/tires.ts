/** What stands on tires and can be seen of tires and wheels. */

/** Where on the vehicle a tire is. Left and right are the driver's. */
export const TIRE_POSITIONS = ['front_left', 'front_right', 'rear_left', 'rear_right', 'spare', 'unknown'] as const;

/** How the plies lie: `R`, `D` or `-`, and `B` in a size. */
export const TIRE_CONSTRUCTIONS = ['radial', 'diagonal', 'bias_belted'] as const;

/** What a tire is made to carry, as the letters around its size say: none, `P`, `LT`, `C`, `T`. */
export const TIRE_SERVICES = ['euro_metric', 'passenger', 'light_truck', 'commercial', 'temporary_spare'] as const;

/** Letters of the speed index as moulded. `(Y)` is faster than 300 km/h. */
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

/** From new to through: `at_limit` shows the wear indicators, `bald` no tread where there should be one. */
export const TREAD_WEAR = ['new', 'light', 'moderate', 'heavy', 'at_limit', 'bald'] as const;

/** Classes of what is left of the main grooves. 1.6 mm is the legal minimum in most countries, 3 mm and 4 mm of advice. */
export const TREAD_DEPTHS = ['over_6_mm', '4_to_6_mm', '3_to_4_mm', '1_6_to_3_mm', 'under_1_6_mm'] as const;

/** Which part of the tread is worn most. */
export const WEAR_PATTERNS = ['even', 'centre', 'both_shoulders', 'one_shoulder', 'cupped', 'flat_spot'] as const;

export const SIDEWALL_DAMAGES = ['cut', 'bulge', 'cracking', 'abrasion', 'puncture', 'foreign_object'] as const;

export const RIM_TYPES = ['alloy', 'steel', 'steel_with_cover', 'temporary_spare'] as const;

export const RIM_DAMAGES = ['scuff', 'bent', 'cracked', 'corroded', 'paint_peeling', 'missing_cap'] as const;
