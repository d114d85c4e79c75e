/** What every import of a book does: one transaction, one version, a batch of rows at a time, and a count of what was read. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { EntityManager } from '../platform/database/orm.ts';
import {
  type BookKind,
  type BookVersion,
  findBook,
  findImported,
  insertVersion,
  lockBook,
  type NewVersion,
  reserveVersion,
} from './price-books-store.ts';
import { PriceFileError, type ReadRow, type RowFault } from './read-price-file.ts';
import type { Market } from './row-fields.ts';

export interface ImportOptions extends Market {
  path: string;
  book: string;
  /** Requests must name the book: it is never the default of its country. */
  namedOnly: boolean;
  clock?: () => Date;
}

export interface ImportReport {
  version: BookVersion;
  /** False: the same file was imported before, as this version. */
  isNew: boolean;
  /** The first rows that were left out. */
  problems: readonly RowFault[];
}

/** Id of the rows of a version that is being written. */
interface Reserved {
  id: string;
  version: number;
  fileSha256: Buffer;
}

type Written = { added: NewVersion; problems: readonly RowFault[] };

/** Rows of one statement: all that the import holds in memory of the file. */
const BATCH = 1_000;
const MOST_PROBLEMS = 20;

/**
 * Nothing of an import is visible before all of it is; an import that fails or is killed leaves nothing.
 * @param write writes the rows of the version, and says what it is
 * @throws PriceFileError when the file cannot be imported
 */
export async function importVersion(
  em: EntityManager,
  kind: BookKind,
  { path, book, country }: ImportOptions,
  write: (transaction: EntityManager, reserved: Reserved) => Promise<Written>,
): Promise<ImportReport> {
  const fileSha256 = await hashFile(path);
  return em.transactional(async (transaction) => {
    await lockBook(transaction, book);
    const known = await findBook(transaction, book);
    if (known && known.kind !== kind) {
      throw new PriceFileError(`The book ${book} is of the kind ${known.kind}, not ${kind}. Give this one another id.`);
    }
    if (known && known.country !== country) {
      throw new PriceFileError(`The book ${book} is of ${known.country}, not ${country}. Give this one another id.`);
    }
    const before = await findImported(transaction, book, fileSha256);
    if (before) return { version: before, isNew: false, problems: [] };
    const reserved = await reserveVersion(transaction, book);
    const { added, problems } = await write(transaction, { ...reserved, fileSha256 });
    return { version: await insertVersion(transaction, added), isNew: true, problems };
  });
}

async function hashFile(path: string): Promise<Buffer> {
  const digest = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) digest.update(chunk);
  } catch (error) {
    throw new PriceFileError(`The file cannot be read: ${(error as Error).message}.`);
  }
  return digest.digest();
}

export interface NumberedRow<Row> {
  line: number;
  row: Row;
}

export async function* inBatches<Row>(
  rows: AsyncIterable<ReadRow<Row>>,
  tally: RowTally,
): AsyncGenerator<NumberedRow<Row>[]> {
  let batch: NumberedRow<Row>[] = [];
  for await (const read of rows) {
    if (read.kind === 'problem') {
      tally.reject(read);
      continue;
    }
    batch.push(read);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Counts the rows of a file. */
export class RowTally {
  readonly problems: RowFault[] = [];
  #read = 0;
  #accepted = 0;
  #rejected = 0;
  #days = { first: '9999-12-31', last: '0000-01-01' };

  reject({ line, problem }: RowFault): void {
    this.#rejected += 1;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push({ line, problem });
  }

  /** @param days of the accepted ones, ISO 8601 */
  count({ read, days }: { read: number; days: readonly string[] }): void {
    this.#read += read;
    this.#accepted += days.length;
    for (const day of days) {
      if (day < this.#days.first) this.#days.first = day;
      if (day > this.#days.last) this.#days.last = day;
    }
  }

  /** @throws PriceFileError if the file is mostly wrong, or has fewer rows than the book needs */
  refuseUseless(least: number, what: string): void {
    const first = this.problems.map(({ line, problem }) => `line ${line}: ${problem}`).slice(0, 3);
    const examples = first.length > 0 ? ` The first problems: ${first.join('; ')}.` : '';
    if (this.#rejected > this.#read) {
      throw new PriceFileError(`${this.#rejected} of ${this.#rejected + this.#read} rows are wrong.${examples}`);
    }
    if (this.#accepted < least) {
      throw new PriceFileError(`A book needs at least ${least} ${what}; the file has ${this.#accepted}.${examples}`);
    }
  }

  facts() {
    return {
      observedFrom: this.#days.first,
      observedTo: this.#days.last,
      observations: this.#accepted,
      duplicates: this.#read - this.#accepted,
      rejected: this.#rejected,
    };
  }
}
