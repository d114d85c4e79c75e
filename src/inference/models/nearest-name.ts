/** Suggests the intended name for a misspelt one. */

/** One edit is allowed per this many letters: one in `crpo`, two in `lables`. */
const LETTERS_PER_EDIT = 3;

/** The nearest name, ignoring case; undefined when none is near. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  const [nearest] = names
    .map((name) => ({ name, edits: editsBetween(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= Math.max(1, Math.floor(name.length / LETTERS_PER_EDIT)))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.name;
}

/**
 * Number of insertions, deletions, substitutions and swaps of neighbouring letters.
 * Source: the optimal string alignment distance; Boytsov, "Indexing methods for approximate dictionary searching", 2011.
 */
function editsBetween(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      (rows[row] as number[]).push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
