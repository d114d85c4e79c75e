/** Outputs of classifiers → probabilities and classes. */

export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** @returns probabilities that sum to 1 */
export function softmax(logits: ArrayLike<number>): Float64Array {
  const greatest = Math.max(...Array.from(logits));
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - greatest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** The first of equal maxima, as NumPy's argmax. */
export function indexOfMaximum(values: ArrayLike<number>): number {
  let best = 0;
  let greatest = values[0] ?? 0;
  for (let index = 1; index < values.length; index += 1) {
    const value = values[index] as number;
    if (value > greatest) [best, greatest] = [index, value];
  }
  return best;
}
