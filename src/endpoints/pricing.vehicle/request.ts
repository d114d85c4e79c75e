import { Type } from 'typebox';
import { pictures } from '../../contracts/vocabulary/pictures.ts';
import { CONDITION_GRADES, countryParameter, MAXIMUM_AMOUNT } from '../../contracts/vocabulary/pricing.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicles.ts';
import { MINOR_UNITS_PER_EURO_CENT, PRICE_BOOKS } from './price-books.ts';

/** Pictures are optional: they only refine a valuation by attributes. */
export const files = pictures(0, 30);

export const parameters = Type.Object(
  {
    vehicle: {
      ...describedVehicle,
      description: 'The vehicle to value: at least its `vin`, or its `make`, `model` and `year`.',
    },
    condition_grade: Type.Optional(
      Type.Enum(CONDITION_GRADES, {
        description: 'Defaults to a grade inferred from the pictures and from `repair_estimate_total`.',
      }),
    ),
    repair_estimate_total: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAXIMUM_AMOUNT,
        description:
          'Cost of outstanding repairs, in the minor unit of `currency`. Deducted as an adjustment of kind `damage`.',
      }),
    ),
    price_book: Type.Optional(
      Type.Enum(Object.keys(PRICE_BOOKS) as (keyof typeof PRICE_BOOKS)[], {
        description: 'The price book to value by. Defaults to the book of `country`.',
      }),
    ),
    currency: Type.Optional(
      Type.Enum(Object.keys(MINOR_UNITS_PER_EURO_CENT) as (keyof typeof MINOR_UNITS_PER_EURO_CENT)[], {
        description:
          'ISO 4217. Defaults to the currency of the price book; amounts are converted to any other. Test mode uses fixed ' +
          'rates: 1 EUR is 0.95 CHF, 0.85 GBP, 160 JPY or 1.10 USD.',
      }),
    ),
    country: Type.Optional({
      ...countryParameter,
      description:
        'ISO 3166-1 alpha-2. Defaults to the country of the price book. A country without a price book is refused.',
    }),
    margin_pct: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Margin in percent, added to the retail value as an adjustment of kind `margin`.',
      }),
    ),
    include_comparables: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether to list market observations. With `false`, `comparables` is null.',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ vehicle: { vin: '7ZZBX2C45N1048215', mileage_km: 48_200 }, country: 'DE' }],
  },
);

export type Parameters = Type.Static<typeof parameters>;
