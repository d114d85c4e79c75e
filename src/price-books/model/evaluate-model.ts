/** How well a model values vehicles that it was not fitted to. Pure. */
import { estimatePrice, isPlausible, type MarketModel } from './market-model.ts';
import { EVALUATION_TENTH, type MarketRow } from './market-rows.ts';
import { modelKey } from './typical-vehicles.ts';

/** Measured on the tenth of the observations that was set aside. */
export interface Evaluation {
  /** Observations that were fitted to, and set aside. */
  fitted: number;
  evaluated: number;
  /** Median of |estimate - price| / price, in percent; null without an observation. */
  medianErrorPercent: number | null;
  /** Share of the prices between `low` and `high`, in percent. */
  withinRangePercent: number | null;
  /** The median error of the simplest estimate: the median price of make, model and year of age. */
  baselineErrorPercent: number | null;
}

export function evaluateModel(model: MarketModel, rows: readonly MarketRow[]): Evaluation {
  const apart = rows.filter(({ tenth }) => tenth === EVALUATION_TENTH);
  const fitted = rows.filter(({ tenth }) => tenth !== EVALUATION_TENTH);
  const estimates = apart.map((row) => ({ price: row.priceMinor, ...estimatePrice(model, row) }));
  const within = estimates.filter(({ price, value, low, high }) => price >= value * low && price <= value * high);
  return {
    fitted: fitted.filter(isPlausible).length,
    evaluated: apart.length,
    medianErrorPercent: asPercent(medianOf(estimates.map(({ price, value }) => Math.abs(value - price) / price))),
    withinRangePercent: asPercent(apart.length === 0 ? null : within.length / apart.length),
    baselineErrorPercent: asPercent(medianOf(baselineErrors(fitted, apart))),
  };
}

function baselineErrors(fitted: readonly MarketRow[], apart: readonly MarketRow[]): number[] {
  const keyOf = (row: MarketRow) => `${modelKey(row)}|${Math.floor(row.ageYears)}`;
  const groups = Map.groupBy(fitted, keyOf);
  return apart.flatMap((row) => {
    const median = medianOf((groups.get(keyOf(row)) ?? []).map(({ priceMinor }) => priceMinor));
    return median === null ? [] : [Math.abs(median - row.priceMinor) / row.priceMinor];
  });
}

const medianOf = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[values.length >>> 1] ?? null;

const asPercent = (share: number | null) => (share === null ? null : Math.round(share * 10_000) / 100);
