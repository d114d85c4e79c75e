/** Imports the file of a book of repairs as one new version. */
import type { EntityManager } from '../../platform/database/orm.ts';
import { type ImportOptions, type ImportReport, importVersion, inBatches, RowTally } from '../import-version.ts';
import { PriceFileError, readPriceFile } from '../read-price-file.ts';
import { insertEntries } from './repair-entries-store.ts';
import { REPAIR_COLUMNS, readRepairEntry } from './repair-entry.ts';

/** @throws PriceFileError when the file cannot be imported; nothing of it is left then */
export function importRepairBook(em: EntityManager, options: ImportOptions): Promise<ImportReport> {
  const { path, book, country, currency, namedOnly } = options;
  return importVersion(em, 'repairs', options, async (transaction, { id, version, fileSha256 }) => {
    const tally = new RowTally();
    const kinds = new Set<string>();
    let hasCountryRate = false;
    const format = {
      columns: REPAIR_COLUMNS,
      read: (values: Parameters<typeof readRepairEntry>[0]) => readRepairEntry(values, options),
    };
    for await (const batch of inBatches(readPriceFile(path, format), tally)) {
      const taken = await insertEntries(
        transaction,
        id,
        batch.map(({ row }) => row),
      );
      const inserted = batch.filter((_, at) => taken[at] === 'inserted').map(({ row }) => row);
      const contradicted = batch.filter((_, at) => taken[at] === 'contradicted');
      for (const { line } of contradicted) {
        tally.reject({ line, problem: 'an earlier line has another value for the same entry' });
      }
      for (const { entry } of inserted) {
        kinds.add(entry.kind);
        hasCountryRate ||= entry.kind === 'rate' && entry.region === '';
      }
      tally.count({ read: batch.length - contradicted.length, days: inserted.map(({ validFrom }) => validFrom) });
    }
    tally.refuseUseless(1, 'entries');
    if (!kinds.has('work')) throw new PriceFileError('The book has no work: add rows of the kind "work".');
    if (!hasCountryRate) {
      throw new PriceFileError(
        'The book has no rates of the whole country: add a row of the kind "rate" without region.',
      );
    }
    const added = {
      kind: 'repairs' as const,
      ...tally.facts(),
      id,
      book,
      version,
      country,
      currency,
      namedOnly,
      fileSha256,
      earliestYear: null,
      evaluation: null,
      model: null,
      models: [],
    };
    return { added, problems: tally.problems };
  });
}
