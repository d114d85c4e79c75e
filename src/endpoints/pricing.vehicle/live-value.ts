/** Live mode: the valuation of a vehicle by a price book. Pure: the same book and request give the same result. */

import { estimatePrice, type MarketModel, usualMileageOf } from '../../price-books/model/market-model.ts';
import type { PricedAttributes, Seller } from '../../price-books/model/market-rows.ts';
import type { Neighbour } from '../../price-books/observations-store.ts';
import type { ValuationPlan } from '../../price-books/plan-valuation.ts';
import { minorDigits } from '../../price-books/row-fields.ts';
import { ageYears } from '../../price-books/vehicle-age.ts';
import { chooseComparables } from './comparables.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Adjustment = Result['adjustments'][number];
type Channels = NonNullable<Result['channels']>;
type ChannelName = keyof Channels;
type Grade = NonNullable<Parameters['condition_grade']>;

/** Fixed, not measured: what a private seller gets of a dealer's price, and a dealer pays of a private seller's. */
const PRIVATE_BELOW_RETAIL_PERCENT = 10;
const TRADE_IN_BELOW_PRIVATE_PERCENT = 12;
/** Fixed, not measured: what a grade adds to the usual condition, B, as a fraction of the value. */
const GRADE_SHARES: Readonly<Record<Grade, number>> = { A: 0.05, B: 0, C: -0.06, D: -0.15, E: -0.35 };
/** The grade that repairs of up to this fraction of the private value suggest; beyond the last it is E. */
const GRADES_BY_REPAIRS = [
  { grade: 'B', upTo: 0.02 },
  { grade: 'C', upTo: 0.08 },
  { grade: 'D', upTo: 0.25 },
] as const;
const USUAL_GRADE = 'B';
/** A channel that is derived by a margin is this much less certain. */
const MARGIN_CONFIDENCE = 0.9;

/** What the pictures show of the condition. */
export interface PhotographedCondition {
  grade: Grade;
  confidence: number;
}

/** A request, with what was inferred of its pictures. */
export type ValuationParameters = Parameters & { photographed?: PhotographedCondition | null };

export interface ValuationInput {
  plan: ValuationPlan;
  model: MarketModel;
  /** Observations around the vehicle, in any fixed order. */
  neighbours: readonly Neighbour[];
  parameters: ValuationParameters;
}

/** The vehicle as the model takes it; unknown to the book is not stated. */
export function attributesOf({ plan, model, parameters }: Omit<ValuationInput, 'neighbours'>): PricedAttributes {
  const { vehicle: resolved, version } = plan;
  const { vehicle } = parameters;
  const [registeredYear, registeredMonth] = (vehicle.first_registration ?? '').split('-').map(Number);
  const month = registeredYear === resolved.year ? (registeredMonth ?? null) : null;
  const known = (value: string | undefined, values: readonly string[]) =>
    value !== undefined && values.includes(value) ? value : null;
  return {
    make: resolved.make,
    model: resolved.model,
    ageYears: ageYears(version.observedTo, { year: resolved.year, month }),
    mileageKm: vehicle.mileage_km ?? null,
    fuel: known(vehicle.fuel_type, model.fuels),
    transmission: known(vehicle.transmission, model.transmissions),
    powerKw: vehicle.power_kw ?? null,
    engineLitres: vehicle.engine_displacement_cm3 === undefined ? null : roundedLitres(vehicle.engine_displacement_cm3),
    seller: null,
    unrepairedDamage: vehicle.accident_history === undefined ? null : vehicle.accident_history === 'unrepaired',
  };
}

const roundedLitres = (cm3: number) => Math.round(cm3 / 100) / 10;

export function valueVehicle(input: ValuationInput): Result {
  const { plan, model, neighbours, parameters } = input;
  const { version, vehicle, rate, currency } = plan;
  const attributes = attributesOf(input);
  const factor = (rate?.rate ?? 1) * 10 ** (minorDigits(currency) - minorDigits(version.currency));
  const valued = bases(model).map((basis) => ({ ...basis, ...valueChannel(basis, { ...input, attributes, factor }) }));
  const [tradeIn, fromPerson, retail] = valued.map(({ figures }) => figures) as [Figures, Figures, Figures];
  const comparables =
    parameters.include_comparables === false
      ? null
      : chooseComparables(neighbours, { attributes, plan, factor, model });
  return {
    vehicle: {
      vin: parameters.vehicle.vin ?? null,
      make: vehicle.makeName,
      model: vehicle.modelName,
      variant: parameters.vehicle.variant ?? null,
      year: vehicle.year,
      mileage_km: attributes.mileageKm,
      resolved_from: vehicle.resolvedFrom,
    },
    condition: conditionOf(parameters, fromPerson.value),
    price_book: `${version.book}@${version.version}`,
    country: version.country,
    currency,
    ...(rate && { exchange_rate: { base: rate.base, quote: rate.quote, rate: rate.rate, rated_on: rate.ratedOn } }),
    valued_on: version.observedTo,
    channels: { trade_in: tradeIn, private: fromPerson, retail },
    adjustments: valued.flatMap(({ adjustments }) => adjustments),
    market: { observations: vehicle.observations, median_days_to_sell: null, price_trend_percent: null },
    comparables,
  };
}

type Figures = Channels[ChannelName];

/** Whose offers a channel is valued by, and what is taken off or put on. */
interface Basis {
  name: ChannelName;
  seller: Seller | null;
  /** Of the offers' value. */
  share: number;
  marginPercent: number | null;
}

/** In the order trade-in, private, retail. */
function bases({ sellers }: MarketModel): Basis[] {
  const [hasPrivate, hasDealer] = [sellers.includes('private'), sellers.includes('dealer')];
  const privateOfRetail = 1 - PRIVATE_BELOW_RETAIL_PERCENT / 100;
  const tradeInOfPrivate = 1 - TRADE_IN_BELOW_PRIVATE_PERCENT / 100;
  // Offers without a seller count as private ones.
  const fromPerson = hasPrivate || !hasDealer;
  const seller = hasPrivate ? 'private' : hasDealer ? 'dealer' : null;
  const privateShare = fromPerson ? 1 : privateOfRetail;
  return [
    {
      name: 'trade_in',
      seller,
      share: privateShare * tradeInOfPrivate,
      marginPercent: round(100 * (privateShare * tradeInOfPrivate - 1)),
    },
    { name: 'private', seller, share: privateShare, marginPercent: fromPerson ? null : -PRIVATE_BELOW_RETAIL_PERCENT },
    hasDealer
      ? { name: 'retail', seller: 'dealer', share: 1, marginPercent: null }
      : { name: 'retail', seller, share: 1 / privateOfRetail, marginPercent: round(100 * (1 / privateOfRetail - 1)) },
  ];
}

const round = (value: number) => Math.round(value * 100) / 100;

interface ChannelInput extends ValuationInput {
  attributes: PricedAttributes;
  /** From minor units of the book to those of the result. */
  factor: number;
}

/** Every amount is rounded once, to whole minor units; the steps are differences of rounded values, so they add up. */
function valueChannel({ name, seller, share, marginPercent }: Basis, input: ChannelInput) {
  const { model, attributes, factor, parameters } = input;
  const estimate = (changes: Partial<PricedAttributes>) => estimatePrice(model, { ...attributes, seller, ...changes });
  const amountOf = (changes: Partial<PricedAttributes>) => Math.round(estimate(changes).value * share * factor);
  const usualKm = usualMileageOf(model, attributes);
  const base = amountOf({ mileageKm: usualKm, unrepairedDamage: null });
  const driven = amountOf({ mileageKm: attributes.mileageKm ?? usualKm, unrepairedDamage: null });
  const asIs = amountOf({ mileageKm: attributes.mileageKm ?? usualKm });
  const { repair_estimate_total: repairs = 0, margin_pct: margin = 0, photographed } = parameters;
  // Repairs are deducted at their cost: what pictures show of the same damage moves nothing beyond it.
  const grade = parameters.condition_grade ?? (repairs === 0 ? photographed?.grade : undefined) ?? USUAL_GRADE;
  const conditioned = asIs + Math.round(asIs * GRADE_SHARES[grade]);
  const repaired = Math.max(0, conditioned - repairs);
  const sold = name === 'retail' ? repaired + Math.round((repaired * margin) / 100) : repaired;
  const step = (kind: Adjustment['kind'], amount: number, reason: string): Adjustment[] =>
    amount === 0 ? [] : [{ kind, amount, channels: [name], reason }];
  const { low, high } = estimate({});
  const bound = (relative: number) => {
    const bounded = Math.max(0, Math.round(conditioned * relative) - repairs);
    return name === 'retail' ? bounded + Math.round((bounded * margin) / 100) : bounded;
  };
  const certainty =
    Math.min(0.99, Math.max(0.05, 1 - (high - low) / 2)) * (marginPercent === null ? 1 : MARGIN_CONFIDENCE);
  const figures: Figures = {
    base,
    low: bound(low),
    value: sold,
    high: bound(high),
    confidence: round(certainty),
    derived_from: marginPercent === null ? 'observations' : 'margin',
    margin_percent: marginPercent,
  };
  const adjustments = [
    ...step('mileage', driven - base, mileageReason(attributes.mileageKm ?? usualKm, usualKm)),
    ...step('accident_history', asIs - driven, `Accident history: ${parameters.vehicle.accident_history}`),
    ...step('condition', conditioned - asIs, `Condition ${grade} instead of ${USUAL_GRADE}`),
    ...step(
      'damage',
      repaired - conditioned,
      repairs > conditioned ? 'Repairs, up to the value' : 'Repairs that are to be made',
    ),
    ...step('margin', sold - repaired, `Margin of ${margin} % on the retail figure`),
  ];
  return { figures, adjustments };
}

function mileageReason(km: number, usualKm: number): string {
  const difference = Math.round(Math.abs(km - usualKm)).toLocaleString('en-US');
  return `${difference} km ${km > usualKm ? 'more' : 'fewer'} than is usual for the model at its age`;
}

function conditionOf(parameters: ValuationParameters, privateValue: number): Result['condition'] {
  const { condition_grade: grade, repair_estimate_total: repairs = 0, photographed } = parameters;
  if (grade) return { grade, sources: ['request'], confidence: null };
  const suggested = repairs > 0 ? gradeOfRepairs(repairs, privateValue) : null;
  if (!photographed) {
    return { grade: suggested ?? USUAL_GRADE, sources: suggested ? ['repair_estimate'] : [], confidence: null };
  }
  if (!suggested) return { ...photographed, sources: ['photos'] };
  const isWorse = photographed.grade > suggested;
  return {
    grade: isWorse ? photographed.grade : suggested,
    sources: ['photos', 'repair_estimate'],
    confidence: isWorse ? photographed.confidence : null,
  };
}

/** The repairs are deducted already: the grade only names what they suggest. */
function gradeOfRepairs(repairs: number, privateValue: number): Grade {
  const share = repairs / (privateValue + repairs);
  const found = GRADES_BY_REPAIRS.find(({ upTo }) => share <= upTo);
  return found?.grade ?? 'E';
}
