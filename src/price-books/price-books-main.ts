/**
 * `npm run -s price-books -- <command>`: lets an operator keep the price books and exchange rates in the database of
 * `DATABASE_URL`. Prints JSON; exits with status 1 on invalid input.
 */
import { parseArgs } from 'node:util';
import { COUNTRIES } from '../contracts/vocabulary/countries.ts';
import { openDatabase } from '../database.ts';
import { readConfig } from '../platform/config/config.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { isBookId, parseVersionName, versionName } from './book-names.ts';
import { listRates, saveRates } from './currency-rates-store.ts';
import { importPriceBook } from './import-price-book.ts';
import {
  activateVersion,
  BOOK_KINDS,
  type BookKind,
  listBookVersions,
  retireVersions,
  type VersionName,
} from './price-books-store.ts';
import { readRatesFile } from './read-rates-file.ts';
import { importRepairBook } from './repairs/import-repair-book.ts';

const USAGE = `usage:
  npm run -s price-books -- import <file.csv> --book <id> --country <GB> --currency <GBP> [--kind market|repairs] [--named-only]
  npm run -s price-books -- list
  npm run -s price-books -- show <book>[@<version>]
  npm run -s price-books -- activate <book>[@<version>]
  npm run -s price-books -- retire <book>[@<version>]
  npm run -s price-books -- rates [<file.csv>]
A book's id has lower-case letters, digits and hyphens. A request must name a book that was imported with --named-only.
docs/price-books.md describes the files.`;

interface Words {
  subject: string | undefined;
  options: { book?: string; country?: string; currency?: string; kind?: string; 'named-only'?: boolean };
}

const COMMANDS: Readonly<Record<string, (em: EntityManager, words: Words) => Promise<unknown>>> = {
  import: importFile,
  list: (em) => listBookVersions(em),
  show: async (em, { subject }) => {
    const { book, version } = readName(subject);
    const versions = await listBookVersions(em);
    return known(
      versions.filter((one) => one.book === book && (version === null || one.version === version)),
      subject,
    );
  },
  activate: async (em, { subject }) => {
    const name = readName(subject);
    const activated = await em.transactional((transaction) => activateVersion(transaction, name));
    return known(activated ? [activated] : [], subject);
  },
  retire: async (em, { subject }) => known(await retireVersions(em, readName(subject)), subject),
  rates: async (em, { subject }) => {
    if (subject !== undefined) await saveRates(em, await readRatesFile(subject));
    return listRates(em);
  },
};

const IMPORTS = { market: importPriceBook, repairs: importRepairBook } as const satisfies Record<BookKind, unknown>;

async function importFile(em: EntityManager, { subject: path, options }: Words): Promise<unknown> {
  const { book, country, currency, kind = 'market', 'named-only': namedOnly = false } = options;
  if (path === undefined || book === undefined) throw new Error(USAGE);
  if (!isBookId(book)) throw new Error('--book must have lower-case letters, digits and hyphens, 63 at most.');
  if (country === undefined || !COUNTRIES.includes(country)) throw new Error('--country must be a code such as GB.');
  if (currency === undefined || !Intl.supportedValuesOf('currency').includes(currency)) {
    throw new Error('--currency must be a code such as GBP.');
  }
  const importBook = Object.hasOwn(IMPORTS, kind) ? IMPORTS[kind as BookKind] : undefined;
  if (!importBook) throw new Error(`--kind must be one of ${BOOK_KINDS.join(', ')}.`);
  const report = await importBook(em, { path, book, country, currency, namedOnly });
  const name = versionName(report.version);
  if (!report.isNew) {
    console.error(`This file was imported before, as ${name}. Nothing changed.`);
    return report.version;
  }
  for (const { line, problem } of report.problems) console.error(`line ${line}: ${problem}`);
  const others = report.version.rejected - report.problems.length;
  if (others > 0) console.error(`… and ${others} more ${others === 1 ? 'row was' : 'rows were'} left out.`);
  console.error(`Imported as ${name}. To use it: activate ${name}`);
  return report.version;
}

function readName(text: string | undefined): VersionName {
  const name = parseVersionName(text ?? '');
  if (!name) throw new Error(USAGE);
  return name;
}

function known<Version>(versions: readonly Version[], name: string | undefined): readonly Version[] {
  if (versions.length === 0) throw new Error(`There is no such version of a price book: ${name}. See "list".`);
  return versions;
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      book: { type: 'string' },
      country: { type: 'string' },
      currency: { type: 'string' },
      kind: { type: 'string' },
      'named-only': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return console.log(USAGE);
  const { DATABASE_URL } = readConfig('price-books');
  const [command = '', subject] = positionals;
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (!run) throw new Error(USAGE);
  // The statement that ends an import of millions of rows takes its time.
  const orm = await openDatabase({ url: DATABASE_URL, poolSize: 1, statementTimeoutMs: null });
  try {
    console.log(JSON.stringify(await run(orm.em.fork(), { subject, options: values }), null, 2));
  } finally {
    await orm.close();
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
