import { Type } from 'typebox';
import {
  ADJUSTMENT_KINDS,
  CONDITION_GRADES,
  CONDITION_SOURCES,
  country,
  PRICE_CHANNELS,
} from '../../contracts/vocabulary/pricing.ts';
import {
  amount,
  closed,
  confidence,
  currency,
  MONEY_MINOR_UNITS,
  nullable,
} from '../../contracts/vocabulary/schemas.ts';
import { mileageKm, modelYear, vin } from '../../contracts/vocabulary/vehicle-schemas.ts';

const price = (description: string) => Type.Integer({ minimum: 0, description: `${description} ${MONEY_MINOR_UNITS}` });

const pricedVehicle = closed({
  vin: nullable(vin),
  make: Type.String(),
  model: Type.String(),
  variant: nullable(Type.String()),
  year: modelYear,
  mileage_km: nullable(mileageKm),
  resolved_from: Type.Enum(['vin', 'attributes'], { description: '`attributes` too where the `vin` did not resolve.' }),
});

const condition = closed({
  grade: Type.Enum(CONDITION_GRADES),
  sources: Type.Array(Type.Enum(CONDITION_SOURCES), {
    description: 'From what it was concluded; empty where the condition usual at its age is assumed.',
  }),
  confidence: nullable({ ...confidence, description: 'Null where the grade was given or is assumed.' }),
});

const channel = (description: string) =>
  closed(
    {
      base: price('Of the average vehicle of its kind, before the adjustments.'),
      low: price('Four out of five sell above it.'),
      value: price('`base` and the adjustments of this channel, and never below 0.'),
      high: price('Four out of five sell below it.'),
      confidence,
    },
    description,
  );

const channels = closed({
  trade_in: channel('From its owner to a dealer.'),
  private: channel('From its owner to a person.'),
  retail: channel('From a dealer to a person.'),
});

const adjustment = closed({
  kind: Type.Enum(ADJUSTMENT_KINDS),
  amount: { ...amount, description: `Negative where it lowers the value. ${MONEY_MINOR_UNITS}` },
  channels: Type.Array(Type.Enum(PRICE_CHANNELS), { minItems: 1, description: 'The channels it is a part of.' }),
  reason: Type.String({ description: 'In plain English.' }),
});

const market = closed({
  observations: Type.Integer({ minimum: 0, description: 'How many the valuation rests on.' }),
  median_days_to_sell: nullable(Type.Integer({ minimum: 0 })),
  price_trend_percent: nullable(Type.Number({ description: 'Change of like prices within the last 90 days.' })),
});

const comparable = closed({
  kind: Type.Enum(['asked', 'sold'], { description: 'Whether the price was asked or paid.' }),
  channel: Type.Enum(PRICE_CHANNELS),
  variant: nullable(Type.String()),
  year: modelYear,
  mileage_km: nullable(mileageKm),
  price: price('As asked or paid.'),
  country,
  distance_km: nullable(Type.Integer({ minimum: 0, description: 'From the place of the valuation.' })),
  observed_on: Type.String({ format: 'date' }),
  days_listed: nullable(Type.Integer({ minimum: 0 })),
  similarity: Type.Number({ minimum: 0, maximum: 1, description: 'To the vehicle that is priced: 1 is its twin.' }),
});

export const result = closed({
  vehicle: nullable({ ...pricedVehicle, description: 'What was priced; null where it could not be told.' }),
  condition: nullable(condition),
  price_book: Type.String(),
  country,
  currency,
  valued_on: Type.String({ format: 'date' }),
  channels: nullable({ ...channels, description: 'Null where the price book does not know the vehicle.' }),
  adjustments: Type.Array(adjustment, { description: 'What leads from `base` to `value`.' }),
  market: nullable(market),
  comparables: nullable(
    Type.Array(comparable, {
      description: 'Market observations behind the values, most similar first; null with `include_comparables: false`.',
    }),
  ),
});

export type Result = Type.Static<typeof result>;
