/** The words of valuations and estimates. */
import { Type } from 'typebox';
import { COUNTRIES, COUNTRY_PATTERN } from './countries.ts';

/** To whom a vehicle is sold: by its owner to a dealer, by its owner to a person, by a dealer to a person. */
export const PRICE_CHANNELS = ['trade_in', 'private', 'retail'] as const;

/** From like new to not fit for use without major repairs. */
export const CONDITION_GRADES = ['A', 'B', 'C', 'D', 'E'] as const;

/** From what a condition grade was concluded. */
export const CONDITION_SOURCES = ['request', 'photos', 'repair_estimate'] as const;

/** Why a value differs from that of the average vehicle of its kind. */
export const ADJUSTMENT_KINDS = [
  'mileage',
  'age',
  'condition',
  'damage',
  'equipment',
  'color',
  'previous_owners',
  'service_history',
  'accident_history',
  'season',
  'region',
  'demand',
  'margin',
] as const;

/** Where the parts of a repair come from. */
export const PART_QUALITIES = ['original', 'equivalent', 'used'] as const;

/** Why a damage is in no operation of an estimate. */
export const NOT_PRICED_REASONS = ['part_unknown', 'no_repair_data', 'not_visible', 'cleaning_only'] as const;

export const country = Type.String({ pattern: COUNTRY_PATTERN, description: 'ISO 3166-1 alpha-2.' });

/** Parameters of every endpoint that answers money. */
export const countryParameter = Type.Enum([...COUNTRIES], {
  description: "ISO 3166-1 alpha-2. Defaults to the organisation's billing country.",
});

/** Sums and differences of amounts up to this stay whole numbers that JSON carries exactly. */
export const MAXIMUM_AMOUNT = 1_000_000_000_000;

export const hourlyRate = (description: string) => Type.Integer({ minimum: 0, maximum: 100_000_000, description });
