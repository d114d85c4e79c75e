/** Compares the results that two releases gave for one job, field by field. */

export interface Comparison {
  /** Paths of the fields with the same value. */
  agreed: string[];
  /** The others, with the value of the serving release and that of the one in the shadow. */
  differing: Record<string, [served: unknown, shadow: unknown]>;
}

/** Differ a little between any two releases: how sure a model is, and where exactly it sees a thing. */
const LEFT_OUT = /^(?:confidence|.*_confidence|bbox|quad|polygons|characters)$/;
/** Estimated quantities: they agree within a tenth of the larger one. Every other number must be the same. */
const ESTIMATED = /_(?:degrees|fraction|percent|ev|seconds)$/;
const TOLERANCE = 0.1;

/**
 * A field is a path to a value or to a whole list. An absent field counts as null. A list agrees if it has the same entries in any
 * order, estimated quantities aside. Files are not compared.
 */
export function compareResults(served: unknown, shadow: unknown): Comparison {
  const comparison: Comparison = { agreed: [], differing: {} };
  compare('', served ?? null, shadow ?? null, comparison);
  return comparison;
}

function compare(path: string, served: unknown, shadow: unknown, into: Comparison): void {
  if (isArtefact(served) || isArtefact(shadow)) return;
  if (isOptionalObject(served) && isOptionalObject(shadow) && (served || shadow)) {
    for (const key of new Set([...Object.keys(served ?? {}), ...Object.keys(shadow ?? {})])) {
      if (LEFT_OUT.test(key)) continue;
      compare(path === '' ? key : `${path}.${key}`, served?.[key] ?? null, shadow?.[key] ?? null, into);
    }
    return;
  }
  const values: [unknown, unknown] = [essenceOf(served), essenceOf(shadow)];
  if (JSON.stringify(values[0]) === JSON.stringify(values[1]) || isClose(path, values)) into.agreed.push(path);
  else into.differing[path] = values;
}

function isClose(path: string, [served, shadow]: [unknown, unknown]): boolean {
  if (!ESTIMATED.test(path) || typeof served !== 'number' || typeof shadow !== 'number') return false;
  return Math.abs(served - shadow) <= TOLERANCE * Math.max(Math.abs(served), Math.abs(shadow));
}

/** A value as it is compared: lists in one order, and entries of lists without what differs between any two releases. */
function essenceOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essenceOf).toSorted(byText);
  if (!isOptionalObject(value) || value === null) return value;
  if (isArtefact(value)) return null;
  const kept = Object.entries(value).filter(([key]) => !LEFT_OUT.test(key) && !ESTIMATED.test(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, essenceOf(inner)]).toSorted(byText));
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

function isOptionalObject(value: unknown): value is Record<string, unknown> | null {
  return typeof value === 'object' && !Array.isArray(value);
}

function isArtefact(value: unknown): boolean {
  return isOptionalObject(value) && value?.object === 'artefact';
}
