import { Type } from 'typebox';
import {
  ADJUSTMENT_KINDS,
  CONDITION_GRADES,
  CONDITION_SOURCES,
  country,
  exchangeRate,
  PRICE_CHANNELS,
  priceReport,
} from '../../contracts/vocabulary/pricing.ts';
import {
  amount,
  closed,
  confidence,
  currency,
  MONEY_MINOR_UNITS,
  nullable,
} from '../../contracts/vocabulary/schemas.ts';
import { mileageKm, modelYear, vin } from '../../contracts/vocabulary/vehicles.ts';

const price = (description: string) => Type.Integer({ minimum: 0, description: `${description} ${MONEY_MINOR_UNITS}` });

const pricedVehicle = closed({
  vin: nullable(vin),
  make: Type.String(),
  model: Type.String(),
  variant: nullable(Type.String()),
  year: modelYear,
  mileage_km: nullable(mileageKm),
  resolved_from: Type.Enum(['vin', 'attributes'], { description: 'Also `attributes` if the `vin` did not resolve.' }),
});

const condition = closed({
  grade: Type.Enum(CONDITION_GRADES),
  sources: Type.Array(Type.Enum(CONDITION_SOURCES), {
    description: 'What the grade was inferred from; empty if the usual condition for the age is assumed.',
  }),
  confidence: nullable({ ...confidence, description: 'Null if the grade was given or assumed.' }),
});

const channel = (description: string) =>
  closed(
    {
      base: price('Value of the average comparable vehicle, before the adjustments.'),
      low: price('Nine out of ten comparable vehicles are offered above it.'),
      value: price('`base` plus the adjustments of this channel, at least 0.'),
      high: price('Nine out of ten comparable vehicles are offered below it.'),
      confidence,
      derived_from: Type.Optional(
        Type.Enum(['observations', 'margin'], {
          description:
            'In live mode: `observations` if the price book has offers of this channel; `margin` if the figures are those of ' +
            'another channel and a fixed margin of `margin_percent`.',
        }),
      ),
      margin_percent: Type.Optional(nullable(Type.Number())),
    },
    description,
  );

const channels = closed({
  trade_in: channel('The owner sells to a dealer.'),
  private: channel('The owner sells to a private buyer.'),
  retail: channel('A dealer sells to a private buyer.'),
});

const adjustment = closed({
  kind: Type.Enum(ADJUSTMENT_KINDS),
  amount: { ...amount, description: `Negative if it lowers the value. ${MONEY_MINOR_UNITS}` },
  channels: Type.Array(Type.Enum(PRICE_CHANNELS), { minItems: 1, description: 'The channels that it applies to.' }),
  reason: Type.String({ description: 'In plain English.' }),
});

const market = closed({
  observations: Type.Integer({ minimum: 0, description: 'Number of market observations behind the valuation.' }),
  median_days_to_sell: nullable(Type.Integer({ minimum: 0 })),
  price_trend_percent: nullable(Type.Number({ description: 'Change of comparable prices over the last 90 days.' })),
});

const comparable = closed({
  kind: Type.Enum(['asked', 'sold'], { description: '`asked`: the asking price; `sold`: the price paid.' }),
  channel: Type.Enum(PRICE_CHANNELS),
  variant: nullable(Type.String()),
  year: modelYear,
  mileage_km: nullable(mileageKm),
  price: price('The asking price, or the price paid.'),
  country,
  distance_km: nullable(Type.Integer({ minimum: 0, description: 'Distance from the place of the valuation.' })),
  observed_on: Type.String({ format: 'date' }),
  days_listed: nullable(Type.Integer({ minimum: 0 })),
  similarity: Type.Number({ minimum: 0, maximum: 1, description: 'Similarity to the valued vehicle; 1 is identical.' }),
});

export const result = closed({
  vehicle: nullable({ ...pricedVehicle, description: 'The valued vehicle; null if it could not be identified.' }),
  condition: nullable(condition),
  price_book: Type.String({
    description: 'In live mode with its version, such as `eu-de@3`: name it to repeat the valuation.',
  }),
  country,
  currency,
  exchange_rate: Type.Optional(exchangeRate),
  valued_on: Type.String({ format: 'date', description: 'In live mode the day that the price book ends.' }),
  channels: nullable({ ...channels, description: 'Null if the price book does not know the vehicle.' }),
  adjustments: Type.Array(adjustment, { description: 'The steps from `base` to `value`.' }),
  market: nullable(market),
  report: priceReport,
  comparables: nullable(
    Type.Array(comparable, {
      description:
        'Market observations behind the valuation, most similar first; null with `include_comparables: false`.',
    }),
  ),
});

export type Result = Type.Static<typeof result>;
