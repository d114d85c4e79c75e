/** The last step of every result, before it is stored and delivered. */

const CONFIDENCE = /(?:^|_)confidences?$/;
/** More digits than any model is accurate to. */
const DECIMALS = 4;
const SCALE = 10 ** DECIMALS;

/** A copy of the result in which confidences, and lists of them, are rounded to four decimals. */
export function finishResult(result: unknown): unknown {
  return finish(result, false);
}

function finish(value: unknown, isConfidence: boolean): unknown {
  if (typeof value === 'number') return isConfidence ? Math.round(value * SCALE) / SCALE : value;
  if (Array.isArray(value)) return value.map((item) => finish(item, isConfidence));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, finish(inner, CONFIDENCE.test(name))]));
}
