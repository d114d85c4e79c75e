/** Entries of books of repairs: written once, by the import; read for one vehicle at a time. */
import { type EntityManager, query } from '../../platform/database/orm.ts';
import type { ImportedEntry, PartEntry, RateEntry, WorkEntry } from './repair-entry.ts';

/** Columns of a batch, in the order of the statement, and the value of an entry; null where it has none. */
const COLUMNS: readonly (readonly [name: string, type: string, read: (imported: ImportedEntry) => unknown])[] = [
  ['digest', 'bytea', ({ digest }) => digest],
  ['content', 'bytea', ({ content }) => content],
  ['kind', 'text', ({ entry }) => entry.kind],
  ['make', 'text', ({ entry }) => entry.make],
  ['model', 'text', ({ entry }) => entry.model],
  ['year_from', 'smallint', ({ entry }) => entry.yearFrom],
  ['year_to', 'smallint', ({ entry }) => entry.yearTo],
  ['part', 'text', ({ entry }) => ('part' in entry ? entry.part : null)],
  ['work', 'text', ({ entry }) => ('work' in entry ? entry.work : null)],
  ['severity', 'text', ({ entry }) => ('severity' in entry ? entry.severity : null)],
  ['quality', 'text', ({ entry }) => ('quality' in entry ? entry.quality : null)],
  ['region', 'text', ({ entry }) => ('region' in entry ? entry.region : '')],
  ['part_number', 'text', ({ entry }) => ('partNumber' in entry ? entry.partNumber : null)],
  ['price_minor', 'bigint', ({ entry }) => ('priceMinor' in entry ? entry.priceMinor : null)],
  ['labour_hours', 'double precision', ({ entry }) => ('labourHours' in entry ? entry.labourHours : null)],
  ['paint_hours', 'double precision', ({ entry }) => ('paintHours' in entry ? entry.paintHours : null)],
  ['materials_minor', 'bigint', ({ entry }) => ('materialsMinor' in entry ? entry.materialsMinor : null)],
  // A list of lists has no place in unnest: a text with spaces stands for each.
  ['also_removes', 'text', ({ entry }) => ('alsoRemoves' in entry ? entry.alsoRemoves.join(' ') : '')],
  ['labour_rate_minor', 'bigint', ({ entry }) => ('labourRateMinor' in entry ? entry.labourRateMinor : null)],
  ['paint_rate_minor', 'bigint', ({ entry }) => ('paintRateMinor' in entry ? entry.paintRateMinor : null)],
  ['tax_percent', 'double precision', ({ entry }) => ('taxPercent' in entry ? entry.taxPercent : null)],
];

const INSERT = `insert into repair_book_entries (version_id, ${COLUMNS.map(([name]) => name).join(', ')})
  select $1, * from unnest(${COLUMNS.map(([, type], at) => `$${at + 2}::${type}[]`).join(', ')})
  on conflict do nothing`;

/** How each entry of a batch was taken, in its order. */
export type Taken = 'inserted' | 'equal' | 'contradicted';

/** An entry that the version has with other values is `contradicted`. */
export async function insertEntries(
  em: EntityManager,
  versionId: string,
  batch: readonly ImportedEntry[],
): Promise<Taken[]> {
  const digests = batch.map(({ digest }) => digest);
  const before = await readContents(em, versionId, digests);
  const columns = COLUMNS.map(([, , read]) => batch.map(read));
  await query(em, INSERT, [versionId, ...columns]);
  const known = new Map(before);
  return batch.map(({ digest, content }) => {
    const [key, values] = [digest.toString('hex'), content.toString('hex')];
    const there = known.get(key);
    known.set(key, there ?? values);
    if (there === undefined) return 'inserted';
    return there === values ? 'equal' : 'contradicted';
  });
}

async function readContents(em: EntityManager, versionId: string, digests: readonly Buffer[]) {
  const rows = await query<{ digest: Buffer; content: Buffer }>(
    em,
    'select digest, content from repair_book_entries where version_id = $1 and digest = any($2::bytea[])',
    [versionId, digests],
  );
  return rows.map(({ digest, content }) => [digest.toString('hex'), content.toString('hex')] as const);
}

const SCOPE = `make, model, year_from as "yearFrom", year_to as "yearTo"`;

/** Parts and work for a vehicle, of its model, of its make, and of every make. Empty names are unknown. */
export async function findEntries(
  em: EntityManager,
  versionId: string,
  { make, model }: { make: string; model: string },
): Promise<(PartEntry | WorkEntry)[]> {
  const rows = await query<StoredEntry>(
    em,
    `select kind, ${SCOPE}, part, quality, part_number as "partNumber", price_minor::float8 as "priceMinor",
       work, severity, labour_hours as "labourHours", paint_hours as "paintHours",
       materials_minor::float8 as "materialsMinor", also_removes as "alsoRemoves"
     from repair_book_entries
     where version_id = $1 and kind <> 'rate' and (make, model) in (($2, $3), ($2, ''), ('', ''))
     order by digest`,
    [versionId, make, model],
  );
  return rows.map((row) => (row.kind === 'part' ? row : { ...row, alsoRemoves: partsOf(row.alsoRemoves) }));
}

type StoredEntry = PartEntry | (Omit<WorkEntry, 'alsoRemoves'> & { alsoRemoves: string });

const partsOf = (text: string) => text.split(' ').filter(Boolean) as WorkEntry['alsoRemoves'];

/** The rates of every region, that of the whole country first. */
export function findRates(em: EntityManager, versionId: string): Promise<RateEntry[]> {
  return query(
    em,
    `select kind, ${SCOPE}, region, labour_rate_minor::float8 as "labourRateMinor",
       paint_rate_minor::float8 as "paintRateMinor", tax_percent as "taxPercent"
     from repair_book_entries where version_id = $1 and kind = 'rate' and make = '' and model = '' order by region`,
    [versionId],
  );
}
