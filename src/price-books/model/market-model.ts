/**
 * What vehicles are asked for in one market: the log price by the attributes of a vehicle, and how far prices spread around
 * it. Levels of makes, models and variants are inputs of boosted trees, which are held to fall with age and mileage. Pure.
 */

import type { Feature } from './binned-feature.ts';
import { type BoostingSettings, fitTrees, predictTrees, type Trees } from './boosted-trees.ts';
import {
  CALIBRATION_TENTH,
  EVALUATION_TENTH,
  type MarketRow,
  type PricedAttributes,
  type Seller,
} from './market-rows.ts';
import {
  findTypicalVehicles,
  modelKey,
  type TypicalModel,
  type TypicalVehicles,
  UNKNOWN_NUMBER,
  usualMileageKm,
} from './typical-vehicles.ts';
import { fitLevels, type VehicleGroups } from './vehicle-levels.ts';

export interface MarketModel {
  typical: TypicalVehicles;
  /** Codes of fuels and gearboxes: their places in these lists. */
  fuels: string[];
  transmissions: string[];
  sellers: Seller[];
  levels: { makes: Record<string, number>; models: Record<string, number>; variants: Record<string, number> };
  slopes: Record<string, number>;
  price: Trees;
  /** The logarithm of the size of residuals of the log price. */
  spread: Trees;
  /** Residuals relative to their spread that one price in ten lies below, and one in ten above. */
  lowest: number;
  highest: number;
}

export interface PriceEstimate {
  /** In minor units, not rounded. */
  value: number;
  /** Factors of the value: one price in ten is asked below `low`, and one in ten above `high`. */
  low: number;
  high: number;
}

const PRICE: BoostingSettings = {
  rounds: 600,
  leaves: 63,
  learningRate: 0.06,
  leastRows: 5,
  shrinkage: 5,
  outlierScale: 0.3,
  rowShare: 0.7,
  featureShare: 0.6,
};
/** Without make and model: what they are worth is what it leaves. */
const GENERAL: BoostingSettings = { ...PRICE, rounds: 60, leaves: 31, learningRate: 0.1 };
const SPREAD: BoostingSettings = {
  rounds: 60,
  leaves: 8,
  learningRate: 0.08,
  leastRows: 60,
  shrinkage: 20,
  outlierScale: 3,
  rowShare: 1,
  featureShare: 1,
};
/** Offers of a kind of seller that tell its prices from those of others. */
const LEAST_OF_SELLER = 50;
const FOLDS = 5;
const LEAST_RESIDUAL = 0.005;

export function estimatePrice(model: MarketModel, attributes: PricedAttributes): PriceEstimate {
  const row = featuresOf(model, attributes);
  const spread = Math.exp(predictTrees(model.spread, row));
  return {
    value: Math.exp(predictTrees(model.price, row)),
    low: Math.exp(Math.min(0, model.lowest * spread)),
    high: Math.exp(Math.max(0, model.highest * spread)),
  };
}

/** In kilometres, for vehicles of the same model and age. */
export function usualMileageOf({ typical }: MarketModel, attributes: PricedAttributes): number {
  return usualMileageKm(typical, attributes.ageYears, typicalFor(typical, attributes).mileageFactor);
}

/** Fits to all plausible rows but those of the evaluation. The ranges are calibrated on rows as they came. */
export function fitMarketModel(rows: readonly MarketRow[]): MarketModel {
  const fitted = rows.filter(({ tenth }) => tenth !== EVALUATION_TENTH);
  const apart = fitted.filter(({ tenth }) => tenth === CALIBRATION_TENTH);
  const rest = fitted.filter(({ tenth }) => tenth !== CALIBRATION_TENTH);
  return { ...fitPrices(fitted.filter(isPlausible)), ...calibrate(fitPrices(rest.filter(isPlausible)), apart) };
}

/** Most kilometres of a vehicle at its first registration, and a year after it: beyond, the year is hardly the vehicle's. */
const MOST_KM = { at: 30_000, perYear: 40_000 };

/**
 * Adverts with a mistyped year, of a new car with the mileage and price of an old one, would lower all new ones: more years
 * must never raise a value.
 */
export const isPlausible = ({ mileageKm, ageYears }: Pick<MarketRow, 'mileageKm' | 'ageYears'>) =>
  mileageKm === null || mileageKm <= MOST_KM.at + MOST_KM.perYear * ageYears;

type PriceModel = Omit<MarketModel, 'spread' | 'lowest' | 'highest'>;
type Calibration = Pick<MarketModel, 'spread' | 'lowest' | 'highest'>;

function calibrate(model: PriceModel, rows: readonly MarketRow[]): Calibration {
  const features = rows.map((row) => featuresOf(model, row));
  const residuals = rows.map(
    ({ priceMinor }, at) => Math.log(priceMinor) - predictTrees(model.price, features[at] as Float32Array),
  );
  const sizes = Float32Array.from(residuals, (residual) => Math.log(Math.abs(residual) + LEAST_RESIDUAL));
  const spread = fitTrees(asColumns(features), sizes, SPREAD);
  const relative = residuals
    .map((residual, at) => residual / Math.exp(predictTrees(spread, features[at] as Float32Array)))
    .toSorted((one, other) => one - other);
  const quantile = (share: number) => relative[Math.floor(share * (relative.length - 1))] ?? 0;
  return { spread, lowest: quantile(0.1), highest: quantile(0.9) };
}

function fitPrices(rows: readonly MarketRow[]): PriceModel {
  const facts = {
    typical: findTypicalVehicles(rows),
    fuels: namesOf(rows.map(({ fuel }) => fuel)),
    transmissions: namesOf(rows.map(({ transmission }) => transmission)),
    sellers: namesOf(rows.map(({ seller }) => seller)).filter(
      (seller) => rows.filter((row) => row.seller === seller).length >= LEAST_OF_SELLER,
    ),
  };
  const prices = Float32Array.from(rows, ({ priceMinor }) => Math.log(priceMinor));
  const general = rows.map((row) => generalFeaturesOf(facts, row));
  const trees = fitTrees(asColumns(general), prices, GENERAL);
  const groups = numberGroups(rows, facts.typical);
  const residuals = prices.map((price, at) => price - predictTrees(trees, general[at] as Float32Array));
  const agesYears = Float32Array.from(rows, ({ ageYears }) => ageYears);
  const weights = residuals.map((residual) => 1 / (1 + (residual / OUTLIER_SCALE) ** 2));
  const levelsWithout = (fold: number) =>
    fitLevels({
      ...groups,
      residuals,
      agesYears,
      weights: weights.map((weight, at) => (rows[at]?.fold === fold ? 0 : weight)),
    });
  // A row must not see itself in its levels: those that it is fitted with come from the other folds.
  const byFold = Array.from({ length: FOLDS }, (_, fold) => levelsWithout(fold));
  const features = rows.map(({ fold }, at) => {
    const { makes, models, variants, slopes } = byFold[fold] as ReturnType<typeof fitLevels>;
    const [make, model, variant] = [groups.makes[at], groups.models[at], groups.variants[at]] as [
      number,
      number,
      number,
    ];
    const levels = [makes[make] ?? 0, models[model] ?? 0, variants[variant] ?? 0] as const;
    return withLevels(facts.typical, rows[at] as MarketRow, general[at] as Float32Array, {
      levels,
      slope: slopes[model] ?? 0,
    });
  });
  const all = levelsWithout(-1);
  return {
    ...facts,
    levels: {
      makes: byName(groups.names.makes, all.makes),
      models: byName(groups.names.models, all.models),
      variants: byName(groups.names.variants, all.variants),
    },
    slopes: byName(groups.names.models, all.slopes),
    // What counts as an outlier depends on how far the prices of the market spread.
    price: fitTrees(asColumns(features), prices, { ...PRICE, outlierScale: medianSize(residuals) }),
  };
}

/** Residual of the general model at which the weight of a row in its levels has halved. */
const OUTLIER_SCALE = 0.5;

const LEAST_SCALE = 0.05;

function medianSize(residuals: Float32Array): number {
  return Math.max(LEAST_SCALE, residuals.map(Math.abs).sort()[residuals.length >>> 1] ?? 0);
}

type Facts = Pick<MarketModel, 'typical' | 'fuels' | 'transmissions' | 'sellers'>;

/** Whether the log price may rise or fall with each feature, in the order of `featuresOf`. */
const MONOTONE: readonly Feature['monotone'][] = [-1, -1, 0, 0, 0, 0, 0, -1];

function asColumns(rows: readonly Float32Array[]): Feature[] {
  const width = rows[0]?.length ?? 0;
  return Array.from({ length: width }, (_, at) => ({
    values: Float32Array.from(rows, (row) => row[at] as number),
    monotone: MONOTONE[at] ?? 0,
  }));
}

function featuresOf(model: PriceModel, attributes: PricedAttributes): Float32Array {
  const { levels, slopes, typical } = model;
  const key = modelKey(attributes);
  return withLevels(typical, attributes, generalFeaturesOf(model, attributes), {
    levels: [
      levels.makes[attributes.make] ?? 0,
      levels.models[key] ?? 0,
      levels.variants[variantKey(typical, attributes)] ?? 0,
    ],
    slope: slopes[key] ?? 0,
  });
}

function generalFeaturesOf(
  { typical, fuels, transmissions, sellers }: Facts,
  attributes: PricedAttributes,
): Float32Array {
  const usual = typicalFor(typical, attributes);
  const { ageYears, seller, unrepairedDamage } = attributes;
  return Float32Array.of(
    ageYears,
    attributes.mileageKm ?? usualMileageKm(typical, ageYears, usual.mileageFactor),
    attributes.powerKw ?? usual.powerKw,
    attributes.engineLitres ?? usual.engineLitres,
    fuels.indexOf(attributes.fuel ?? usual.fuel ?? ''),
    transmissions.indexOf(attributes.transmission ?? usual.transmission ?? ''),
    seller === null ? -1 : sellers.indexOf(seller),
    unrepairedDamage === null ? 1 : unrepairedDamage ? 2 : 0,
  );
}

function withLevels(
  typical: TypicalVehicles,
  attributes: PricedAttributes,
  general: Float32Array,
  { levels: [make, model, variant], slope }: { levels: readonly [number, number, number]; slope: number },
): Float32Array {
  const usual = typicalFor(typical, attributes);
  return Float32Array.of(
    ...general,
    make,
    make + model,
    make + model + variant,
    slope,
    // What kind of car the model is: with its level, it tells models apart.
    usual.ageYears,
    usual.powerKw,
    usual.engineLitres,
    usual.mileageFactor,
    usual.dieselShare,
    usual.manualShare,
  );
}

function typicalFor(typical: TypicalVehicles, attributes: PricedAttributes): TypicalModel {
  return typical.models[modelKey(attributes)] ?? typical.any;
}

/** Engines by displacement; where a book has none, by power in steps of 8 kW. */
function variantKey(typical: TypicalVehicles, attributes: PricedAttributes): string {
  const usual = typicalFor(typical, attributes);
  const litres = attributes.engineLitres ?? usual.engineLitres;
  const power = attributes.powerKw ?? usual.powerKw;
  const engine = litres === UNKNOWN_NUMBER ? `${Math.round(power / 8)}p` : litres.toFixed(1);
  const { fuel, transmission } = attributes;
  return [modelKey(attributes), fuel ?? usual.fuel, transmission ?? usual.transmission, engine].join('|');
}

function numberGroups(rows: readonly MarketRow[], typical: TypicalVehicles) {
  const [makes, models, variants] = [
    numbered(rows.map(({ make }) => make)),
    numbered(rows.map(modelKey)),
    numbered(rows.map((row) => variantKey(typical, row))),
  ];
  return {
    makes: makes.numbers,
    models: models.numbers,
    variants: variants.numbers,
    names: { makes: makes.names, models: models.names, variants: variants.names },
  } satisfies VehicleGroups & { names: Record<keyof VehicleGroups, string[]> };
}

function numbered(names: readonly string[]): { numbers: Int32Array; names: string[] } {
  const places = new Map<string, number>();
  for (const name of names) if (!places.has(name)) places.set(name, places.size);
  return { numbers: Int32Array.from(names, (name) => places.get(name) as number), names: [...places.keys()] };
}

const byName = (names: readonly string[], values: Float32Array) =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? 0]));

function namesOf<Name extends string>(values: readonly (Name | null)[]): Name[] {
  return [...new Set(values)].filter((name) => name !== null).toSorted();
}
