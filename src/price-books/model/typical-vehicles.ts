/** What is usual for a model, for what a row or a request leaves out. Pure. */
import type { MarketRow, PricedAttributes } from './market-rows.ts';

/** The usual vehicle of one model. */
export interface TypicalModel {
  fuel: string | null;
  transmission: string | null;
  powerKw: number;
  engineLitres: number;
  /** Mileage relative to the usual one of all models at the same age. */
  mileageFactor: number;
  ageYears: number;
  dieselShare: number;
  manualShare: number;
  observations: number;
}

export interface TypicalVehicles {
  /** Usual mileage at each whole year of age; never falls. */
  mileagesKm: number[];
  models: Record<string, TypicalModel>;
  /** Of all models. */
  any: TypicalModel;
}

/** An attribute that the book nowhere states. */
export const UNKNOWN_NUMBER = -1;
const MOST_AGE_YEARS = 60;
/** Rows that a model needs to be believed as much as the average of all. */
const SHRINKAGE = 5;

export const modelKey = ({ make, model }: Pick<PricedAttributes, 'make' | 'model'>) => `${make}|${model}`;

export function findTypicalVehicles(rows: readonly MarketRow[]): TypicalVehicles {
  const mileagesKm = mileagesByAge(rows);
  const any = typicalOf(rows, mileagesKm, null);
  const groups = Map.groupBy(rows, modelKey);
  const models = Object.fromEntries([...groups].map(([key, group]) => [key, typicalOf(group, mileagesKm, any)]));
  return { mileagesKm, models, any };
}

/** In kilometres. Never falls as the age rises. */
export function usualMileageKm({ mileagesKm }: Pick<TypicalVehicles, 'mileagesKm'>, ageYears: number, factor: number) {
  const age = Math.min(MOST_AGE_YEARS, Math.max(0, ageYears));
  const [whole, part] = [Math.floor(age), age - Math.floor(age)];
  const before = mileagesKm[whole] ?? 0;
  return (before + ((mileagesKm[whole + 1] ?? before) - before) * part) * factor;
}

function mileagesByAge(rows: readonly MarketRow[]): number[] {
  const byAge: number[][] = Array.from({ length: MOST_AGE_YEARS + 1 }, () => []);
  for (const { ageYears, mileageKm } of rows) {
    if (mileageKm !== null) byAge[Math.min(MOST_AGE_YEARS, Math.round(ageYears))]?.push(mileageKm);
  }
  let most = 0;
  return byAge.map((mileages) => {
    if (mileages.length >= SHRINKAGE) most = Math.max(most, medianOf(mileages) ?? 0);
    return most;
  });
}

function typicalOf(rows: readonly MarketRow[], mileagesKm: number[], any: TypicalModel | null): TypicalModel {
  const shrunken = (values: readonly number[], around: number) =>
    (values.reduce((sum, value) => sum + value, 0) + SHRINKAGE * around) / (values.length + SHRINKAGE);
  const factors = rows.flatMap(({ ageYears, mileageKm }) => {
    const usual = usualMileageKm({ mileagesKm }, ageYears, 1);
    return mileageKm === null || usual < 1_000 ? [] : [Math.min(4, mileageKm / usual)];
  });
  return {
    fuel: mostFrequent(rows.map(({ fuel }) => fuel)) ?? any?.fuel ?? null,
    transmission: mostFrequent(rows.map(({ transmission }) => transmission)) ?? any?.transmission ?? null,
    powerKw: medianOf(known(rows.map(({ powerKw }) => powerKw))) ?? any?.powerKw ?? UNKNOWN_NUMBER,
    engineLitres: medianOf(known(rows.map(({ engineLitres }) => engineLitres))) ?? any?.engineLitres ?? UNKNOWN_NUMBER,
    mileageFactor: shrunken(factors, 1),
    ageYears: shrunken(
      rows.map(({ ageYears }) => ageYears),
      any?.ageYears ?? 0,
    ),
    dieselShare: shrunken(
      rows.map(({ fuel }) => Number(fuel === 'diesel')),
      any?.dieselShare ?? 0,
    ),
    manualShare: shrunken(
      rows.map(({ transmission }) => Number(transmission === 'manual')),
      any?.manualShare ?? 0,
    ),
    observations: rows.length,
  };
}

const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[values.length >>> 1];
}

/** The most frequent value that is known; the first of equals in the order of the alphabet. */
function mostFrequent(values: readonly (string | null)[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ranked = [...counts].toSorted(([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1));
  return ranked[0]?.[0] ?? null;
}
