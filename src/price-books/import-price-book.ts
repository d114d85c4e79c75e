/** Imports the file of a market's book: rows, model and figures become one new version. */
import type { EntityManager } from '../platform/database/orm.ts';
import { type ImportOptions, type ImportReport, importVersion, inBatches, RowTally } from './import-version.ts';
import { encodeModel } from './model/encode-model.ts';
import { evaluateModel } from './model/evaluate-model.ts';
import { fitMarketModel } from './model/market-model.ts';
import { COLUMNS, type Observation, readObservation } from './observation.ts';
import { insertObservations, readMarketRows } from './observations-store.ts';
import type { KnownModel } from './price-books-store.ts';
import { readPriceFile } from './read-price-file.ts';

/** With fewer, neither the model nor its figures mean anything. */
const LEAST_OBSERVATIONS = 200;
/** The model is fitted to a random sample of larger books: this bounds its memory and time. */
const MOST_FITTED = 300_000;
/** It is tomorrow already in the east. */
const LATEST_OBSERVATION_MS = 24 * 60 * 60 * 1_000;

/** @throws PriceFileError when the file cannot be imported; nothing of it is left then */
export function importPriceBook(em: EntityManager, options: ImportOptions): Promise<ImportReport> {
  const { path, book, country, currency, namedOnly, clock = () => new Date() } = options;
  // One mistyped year would otherwise be the day that the whole book is valued for.
  const latestDay = new Date(clock().getTime() + LATEST_OBSERVATION_MS).toISOString().slice(0, 10);
  return importVersion(em, 'market', options, async (transaction, { id, version, fileSha256 }) => {
    const tally = new RowTally();
    const models = new KnownModels();
    const format = {
      columns: COLUMNS,
      read: (values: Parameters<typeof readObservation>[0]) => readObservation(values, options, latestDay),
    };
    for await (const batch of inBatches(readPriceFile(path, format), tally)) {
      const inserted = await insertObservations(
        transaction,
        id,
        batch.map(({ row }) => row),
      );
      tally.count({ read: batch.length, days: inserted.map(({ observedOn }) => observedOn) });
      models.add(inserted);
    }
    tally.refuseUseless(LEAST_OBSERVATIONS, 'observations');
    const rows = await readMarketRows(transaction, id, MOST_FITTED);
    const model = fitMarketModel(rows);
    const added = {
      kind: 'market' as const,
      ...tally.facts(),
      ...models.facts(),
      id,
      book,
      version,
      country,
      currency,
      namedOnly,
      fileSha256,
      evaluation: evaluateModel(model, rows),
      model: encodeModel(model),
    };
    return { added, problems: tally.problems };
  });
}

/** The models of a book: all that grows in memory while it is read. */
class KnownModels {
  readonly #models = new Map<string, KnownModel>();
  #earliestYear = 9999;

  add(inserted: readonly Observation[]): void {
    for (const { make, model, makeName, modelName, year } of inserted) {
      const key = `${make}|${model}`;
      const known = this.#models.get(key) ?? { make, model, makeName, modelName, observations: 0 };
      known.observations += 1;
      this.#models.set(key, known);
      this.#earliestYear = Math.min(this.#earliestYear, year);
    }
  }

  facts() {
    return { models: [...this.#models.values()], earliestYear: this.#earliestYear };
  }
}
