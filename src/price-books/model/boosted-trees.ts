/**
 * Gradient boosting over histograms, with monotone constraints: Friedman (2001), with the leaf-wise growth and the bounds of
 * LightGBM's "basic" constraints. Robust: each round is a weighted least squares whose weights fall off for outliers
 * (Cauchy). Each tree sees a random part of the rows and of the features (Friedman, 2002), so that no two trees err alike.
 * Pure and deterministic: the same rows give the same trees.
 */
import { createRandom } from '../random.ts';
import { type BinnedFeature, binFeature, type Feature } from './binned-feature.ts';

export interface BoostingSettings {
  rounds: number;
  /** Most leaves of a tree; fewer with fewer than `ROWS_PER_LEAF` rows for each. */
  leaves: number;
  learningRate: number;
  /** Least rows of a leaf. */
  leastRows: number;
  /** Weight added to every leaf at a residual of 0: small leaves learn less. */
  shrinkage: number;
  /** Residual at which the weight of a row has halved. */
  outlierScale: number;
  /** Shares of the rows and of the features that a tree is grown on. */
  rowShare: number;
  featureShare: number;
}

/** All trees in flat lists. A node goes left where the value of its feature is at most `threshold`. */
export interface Trees {
  /** The prediction before the first tree. */
  start: number;
  /** First node of each tree. */
  roots: Int32Array;
  /** -1 for a leaf. */
  feature: Int8Array;
  /** The value of a leaf. */
  threshold: Float32Array;
  left: Int32Array;
  right: Int32Array;
}

export function predictTrees({ start, roots, feature, threshold, left, right }: Trees, row: Float32Array): number {
  let sum = start;
  for (const root of roots) {
    let node = root;
    for (let at = feature[node] as number; at >= 0; at = feature[node] as number) {
      node = ((row[at] as number) <= (threshold[node] as number) ? left[node] : right[node]) as number;
    }
    sum += threshold[node] as number;
  }
  return sum;
}

export function fitTrees(features: readonly Feature[], targets: Float32Array, settings: BoostingSettings): Trees {
  const start = Float32Array.from(targets).sort()[targets.length >>> 1] ?? 0;
  const random = createRandom(SEED);
  const grower = new TreeGrower(features.map(binFeature), settings, random);
  const nodes: Node[] = [];
  const predicted = new Float32Array(targets.length).fill(start);
  const roots: number[] = [];
  for (let round = 0; round < settings.rounds; round += 1) {
    roots.push(nodes.length);
    grower.grow(weigh(targets, predicted, settings, random), predicted, nodes);
  }
  return {
    start,
    roots: Int32Array.from(roots),
    feature: Int8Array.from(nodes, ({ feature }) => feature),
    threshold: Float32Array.from(nodes, ({ threshold }) => threshold),
    left: Int32Array.from(nodes, ({ left }) => left),
    right: Int32Array.from(nodes, ({ right }) => right),
  };
}

/** Of all rows. Small books need small trees. */
const ROWS_PER_LEAF = 400;
const LEAST_LEAVES = 8;
const SEED = 20_261_123;

interface Weighed {
  /** Residual times weight. */
  pulls: Float32Array;
  weights: Float32Array;
}

/** Rows that the tree does not see weigh nothing. */
function weigh(
  targets: Float32Array,
  predicted: Float32Array,
  { outlierScale, rowShare }: BoostingSettings,
  random: () => number,
): Weighed {
  const pulls = new Float32Array(targets.length);
  const weights = new Float32Array(targets.length);
  for (let row = 0; row < targets.length; row += 1) {
    if (rowShare < 1 && random() >= rowShare) continue;
    const residual = (targets[row] as number) - (predicted[row] as number);
    const weight = 1 / (1 + (residual / outlierScale) ** 2);
    weights[row] = weight;
    pulls[row] = residual * weight;
  }
  return { pulls, weights };
}

interface Node {
  feature: number;
  threshold: number;
  left: number;
  right: number;
}

interface Split {
  feature: number;
  /** Bins up to this one go left. */
  bin: number;
  gain: number;
  leftValue: number;
  rightValue: number;
}

interface Leaf {
  node: number;
  /** Its rows have the places from `from` up to, without, `to`. */
  from: number;
  to: number;
  value: number;
  /** What the monotone splits above it leave its value. */
  low: number;
  high: number;
  histogram: Float64Array;
  split: Split | null;
}

/** Numbers per bin of a histogram: pulls, weights, rows. */
const SUMS = 3;

class TreeGrower {
  readonly #features: readonly BinnedFeature[];
  readonly #settings: BoostingSettings;
  readonly #random: () => number;
  /** The features that the present tree may split by. */
  #chosen: readonly number[] = [];
  /** Where the histogram of each feature begins. */
  readonly #offsets: number[] = [];
  readonly #histogramSize: number;
  /** Rows in the order of leaves, and room to reorder them. */
  readonly #rows: Int32Array;
  readonly #moved: Int32Array;

  constructor(features: readonly BinnedFeature[], settings: BoostingSettings, random: () => number) {
    this.#features = features;
    this.#settings = settings;
    this.#random = random;
    let size = 0;
    for (const { bounds } of features) {
      this.#offsets.push(size);
      size += (bounds.length + 1) * SUMS;
    }
    this.#histogramSize = size;
    this.#rows = new Int32Array(features[0]?.bins.length ?? 0);
    this.#moved = new Int32Array(this.#rows.length);
  }

  /** Grows a tree, best leaf first, and adds it to the predictions. It is one leaf if no split is worth it. */
  grow(weighed: Weighed, predicted: Float32Array, nodes: Node[]): void {
    const { featureShare } = this.#settings;
    this.#chosen = this.#features.flatMap((_, index) =>
      featureShare === 1 || this.#random() < featureShare ? [index] : [],
    );
    for (let row = 0; row < this.#rows.length; row += 1) this.#rows[row] = row;
    const { leaves: limit, learningRate } = this.#settings;
    const mostLeaves = Math.min(limit, Math.max(LEAST_LEAVES, Math.floor(this.#rows.length / ROWS_PER_LEAF)));
    const bounds = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
    const range = { from: 0, to: this.#rows.length };
    const leaves = [this.#leaf({ ...range, ...bounds, value: 0, histogram: this.#sumUp(weighed, range) }, nodes)];
    while (leaves.length < mostLeaves) {
      const best = leaves.reduce((one, other) => ((other.split?.gain ?? 0) > (one.split?.gain ?? 0) ? other : one));
      if (!best.split) break;
      leaves.splice(leaves.indexOf(best), 1, ...this.#divide(best, best.split, weighed, nodes));
    }
    for (const { node, from, to, value } of leaves) {
      const step = Math.fround(value * learningRate);
      Object.assign(nodes[node] as Node, { threshold: step });
      for (let place = from; place < to; place += 1) {
        const row = this.#rows[place] as number;
        predicted[row] = (predicted[row] as number) + step;
      }
    }
  }

  #leaf(facts: Omit<Leaf, 'node' | 'split'>, nodes: Node[]): Leaf {
    const node = nodes.push({ feature: -1, threshold: 0, left: -1, right: -1 }) - 1;
    return { ...facts, node, split: this.#findSplit(facts) };
  }

  #divide(leaf: Leaf, { feature, bin, leftValue, rightValue }: Split, weighed: Weighed, nodes: Node[]): Leaf[] {
    const { bins, bounds, monotone } = this.#features[feature] as BinnedFeature;
    const middle = this.#partition(leaf, bins, bin);
    const [left, right] = [
      { from: leaf.from, to: middle },
      { from: middle, to: leaf.to },
    ];
    // The smaller side is summed up; the other is what remains.
    const isLeftSmaller = middle - leaf.from <= leaf.to - middle;
    const summed = this.#sumUp(weighed, isLeftSmaller ? left : right);
    const rest = leaf.histogram;
    for (let at = 0; at < rest.length; at += 1) rest[at] = (rest[at] as number) - (summed[at] as number);
    // Neither side may pass the middle of a monotone split, however it is split further.
    const between = (leftValue + rightValue) / 2;
    const sides = [
      this.#leaf(
        {
          ...left,
          value: leftValue,
          low: monotone < 0 ? between : leaf.low,
          high: monotone > 0 ? between : leaf.high,
          histogram: isLeftSmaller ? summed : rest,
        },
        nodes,
      ),
      this.#leaf(
        {
          ...right,
          value: rightValue,
          low: monotone > 0 ? between : leaf.low,
          high: monotone < 0 ? between : leaf.high,
          histogram: isLeftSmaller ? rest : summed,
        },
        nodes,
      ),
    ] as const;
    nodes[leaf.node] = { feature, threshold: bounds[bin] as number, left: sides[0].node, right: sides[1].node };
    return [...sides];
  }

  /** Moves the rows of the left side to the front. Returns where the right side begins. */
  #partition({ from, to }: Leaf, bins: Uint8Array, bin: number): number {
    let [left, moved] = [from, 0];
    for (let place = from; place < to; place += 1) {
      const row = this.#rows[place] as number;
      if ((bins[row] as number) <= bin) this.#rows[left++] = row;
      else this.#moved[moved++] = row;
    }
    this.#rows.set(this.#moved.subarray(0, moved), left);
    return left;
  }

  #sumUp({ pulls, weights }: Weighed, { from, to }: { from: number; to: number }): Float64Array {
    const histogram = new Float64Array(this.#histogramSize);
    for (const index of this.#chosen) {
      const { bins } = this.#features[index] as BinnedFeature;
      const offset = this.#offsets[index] as number;
      for (let place = from; place < to; place += 1) {
        const row = this.#rows[place] as number;
        const at = offset + (bins[row] as number) * SUMS;
        histogram[at] = (histogram[at] as number) + (pulls[row] as number);
        histogram[at + 1] = (histogram[at + 1] as number) + (weights[row] as number);
        histogram[at + 2] = (histogram[at + 2] as number) + 1;
      }
    }
    return histogram;
  }

  #findSplit(leaf: Omit<Leaf, 'node' | 'split'>): Split | null {
    if (leaf.to - leaf.from < 2 * this.#settings.leastRows) return null;
    let best: Split | null = null;
    for (const feature of this.#chosen) best = this.#bestSplitOf(feature, leaf, best);
    return best;
  }

  #bestSplitOf(
    feature: number,
    { histogram, low, high }: Pick<Leaf, 'histogram' | 'low' | 'high'>,
    found: Split | null,
  ): Split | null {
    const { bounds, monotone } = this.#features[feature] as BinnedFeature;
    const { shrinkage, leastRows } = this.#settings;
    const offset = this.#offsets[feature] as number;
    let [allPulls, allWeights, allRows] = [0, 0, 0];
    for (let at = offset; at < offset + (bounds.length + 1) * SUMS; at += SUMS) {
      allPulls += histogram[at] as number;
      allWeights += histogram[at + 1] as number;
      allRows += histogram[at + 2] as number;
    }
    const leafValue = (pulls: number, weights: number) => Math.min(high, Math.max(low, pulls / (weights + shrinkage)));
    // How much a value lowers the weighted squared error of its rows.
    const gainOf = (value: number, pulls: number, weights: number) =>
      2 * value * pulls - value * value * (weights + shrinkage);
    const undivided = gainOf(leafValue(allPulls, allWeights), allPulls, allWeights);
    let best = found;
    let [pulls, weights, rows] = [0, 0, 0];
    for (let bin = 0; bin < bounds.length; bin += 1) {
      const at = offset + bin * SUMS;
      pulls += histogram[at] as number;
      weights += histogram[at + 1] as number;
      rows += histogram[at + 2] as number;
      if (rows < leastRows || allRows - rows < leastRows) continue;
      const leftValue = leafValue(pulls, weights);
      const rightValue = leafValue(allPulls - pulls, allWeights - weights);
      if ((rightValue - leftValue) * monotone < 0) continue;
      const gain =
        gainOf(leftValue, pulls, weights) + gainOf(rightValue, allPulls - pulls, allWeights - weights) - undivided;
      if (gain > LEAST_GAIN && gain > (best?.gain ?? 0)) best = { feature, bin, gain, leftValue, rightValue };
    }
    return best;
  }
}

/** Gains below it are rounding errors. */
const LEAST_GAIN = 1e-9;
