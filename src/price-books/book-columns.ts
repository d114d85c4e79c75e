/** Tells the files of the kinds of books apart by their columns. Pure. */
import { COLUMNS } from './observation.ts';
import { REPAIR_COLUMNS } from './repairs/repair-entry.ts';

const FILES: readonly { columns: readonly string[]; advice: string }[] = [
  { columns: COLUMNS, advice: 'The file has the columns of a market. Import it with --kind market.' },
  { columns: REPAIR_COLUMNS, advice: 'The file has the columns of a book of repairs. Import it with --kind repairs.' },
];

/** What to do if the columns are those of another kind than the wanted one; null otherwise. */
export function adviceOnKind(names: readonly string[], wanted: readonly string[]): string | null {
  const found = FILES.find(({ columns }) => columns !== wanted && columns.every((name) => names.includes(name)));
  return found?.advice ?? null;
}
