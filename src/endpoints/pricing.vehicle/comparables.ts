/** Observations of a price book beside the valued vehicle. Pure. */
import { type MarketModel, usualMileageOf } from '../../price-books/model/market-model.ts';
import type { PricedAttributes } from '../../price-books/model/market-rows.ts';
import type { Neighbour } from '../../price-books/observations-store.ts';
import type { ValuationPlan } from '../../price-books/plan-valuation.ts';
import type { Result } from './result.ts';

type Comparable = NonNullable<Result['comparables']>[number];

const MOST_COMPARABLES = 10;
/** How far a difference takes an observation away: similarity is the exponential of minus their sum. */
const PER_YEAR = 0.2;
const PER_KM = 1 / 100_000;
const PER_KW = 1 / 60;
const PER_LITRE = 0.4;
const OTHER_FUEL = 0.3;
const OTHER_TRANSMISSION = 0.2;
const OTHER_DAMAGE = 0.5;

interface Valued {
  attributes: PricedAttributes;
  plan: ValuationPlan;
  model: MarketModel;
  /** From minor units of the book to those of the result. */
  factor: number;
}

/** Most similar first. */
export function chooseComparables(
  neighbours: readonly Neighbour[],
  { attributes, plan, model, factor }: Valued,
): Comparable[] {
  const mileageKm = attributes.mileageKm ?? usualMileageOf(model, attributes);
  return neighbours
    .map((neighbour) => ({
      neighbour,
      similarity: similarityTo(neighbour, { ...attributes, mileageKm, year: plan.vehicle.year }),
    }))
    .toSorted((one, other) => other.similarity - one.similarity)
    .slice(0, MOST_COMPARABLES)
    .map(({ neighbour, similarity }) => ({
      kind: 'asked',
      channel: neighbour.seller === 'private' ? 'private' : 'retail',
      variant: null,
      year: neighbour.year,
      mileage_km: neighbour.mileageKm,
      price: Math.round(neighbour.priceMinor * factor),
      country: plan.version.country,
      distance_km: null,
      observed_on: neighbour.observedOn,
      days_listed: null,
      similarity,
    }));
}

type Compared = Omit<PricedAttributes, 'mileageKm'> & { mileageKm: number; year: number };

function similarityTo(neighbour: Neighbour, vehicle: Compared): number {
  const apart = (one: number | null, other: number | null, weight: number) =>
    one === null || other === null ? 0 : Math.abs(one - other) * weight;
  const differs = (one: string | null, other: string | null, weight: number) =>
    one === null || other === null || one === other ? 0 : weight;
  const distance =
    apart(neighbour.year, vehicle.year, PER_YEAR) +
    apart(neighbour.mileageKm, vehicle.mileageKm, PER_KM) +
    apart(neighbour.powerKw, vehicle.powerKw, PER_KW) +
    apart(neighbour.engineLitres, vehicle.engineLitres, PER_LITRE) +
    differs(neighbour.fuel, vehicle.fuel, OTHER_FUEL) +
    differs(neighbour.transmission, vehicle.transmission, OTHER_TRANSMISSION) +
    (neighbour.unrepairedDamage === true && vehicle.unrepairedDamage !== true ? OTHER_DAMAGE : 0);
  return Math.round(Math.exp(-distance) * 1_000) / 1_000;
}
