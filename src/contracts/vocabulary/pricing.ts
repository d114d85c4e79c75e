/** Terms of valuations, and the parameters of every endpoint that returns amounts of money. */
import { Type } from 'typebox';
import { COUNTRIES, COUNTRY_PATTERN } from './countries.ts';
import { artefact, closed, currency, nullable } from './schemas.ts';

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
  description:
    'ISO 3166-1 alpha-2. Defaults to the country of the price book. In live mode a country without a price book is refused.',
});

/** Names a price book, or one version of it. */
export const PRICE_BOOK_PATTERN = '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:@[1-9][0-9]{0,8})?$';

export const exchangeRate = closed(
  {
    base: currency,
    quote: currency,
    rate: Type.Number({ exclusiveMinimum: 0, description: 'Units of `quote` for one of `base`.' }),
    rated_on: Type.String({ format: 'date' }),
  },
  'Present in live mode if the amounts were converted.',
);

export type ExchangeRate = Type.Static<typeof exchangeRate>;

/** Sums and differences of amounts up to this limit stay within the integers that JSON represents exactly. */
export const MAXIMUM_AMOUNT = 1_000_000_000_000;

export const includeReport = Type.Optional(
  Type.Boolean({ default: false, description: 'Whether to produce a report, as PDF and as a page.' }),
);

export const priceReport = Type.Optional(
  nullable(
    closed(
      { pdf: artefact, html: { ...artefact, description: 'A page that stands alone, for browsers.' } },
      'With `include_report`. Null if there is no amount to report.',
    ),
  ),
);
