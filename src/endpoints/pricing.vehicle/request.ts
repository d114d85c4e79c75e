import { Type } from 'typebox';
import { pictures } from '../../contracts/vocabulary/pictures.ts';
import {
  CONDITION_GRADES,
  countryParameter,
  includeReport,
  MAXIMUM_AMOUNT,
  PRICE_BOOK_PATTERN,
} from '../../contracts/vocabulary/pricing.ts';
import { describedVehicle } from '../../contracts/vocabulary/vehicles.ts';

/** Pictures are optional: they only refine a valuation by attributes. */
export const files = pictures(0, 30);

export const parameters = Type.Object(
  {
    vehicle: {
      ...describedVehicle,
      description:
        'The vehicle to value: at least its `vin`, or its `make`, `model` and `year`, which the price book must cover.',
    },
    condition_grade: Type.Optional(
      Type.Enum(CONDITION_GRADES, {
        description:
          'Moves the value by a fixed share, and no picture is looked at. Defaults to the worse of what damage in the pictures ' +
          'and `repair_estimate_total` suggest, which moves nothing beyond the deducted repairs, or else to the usual grade.',
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
      Type.String({
        pattern: PRICE_BOOK_PATTERN,
        description:
          'The price book to value by, such as `eu-de`, or a version of it, such as `eu-de@3`, to repeat a valuation. ' +
          'Defaults to the book of `country`.',
      }),
    ),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description:
          'ISO 4217. Defaults to the currency of the price book; amounts are converted to any other that the operator has ' +
          'imported a rate for. Test mode uses fixed rates: 1 EUR is 0.95 CHF, 0.85 GBP, 160 JPY or 1.10 USD.',
      }),
    ),
    country: Type.Optional(countryParameter),
    margin_pct: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Margin in percent, added to the retail value as an adjustment of kind `margin`.',
      }),
    ),
    include_report: includeReport,
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
