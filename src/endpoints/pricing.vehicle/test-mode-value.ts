/**
 * Test mode: moves the values of a fixture to the requested vehicle, the same every time. The figures are plausible, not
 * those of a market. Pure.
 */
import { MOST_MILEAGE_KM } from '../../contracts/vocabulary/vehicles.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';
import { converted, replaced } from './valuation.ts';

type Adjustment = Result['adjustments'][number];
type Comparable = NonNullable<Result['comparables']>[number];
type Vehicle = NonNullable<Result['vehicle']>;

/** What a vehicle keeps of its value from one model year to the next. */
const VALUE_KEPT_PER_YEAR = 0.88;
const YEAR_FACTORS = { least: 0.05, most: 2.5 };
/** Range of the factor of makes and models relative to the fixture's. */
const MODEL_FACTORS = { least: 0.6, most: 1.8 };
const USUAL_KM_PER_YEAR = 15_250;
/** A vehicle of the current model year counts as half a year old. */
const LEAST_AGE_YEARS = 0.5;
/** Fraction of the private base per kilometre more or fewer than usual. */
const VALUE_PER_KM = 22_000 / 1_560_000 / 12_800;
/** High mileage costs at most this fraction of the lowest base. */
const MOST_MILEAGE_DEDUCTION = 0.4;
/** Each requested item of equipment adds this fraction of the private base, up to a limit. */
const VALUE_PER_ITEM = 0.01;
const MOST_ITEMS = 10;

/**
 * @param fixture its `vehicle` is the one that its values are for
 * @param vehicle the vehicle of the result
 * @param requested the vehicle of the request
 */
export function valuedFor(fixture: Result, vehicle: Vehicle, requested: Parameters['vehicle']): Result {
  const { vehicle: original, channels } = fixture;
  if (!original || !channels) return { ...fixture, vehicle };
  const factor = modelFactor(vehicle, original) * yearFactor(vehicle, original);
  const scaled: Result = { ...converted(fixture, factor), vehicle };
  const ageYears = Math.max(LEAST_AGE_YEARS, Number(fixture.valued_on.slice(0, 4)) - vehicle.year);
  const steps = [withMileage, withEquipment];
  const valued = steps.reduce((result, step) => step(result, { vehicle, requested, ageYears }), scaled);
  return { ...valued, comparables: comparablesFor(valued, fixture, requested) };
}

interface Facts {
  vehicle: Vehicle;
  requested: Parameters['vehicle'];
  ageYears: number;
}

/** Without a mileage the usual one is assumed. */
function withMileage(result: Result, { vehicle, ageYears }: Facts): Result {
  const { channels } = result;
  if (!channels) return result;
  const difference = vehicle.mileage_km === null ? 0 : Math.round(USUAL_KM_PER_YEAR * ageYears) - vehicle.mileage_km;
  if (difference === 0) return replaced(result, 'mileage', null);
  const bases = [channels.trade_in.base, channels.private.base, channels.retail.base];
  const worth = Math.round(difference * VALUE_PER_KM * channels.private.base);
  const amount = Math.max(worth, -Math.round(MOST_MILEAGE_DEDUCTION * Math.min(...bases)));
  const km = Math.abs(difference).toLocaleString('en-US');
  const reason = `${km} km ${difference > 0 ? 'fewer' : 'more'} than is usual at its age`;
  return replaced(result, 'mileage', { kind: 'mileage', amount, channels: [...ALL_CHANNELS], reason });
}

/** A resolved VIN states the equipment; otherwise the request does. */
function withEquipment(result: Result, { vehicle, requested }: Facts): Result {
  if (!result.channels || vehicle.resolved_from === 'vin') return result;
  const items = requested.equipment ?? [];
  const amount = Math.round(Math.min(items.length, MOST_ITEMS) * VALUE_PER_ITEM * result.channels.private.base);
  const equipment: Adjustment = {
    kind: 'equipment',
    amount,
    channels: [...ALL_CHANNELS],
    reason: items.length === 1 ? `Equipment: ${items[0]}` : `${items.length} items of equipment`,
  };
  return replaced(result, 'equipment', items.length === 0 ? null : equipment);
}

const ALL_CHANNELS = ['trade_in', 'private', 'retail'] as const;

/** Observations of the requested vehicle, with prices in proportion to its values. */
function comparablesFor(valued: Result, fixture: Result, requested: Parameters['vehicle']): Result['comparables'] {
  const { vehicle, channels } = valued;
  const { vehicle: original, channels: before } = fixture;
  if (!vehicle || !original || !channels || !before || !fixture.comparables) return fixture.comparables;
  const years = vehicle.year - original.year;
  const km = vehicle.mileage_km === null || original.mileage_km === null ? 0 : vehicle.mileage_km - original.mileage_km;
  const isSameModel = modelFactor(vehicle, original) === 1;
  return fixture.comparables.map(
    (item): Comparable => ({
      ...item,
      variant: isSameModel ? item.variant : (requested.variant ?? null),
      year: Math.min(item.year + years, Math.max(vehicle.year, Number(item.observed_on.slice(0, 4)))),
      mileage_km: item.mileage_km === null ? null : Math.min(MOST_MILEAGE_KM, Math.max(0, item.mileage_km + km)),
      price: Math.round((item.price * channels[item.channel].value) / before[item.channel].value),
    }),
  );
}

/** 1 for the fixture's own model; otherwise from the hash of make and model. */
function modelFactor(vehicle: Vehicle, original: Vehicle): number {
  const name = nameOf(vehicle);
  if (name === nameOf(original)) return 1;
  const { least, most } = MODEL_FACTORS;
  return least * (most / least) ** unitHash(name);
}

function nameOf({ make, model }: Vehicle): string {
  return `${make} ${model}`.normalize('NFKC').trim().toLowerCase();
}

function yearFactor({ year }: Vehicle, original: Vehicle): number {
  const { least, most } = YEAR_FACTORS;
  return Math.min(most, Math.max(least, VALUE_KEPT_PER_YEAR ** (original.year - year)));
}

/** FNV-1a, mapped to [0, 1). */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
