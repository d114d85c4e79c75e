/** The benchmark's statistics. All refuse an empty list: a measurement without values is an error. */

export interface Spread {
  median: number;
  minimum: number;
  maximum: number;
}

/** The value below which this share of the values is, interpolated between neighbours (type 7 of Hyndman and Fan). */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('a quantile needs at least one value');
  if (share < 0 || share > 1) throw new RangeError(`a share lies from 0 to 1; it is ${share}`);
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] as number;
  const above = sorted[Math.ceil(position)] as number;
  return below + (above - below) * (position - Math.floor(position));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), minimum: quantile(values, 0), maximum: quantile(values, 1) };
}

/** Round by round: only the two values of one round met the same state of the machine. */
export function pairwiseRatios(numerators: readonly number[], denominators: readonly number[]): number[] {
  if (numerators.length !== denominators.length) {
    throw new RangeError(`${numerators.length} values cannot be paired with ${denominators.length}`);
  }
  return numerators.map((numerator, index) => numerator / (denominators[index] as number));
}
