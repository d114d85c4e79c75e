/** Values of a feature as numbers of bins, so that a split is found in one pass over sums per bin. Pure. */

export interface Feature {
  /** One finite value per row. */
  values: Float32Array;
  /** 1: the prediction never falls as the value rises; -1: it never rises; 0: free. */
  monotone: -1 | 0 | 1;
}

export interface BinnedFeature {
  /** Bin of each row. */
  bins: Uint8Array;
  /** Upper bounds of all bins but the last, ascending; a value on a bound lies below it. */
  bounds: Float32Array;
  monotone: Feature['monotone'];
}

const MOST_BINS = 255;
/** Rows of a bin, at least: few rows do not tell many bins apart. */
const LEAST_ROWS = 8;

/** Bins of about as many rows each; equal values share one. */
export function binFeature({ values, monotone }: Feature): BinnedFeature {
  const sorted = Float32Array.from(values).sort();
  const bounds: number[] = [];
  const bins = Math.min(MOST_BINS, Math.ceil(sorted.length / LEAST_ROWS));
  for (let bin = 1; bin < bins; bin += 1) {
    const value = sorted[Math.floor((bin * sorted.length) / bins)];
    if (value === undefined || (bounds.length > 0 && value < (bounds.at(-1) as number))) continue;
    const above = sorted[binOf(sorted, value, 'after')];
    if (above !== undefined) bounds.push(Math.fround((value + above) / 2));
  }
  const limits = Float32Array.from(new Set(bounds));
  return { bins: Uint8Array.from(values, (value) => binOf(limits, value, 'before')), bounds: limits, monotone };
}

/** The first place in an ascending list before which, or after which, a value belongs. */
function binOf(sorted: Float32Array, value: number, side: 'before' | 'after'): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = sorted[middle] as number;
    if (there < value || (side === 'after' && there === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
