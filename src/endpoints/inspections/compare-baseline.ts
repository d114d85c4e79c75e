/** Marks the damages that an earlier inspection of the vehicle did not list. Pure. */
import type { Result } from './result.ts';

type Part = Result['parts'][number];

/**
 * A damage is known if the baseline has its type on the same part. An unknown side matches either side. Of a damage on no known
 * part nobody can say: its `is_new` stays null.
 */
export function compareWithBaseline(parts: readonly Part[], baseline: Pick<Result, 'parts'>): Part[] {
  return parts.map((part) => {
    if (part.part === null) return part;
    const before = baseline.parts.filter((other) => other.part === part.part && isSameSide(other.side, part.side));
    const types = new Set(before.flatMap(({ damages }) => damages.map(({ type }) => type)));
    return { ...part, damages: part.damages.map((damage) => ({ ...damage, is_new: !types.has(damage.type) })) };
  });
}

function isSameSide(a: Part['side'], b: Part['side']): boolean {
  return a === null || b === null || a === b;
}
