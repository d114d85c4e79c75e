/** Terms of valuations, and the parameters of every endpoint that returns amounts of money. */
import { Type } from 'typebox';
import { COUNTRIES, COUNTRY_PATTERN } from './countries.ts';

/** Who sells to whom: owner to dealer, owner to private buyer, dealer to private buyer. */
export const PRICE_CHANNELS = ['trade_in', 'private', 'retail'] as const;

/** From like new (A) to unusable without major repairs (E). */
export const CONDITION_GRADES = ['A', 'B', 'C', 'D', 'E'] as const;

/** What a condition grade was inferred from. */
export const CONDITION_SOURCES = ['request', 'photos', 'repair_estimate'] as const;

/** Why a value differs from that of the average comparable vehicle. */
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

export const country = Type.String({ pattern: COUNTRY_PATTERN, description: 'ISO 3166-1 alpha-2.' });

export const countryParameter = Type.Enum([...COUNTRIES], {
  description: "ISO 3166-1 alpha-2. Defaults to the organisation's billing country.",
});

/** Sums and differences of amounts up to this limit stay within the integers that JSON represents exactly. */
export const MAXIMUM_AMOUNT = 1_000_000_000_000;
