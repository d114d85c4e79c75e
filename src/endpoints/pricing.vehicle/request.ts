import { Type } from 'typebox';
import { pictures } from '../../contracts/vocabulary/file-inputs.ts';
import { CONDITION_GRADES, countryParameter, MAXIMUM_AMOUNT } from '../../contracts/vocabulary/pricing.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicle-schemas.ts';
import { MINOR_UNITS_PER_EURO_CENT, PRICE_BOOKS } from './price-books.ts';

/** Pictures are optional: they only refine an answer that the attributes drive. */
export const files = pictures(0, 30);

export const parameters = Type.Object(
  {
    vehicle: {
      ...describedVehicle,
      description: 'What is priced: at least its `vin`, or its `make`, `model` and `year`.',
    },
    condition_grade: Type.Optional(
      Type.Enum(CONDITION_GRADES, {
        description: 'Left out: concluded from the pictures, and from `repair_estimate_total` where it is given.',
      }),
    ),
    repair_estimate_total: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAXIMUM_AMOUNT,
        description: 'What repairs will cost, in the minor unit of `currency`. Deducted as an adjustment `damage`.',
      }),
    ),
    price_book: Type.Optional(
      Type.Enum(Object.keys(PRICE_BOOKS) as (keyof typeof PRICE_BOOKS)[], {
        description: 'The book to price by. Defaults to that of `country`.',
      }),
    ),
    currency: Type.Optional(
      Type.Enum(Object.keys(MINOR_UNITS_PER_EURO_CENT) as (keyof typeof MINOR_UNITS_PER_EURO_CENT)[], {
        description:
          'ISO 4217. Defaults to that of the price book, and amounts are converted to any other. In test mode at fixed ' +
          'rates: 1 EUR is 0.95 CHF, 0.85 GBP, 160 JPY or 1.10 USD.',
      }),
    ),
    country: Type.Optional({
      ...countryParameter,
      description:
        'ISO 3166-1 alpha-2. A country that has no price book is refused. Defaults to that of the price book.',
    }),
    margin_pct: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Margin in percent that is added to the retail figure, as an adjustment `margin`.',
      }),
    ),
    include_comparables: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether the market observations are listed. `false`: null.' }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ vehicle: { vin: '7ZZBX2C45N1048215', mileage_km: 48_200 }, country: 'DE' }],
  },
);

export type Parameters = Type.Static<typeof parameters>;
