/** The last step of every result, before it is stored and delivered. */

const SCORE = /(?:^|_)(?:confidences?|quality)$/;
/** More digits than any model is accurate to. */
const DECIMALS = 4;
const SCALE = 10 ** DECIMALS;

/** A copy of the result in which confidences and measures of quality, and what they contain, are rounded to four decimals. */
export function finishResult(result: unknown): unknown {
  return finish(result, false);
}

function finish(value: unknown, isScore: boolean): unknown {
  if (typeof value === 'number') return isScore ? Math.round(value * SCALE) / SCALE : value;
  if (Array.isArray(value)) return value.map((item) => finish(item, isScore));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, inner]) => [name, finish(inner, isScore || SCORE.test(name))]);
  return Object.fromEntries(fields);
}
