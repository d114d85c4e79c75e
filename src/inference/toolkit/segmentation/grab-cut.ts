/**
 * Separates a subject from its surroundings by colour, where a network is unsure. Source: Rother, Kolmogorov and Blake, "GrabCut",
 * 2004, with the numbers of OpenCV's implementation.
 */
import type { RgbImage } from '../images/rgb-image.ts';
import { minimumCut, STEPS_X, STEPS_Y } from './max-flow.ts';

/** Colours of each side, as normal distributions. */
const COMPONENTS = 5;
const ROUNDS = 2;
const K_MEANS_ROUNDS = 4;
/** Cost of an edge between two equal colours. */
const SMOOTHNESS = 50;
/** Added to the variances of a colour that does not vary. */
const LEAST_VARIANCE = 0.01;

export interface Certainty {
  /** From this probability on, a pixel is the subject's; up to `outside`, it is not. */
  inside: number;
  outside: number;
}

/**
 * @param probabilities that a pixel is the subject's, [height, width], 0 to 1
 * @returns [height, width]: 1 for the subject's pixels, else 0
 */
export function grabCut(picture: RgbImage, probabilities: Float32Array, { inside, outside }: Certainty): Uint8Array {
  const mask = Uint8Array.from(probabilities, (probability) => (probability > 0.5 ? 1 : 0));
  const open = [...probabilities.keys()].filter((pixel) => {
    const probability = probabilities[pixel] as number;
    return probability > outside && probability < inside;
  });
  const pixels = (side: number) => mask.reduce((sum, value) => sum + (value === side ? 1 : 0), 0);
  if (open.length === 0 || pixels(0) < COMPONENTS || pixels(1) < COMPONENTS) return mask;
  const edges = edgesOf(picture);
  const components = [0, 1].map((side) => kMeans(picture, mask, side));
  for (let round = 0; round < ROUNDS; round += 1) {
    const models = [0, 1].map((side) => {
      const own = components[side] as Uint8Array;
      const model = learn(picture, mask, side, own);
      if (round === 0) return model;
      assign(picture, mask, side, model, own);
      return learn(picture, mask, side, own);
    }) as [Mixture, Mixture];
    cut({ picture, mask, open, edges, models });
    // Pixels that changed sides have no component there yet.
    for (const side of [0, 1]) assign(picture, mask, side, models[side] as Mixture, components[side] as Uint8Array);
  }
  return mask;
}

/** A component: logarithm of weight and norm, three means, and six of the inverse of its covariance, the upper triangle. */
type Mixture = Float64Array[];

function kMeans({ pixels }: RgbImage, mask: Uint8Array, side: number): Uint8Array {
  const owned = [...mask.keys()].filter((pixel) => mask[pixel] === side);
  const level = (pixel: number) =>
    (pixels[pixel * 3] as number) + (pixels[pixel * 3 + 1] as number) + (pixels[pixel * 3 + 2] as number);
  const sorted = owned.toSorted((a, b) => level(a) - level(b));
  let means = Array.from({ length: COMPONENTS }, (_, index) => {
    const pixel = sorted[Math.floor(((index + 0.5) * sorted.length) / COMPONENTS)] as number;
    return [...pixels.subarray(pixel * 3, pixel * 3 + 3)];
  });
  const nearest = new Uint8Array(mask.length);
  for (let round = 0; round < K_MEANS_ROUNDS; round += 1) {
    const sums = means.map(() => [0, 0, 0, 0]);
    for (const pixel of owned) {
      const at = pixel * 3;
      let [best, least] = [0, Infinity];
      for (let index = 0; index < COMPONENTS; index += 1) {
        const [red, green, blue] = means[index] as [number, number, number];
        const away =
          ((pixels[at] as number) - red) ** 2 +
          ((pixels[at + 1] as number) - green) ** 2 +
          ((pixels[at + 2] as number) - blue) ** 2;
        if (away < least) [best, least] = [index, away];
      }
      nearest[pixel] = best;
      const sum = sums[best] as number[];
      for (let channel = 0; channel < 3; channel += 1) {
        sum[channel] = (sum[channel] as number) + (pixels[at + channel] as number);
      }
      sum[3] = (sum[3] as number) + 1;
    }
    means = sums.map((sum, index) =>
      sum[3] ? sum.slice(0, 3).map((each) => each / (sum[3] as number)) : (means[index] as number[]),
    );
  }
  return nearest;
}

/** Pairs of channels of a covariance's upper triangle. */
const PAIRS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 1],
  [1, 2],
  [2, 2],
] as const;

function learn({ pixels }: RgbImage, mask: Uint8Array, side: number, components: Uint8Array): Mixture {
  // Per component: number, three sums, six sums of products.
  const sums = Array.from({ length: COMPONENTS }, () => new Float64Array(10));
  let total = 0;
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    if (mask[pixel] !== side) continue;
    const sum = sums[components[pixel] as number] as Float64Array;
    const at = pixel * 3;
    let term = 4;
    for (let one = 0; one < 3; one += 1) {
      const level = pixels[at + one] as number;
      sum[one + 1] = (sum[one + 1] as number) + level;
      for (let other = one; other < 3; other += 1) {
        sum[term] = (sum[term] as number) + level * (pixels[at + other] as number);
        term += 1;
      }
    }
    sum[0] = (sum[0] as number) + 1;
    total += 1;
  }
  return sums.flatMap((sum) => {
    const count = sum[0] as number;
    if (count === 0) return [];
    const mean = [1, 2, 3].map((term) => (sum[term] as number) / count);
    const [a, b, c, d, e, f] = PAIRS.map(
      ([one, other], pair) =>
        (sum[4 + pair] as number) / count -
        (mean[one] as number) * (mean[other] as number) +
        (one === other ? LEAST_VARIANCE : 0),
    ) as [number, number, number, number, number, number];
    const minors = [d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b];
    const determinant = a * (minors[0] as number) + b * (minors[1] as number) + c * (minors[2] as number);
    if (!(determinant > Number.EPSILON)) return [];
    const base = Math.log(count / total) - 0.5 * Math.log(determinant);
    return [Float64Array.of(base, ...mean, ...minors.map((minor) => minor / determinant))];
  });
}

/** Logarithm of a component's density at a pixel, up to a constant. */
function densityOf(component: Float64Array, pixels: Uint8Array, at: number): number {
  const of = (index: number) => component[index] as number;
  const x = (pixels[at] as number) - of(1);
  const y = (pixels[at + 1] as number) - of(2);
  const z = (pixels[at + 2] as number) - of(3);
  const squares = of(4) * x * x + of(7) * y * y + of(9) * z * z;
  return of(0) - 0.5 * (squares + 2 * (of(5) * x * y + of(6) * x * z + of(8) * y * z));
}

function assign({ pixels }: RgbImage, mask: Uint8Array, side: number, mixture: Mixture, components: Uint8Array): void {
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    if (mask[pixel] !== side) continue;
    let [best, most] = [0, Number.NEGATIVE_INFINITY];
    for (let index = 0; index < mixture.length; index += 1) {
      const density = densityOf(mixture[index] as Float64Array, pixels, pixel * 3);
      if (density > most) [best, most] = [index, density];
    }
    components[pixel] = best;
  }
}

/** Cost of cutting between a pixel and its neighbours, [pixels, 8 directions]. */
function edgesOf({ width, height, pixels }: RgbImage): Float32Array {
  const squares = new Float32Array(width * height * 8).fill(-1);
  let [sum, count] = [0, 0];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      for (let direction = 0; direction < 8; direction += 1) {
        const [dx, dy] = [STEPS_X[direction] as number, STEPS_Y[direction] as number];
        if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
        const one = (y * width + x) * 3;
        const other = one + (dy * width + dx) * 3;
        let square = 0;
        for (let channel = 0; channel < 3; channel += 1) {
          square += ((pixels[one + channel] as number) - (pixels[other + channel] as number)) ** 2;
        }
        squares[(y * width + x) * 8 + direction] = square;
        sum += square;
        count += 1;
      }
    }
  }
  const steepness = sum === 0 ? 0 : count / (2 * sum);
  return squares.map((square, edge) =>
    square < 0 ? 0 : (SMOOTHNESS / ((edge & 7) < 4 ? 1 : Math.SQRT2)) * Math.exp(-steepness * square),
  );
}

interface Cut {
  picture: RgbImage;
  mask: Uint8Array;
  open: readonly number[];
  edges: Float32Array;
  models: readonly [Mixture, Mixture];
}

/** Decides the open pixels. Changes `mask`. */
function cut({ picture, mask, open, edges, models }: Cut): void {
  const { width, height, pixels } = picture;
  const nodes = new Int32Array(mask.length).fill(-1);
  open.forEach((pixel, node) => {
    nodes[pixel] = node;
  });
  const heads = new Int32Array(open.length * 8).fill(-1);
  const capacities = new Float32Array(open.length * 8);
  const [outside, inside] = models;
  const terminals = Float32Array.from(open, (pixel, node) => {
    let terminal = logOf(inside, pixels, pixel * 3) - logOf(outside, pixels, pixel * 3);
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    for (let direction = 0; direction < 8; direction += 1) {
      const [dx, dy] = [STEPS_X[direction] as number, STEPS_Y[direction] as number];
      if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
      const other = pixel + dy * width + dx;
      const cost = edges[pixel * 8 + direction] as number;
      const head = nodes[other] as number;
      if (head < 0) terminal += mask[other] ? cost : -cost;
      heads[node * 8 + direction] = head;
      capacities[node * 8 + direction] = cost;
    }
    return terminal;
  });
  const sides = minimumCut({ heads, capacities, terminals });
  open.forEach((pixel, node) => {
    mask[pixel] = sides[node] as number;
  });
}

/** Logarithm of a mixture's density. */
function logOf(mixture: Mixture, pixels: Uint8Array, at: number): number {
  let [most, sum] = [Number.NEGATIVE_INFINITY, 0];
  for (let index = 0; index < mixture.length; index += 1) {
    const density = densityOf(mixture[index] as Float64Array, pixels, at);
    sum = density > most ? sum * Math.exp(most - density) + 1 : sum + Math.exp(density - most);
    most = Math.max(most, density);
  }
  return most + Math.log(sum);
}
