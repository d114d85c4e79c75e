/** One row of a price book's file: a vehicle that was offered at a price. Pure. */
import { hash } from 'node:crypto';
import { FUEL_TYPES } from '../contracts/vocabulary/vehicles.ts';
import type { StatedAttributes } from './model/market-rows.ts';
import {
  checkMarket,
  day,
  decimal,
  type Market,
  minorDigits,
  oneOf,
  RowProblem,
  required,
  whole,
} from './row-fields.ts';
import { makeKey, nameKey } from './vehicle-names.ts';

export const COLUMNS = [
  'observed_on',
  'country',
  'currency',
  'make',
  'model',
  'year',
  'month',
  'mileage_km',
  'price_minor',
  'fuel',
  'transmission',
  'power_kw',
  'engine_litres',
  'seller',
  'unrepaired_damage',
] as const;
type Column = (typeof COLUMNS)[number];

export interface Observation extends StatedAttributes {
  /** Of all values: equal rows are one observation. 16 bytes. */
  digest: Buffer;
  /** ISO 8601 day; a month stands for its first day. */
  observedOn: string;
  makeName: string;
  modelName: string;
  /** Folded names. */
  make: string;
  model: string;
  year: number;
  /** Of the first registration, from 1. */
  month: number | null;
  priceMinor: number;
}

/** No vehicle of this mileage has a market. */
export const MOST_MILEAGE_KM = 1_000_000;
const EARLIEST_YEAR = 1900;
/** Sellers who want to be called ask for less than this, in major units. */
const LEAST_PRICE = 100;
const MOST_PRICE = 10_000_000;

/** @param latestDay that an observation may be of, ISO 8601 @throws RowProblem */
export function readObservation(
  values: Readonly<Record<Column, string>>,
  market: Market,
  latestDay: string,
): Observation {
  checkMarket(values, market);
  const observedOn = day('observed_on', values, latestDay);
  const makeName = values.make.trim();
  const modelName = values.model.trim();
  const [make, model] = [makeKey(makeName), nameKey(modelName)];
  if (make === '') throw new RowProblem('make is missing');
  if (model === '') throw new RowProblem('model is missing');
  const perUnit = 10 ** minorDigits(market.currency);
  const observation = {
    observedOn,
    makeName,
    modelName,
    make,
    model,
    year: required('year', whole('year', values, { least: EARLIEST_YEAR, most: Number(observedOn.slice(0, 4)) })),
    month: values.month === '0' ? null : whole('month', values, { least: 1, most: 12 }),
    mileageKm: whole('mileage_km', values, { least: 0, most: MOST_MILEAGE_KM }),
    priceMinor: required(
      'price_minor',
      whole('price_minor', values, { least: LEAST_PRICE * perUnit, most: MOST_PRICE * perUnit }),
    ),
    fuel: oneOf('fuel', values, FUEL_TYPES),
    transmission: transmissionOf(oneOf('transmission', values, ['manual', 'automatic', 'semi-auto', 'other'])),
    powerKw: unlikelyAsUnknown(decimal('power_kw', values), 15, 1_500),
    engineLitres: unlikelyAsUnknown(decimal('engine_litres', values), 0.3, 12),
    seller: oneOf('seller', values, ['private', 'dealer'] as const),
    unrepairedDamage: damageOf(oneOf('unrepaired_damage', values, ['yes', 'no'])),
  };
  const digest = hash('sha256', JSON.stringify(Object.values(observation)), 'buffer').subarray(0, 16);
  return { digest, ...observation };
}

/** Typing errors in these columns are frequent, and the rest of the row is still of use. */
function unlikelyAsUnknown(value: number | null, least: number, most: number): number | null {
  return value !== null && value >= least && value <= most ? value : null;
}

/** Requests know two gearboxes: an automated manual one counts as automatic. */
function transmissionOf(value: 'manual' | 'automatic' | 'semi-auto' | 'other' | null): string | null {
  if (value === 'other') return null;
  return value === 'semi-auto' ? 'automatic' : value;
}

const damageOf = (value: 'yes' | 'no' | null) => (value === null ? null : value === 'yes');
