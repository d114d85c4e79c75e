/**
 * What makes, models and variants are worth beyond their other attributes: hierarchical means of log residuals, shrunken
 * towards the level above, so that a rare model is valued much as its make. Pure.
 */

/** A variant is a model with one fuel, gearbox and engine. */
export interface VehicleGroups {
  makes: Int32Array;
  models: Int32Array;
  variants: Int32Array;
}

/** Log price beyond the expectation, by number of make, model and variant; `slopes` per year of age, by model. */
export interface Levels {
  makes: Float32Array;
  models: Float32Array;
  variants: Float32Array;
  slopes: Float32Array;
}

/** Rows that a group needs to be believed as much as the level above it. */
const SHRINKAGE = { makes: 5, models: 8, variants: 6 };
/** Likewise for slopes, in squared years. */
const SLOPE_SHRINKAGE = 150;

interface Residuals extends VehicleGroups {
  residuals: Float32Array;
  /** 0 leaves a row out. */
  weights: Float32Array;
  agesYears: Float32Array;
}

export function fitLevels(rows: Residuals): Levels {
  const left = Float32Array.from(rows.residuals);
  const makes = shrunkenMeans(rows.makes, left, rows.weights, SHRINKAGE.makes);
  subtract(left, rows.makes, makes);
  const models = shrunkenMeans(rows.models, left, rows.weights, SHRINKAGE.models);
  subtract(left, rows.models, models);
  const slopes = shrunkenSlopes(rows, left);
  const variants = shrunkenMeans(rows.variants, left, rows.weights, SHRINKAGE.variants);
  return { makes, models, variants, slopes };
}

function shrunkenMeans(groups: Int32Array, values: Float32Array, weights: Float32Array, shrinkage: number) {
  const [sums, counts] = [new Float64Array(sizeOf(groups)), new Float64Array(sizeOf(groups))];
  for (let row = 0; row < groups.length; row += 1) {
    const group = groups[row] as number;
    const weight = weights[row] as number;
    sums[group] = (sums[group] as number) + weight * (values[row] as number);
    counts[group] = (counts[group] as number) + weight;
  }
  return Float32Array.from(sums, (sum, group) => sum / ((counts[group] as number) + shrinkage));
}

function shrunkenSlopes({ models, weights, agesYears }: Residuals, values: Float32Array): Float32Array {
  const size = sizeOf(models);
  const sums = { weight: new Float64Array(size), age: new Float64Array(size) };
  for (let row = 0; row < models.length; row += 1) {
    const [model, weight] = [models[row] as number, weights[row] as number];
    sums.weight[model] = (sums.weight[model] as number) + weight;
    sums.age[model] = (sums.age[model] as number) + weight * (agesYears[row] as number);
  }
  const [products, squares] = [new Float64Array(size), new Float64Array(size)];
  for (let row = 0; row < models.length; row += 1) {
    const [model, weight] = [models[row] as number, weights[row] as number];
    const distance =
      (agesYears[row] as number) - (sums.age[model] as number) / Math.max(1, sums.weight[model] as number);
    products[model] = (products[model] as number) + weight * distance * (values[row] as number);
    squares[model] = (squares[model] as number) + weight * distance * distance;
  }
  return Float32Array.from(products, (product, model) => product / ((squares[model] as number) + SLOPE_SHRINKAGE));
}

function subtract(values: Float32Array, groups: Int32Array, levels: Float32Array): void {
  for (let row = 0; row < values.length; row += 1) {
    values[row] = (values[row] as number) - (levels[groups[row] as number] as number);
  }
}

function sizeOf(groups: Int32Array): number {
  return groups.reduce((most, group) => Math.max(most, group + 1), 0);
}
