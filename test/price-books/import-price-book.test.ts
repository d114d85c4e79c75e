/** Imports of price books into a real database: what goes in, what is said of the rest, and what a failure leaves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { importPriceBook } from '../../src/price-books/import-price-book.ts';
import {
  activateVersion,
  type BookKind,
  findBookVersion,
  listBookVersions,
  retireVersions,
} from '../../src/price-books/price-books-store.ts';
import { importRepairBook } from '../../src/price-books/repairs/import-repair-book.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  csvOf,
  HEADER,
  inventedRows,
  repairRow,
  repairRows,
  repairsCsvOf,
  writePriceFile,
} from '../support/price-files.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let orm: MikroORM;
let book: string;
let books = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 4 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(() => {
  books += 1;
  book = `book-${books}`;
});

const rows = inventedRows(400);

const importRows = (content: string | Buffer, clock?: () => Date) =>
  importPriceBook(orm.em.fork(), {
    ...(clock && { clock }),
    path: writePriceFile(content),
    book,
    country: 'GB',
    currency: 'GBP',
    namedOnly: false,
  });

const IMPORTS = { market: importPriceBook, repairs: importRepairBook } as const;
/** Files of an earlier version. */
const EARLIER = { market: csvOf(rows.slice(0, 300)), repairs: repairsCsvOf(repairRows().slice(0, -1)) } as const;

/** Of all books, of both kinds. */
async function countRows(): Promise<number> {
  const [row] = await query<{ count: number }>(
    orm.em.fork(),
    `select ((select count(*) from price_observations) + (select count(*) from repair_book_entries))::integer as count`,
  );
  return row?.count ?? 0;
}

async function countObservations(): Promise<number> {
  const [row] = await query<{ count: number }>(
    orm.em.fork(),
    'select count(*)::integer as count from price_observations',
  );
  return row?.count ?? 0;
}

describe('an import', () => {
  it('an import takes the good rows and names the lines of the others', async () => {
    const bad = [
      rows[0]?.replace(/^2026-\d\d-15/, 'yesterday') ?? '',
      rows[1]?.replace(',GBP,', ',EUR,') ?? '',
      'a,b',
      rows[2]?.replace(/,(?:petrol|diesel),/, ',coal,') ?? '',
    ];
    const { version, problems } = await importRows(csvOf([...bad, ...rows]));
    expect(version).toMatchObject({ version: 1, observations: rows.length, rejected: 4, status: 'ready' });
    expect(problems).toEqual([
      { line: 2, problem: expect.stringContaining('observed_on is "yesterday"') },
      { line: 3, problem: 'currency is "EUR", not GBP' },
      { line: 4, problem: 'it has 2 of 15 columns' },
      { line: 5, problem: expect.stringContaining('fuel is "coal"') },
    ]);
  });

  it('an import leaves out what is observed after tomorrow, which would be the day of all valuations', async () => {
    const observed = (on: string) => rows[0]?.replace(/^2026-\d\d-15/, on) ?? '';
    const content = csvOf([observed('2026-11-26'), observed('2026-11-27'), observed('2026-12'), ...rows]);
    const { version, problems } = await importRows(content, () => new Date('2026-11-25T12:00:00Z'));
    expect(version).toMatchObject({ observedTo: '2026-11-26', rejected: 2 });
    expect(problems).toEqual([
      { line: 3, problem: 'observed_on is "2026-11-27", which is in the future' },
      { line: 4, problem: 'observed_on is "2026-12", which is in the future' },
    ]);
  });

  it('an import lists twenty problems at most', async () => {
    const bad = Array.from({ length: 40 }, (_, at) => `2026-01-01,GB,GBP,,x${at},2020,1,1,900000,,,,,,`);
    const { version, problems } = await importRows(csvOf([...bad, ...rows]));
    expect([version.rejected, problems.length]).toEqual([40, 20]);
  });

  it('an import counts equal rows once', async () => {
    const { version } = await importRows(csvOf([...rows, ...rows.slice(0, 100)]));
    expect(version).toMatchObject({ observations: rows.length, duplicates: 100 });
  });

  it('an import accepts columns in any order, a mark of UTF-8 and quotes', async () => {
    const turned = [HEADER, ...rows].map((line) =>
      line
        .split(',')
        .toReversed()
        .map((field) => `"${field}"`)
        .join(','),
    );
    const { version } = await importRows(`\uFEFF${turned.join('\r\n')}\r\n`);
    expect(version.observations).toBe(rows.length);
  });

  it('an import of the same file changes nothing', async () => {
    const first = await importRows(csvOf(rows));
    const again = await importRows(csvOf(rows));
    expect([first.isNew, again.isNew]).toEqual([true, false]);
    expect(again.version).toEqual(first.version);
  });

  it('an import measures the model on rows that it was not fitted to', async () => {
    const { version } = await importRows(csvOf(inventedRows(1_000)));
    if (version.kind !== 'market') throw new Error('a market was imported');
    const { fitted, evaluated, medianErrorPercent, baselineErrorPercent } = version.evaluation;
    expect(fitted + evaluated).toBe(1_000);
    expect(evaluated).toBeGreaterThan(50);
    expect(medianErrorPercent).toBeLessThan(baselineErrorPercent as number);
  });
});

describe('a file that cannot be imported', () => {
  const truncated = csvOf(rows).slice(0, -40);
  it.each([
    ['with semicolons', csvOf(rows).replaceAll(',', ';'), 'separated by commas'],
    [
      'in Latin-1',
      Buffer.from(csvOf([...rows, rows[0]?.replace(/,(?:Talvera|Norvik|Casamo),/, ',Citroën,') ?? '']), 'latin1'),
      'not UTF-8, but perhaps Latin-1',
    ],
    ['in UTF-16', Buffer.from(`\uFEFF${csvOf(rows)}`, 'utf16le'), 'UTF-16.* Save it as CSV in UTF-8'],
    ['in UTF-16 without a mark', Buffer.from(csvOf(rows), 'utf16le'), 'UTF-16'],
    ['that is a workbook', Buffer.from('PK\u0003\u0004…'), 'Export its sheet as CSV in UTF-8'],
    ['of repairs', repairsCsvOf(repairRows()), 'Import it with --kind repairs'],
    ['that is truncated', truncated.slice(0, truncated.lastIndexOf(',') - 12), 'truncated'],
    ['that ends within quotes', `${csvOf(rows)}"2026`, 'truncated'],
    ['with wrong columns', csvOf(rows).replace('price_minor', 'price'), 'missing: price_minor; unknown: price'],
    ['without rows', `${HEADER}\n`, 'at least 200 observations; the file has 0'],
    ['without anything', '', 'empty'],
    [
      'that is mostly wrong',
      csvOf([...rows, ...rows.map((row) => row.replace(/^2026/, '26')), rows[0]?.replace('GBP', 'USD') ?? '']),
      'rows are wrong',
    ],
  ])('a file %s is refused with the reason, and leaves nothing', async (_, content, reason) => {
    const before = await countObservations();

    await expect(importRows(content)).rejects.toThrow(new RegExp(reason));
    expect(await countObservations()).toBe(before);
    expect((await listBookVersions(orm.em.fork())).filter((one) => one.book === book)).toEqual([]);
  });

  it('a file that is not there is refused with the reason', async () => {
    const options = { path: '/nowhere.csv', book, country: 'GB', currency: 'GBP', namedOnly: false };
    await expect(importPriceBook(orm.em.fork(), options)).rejects.toThrow('cannot be read');
  });
});

/** Runs the command as an operator does. */
function startImport(path: string, kind: BookKind) {
  const words = ['import', path, '--book', book, '--country', 'GB', '--currency', 'GBP', '--kind', kind];
  return spawn(process.execPath, ['src/price-books/price-books-main.ts', ...words], {
    cwd: PROJECT_DIRECTORY,
    env: { DATABASE_URL: database.url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

describe('an import that is killed', () => {
  it.each([
    ['of a market, after its last row', 'market', 'price_book_models', csvOf(rows)],
    ['of repairs, before its first row', 'repairs', 'repair_book_entries', repairsCsvOf(repairRows())],
    ['of repairs, after its last row', 'repairs', 'price_book_versions', repairsCsvOf(repairRows())],
  ] as const)(
    'a killed import %s, leaves nothing; the version before serves, and the next import succeeds',
    async (_, kind, awaited, content) => {
      const em = orm.em.fork();
      const importBook = (text: string) =>
        IMPORTS[kind](orm.em.fork(), {
          path: writePriceFile(text),
          book,
          country: 'GB',
          currency: 'GBP',
          namedOnly: false,
        });
      await importBook(EARLIER[kind]);
      await em.transactional((transaction) => activateVersion(transaction, { book, version: 1 }));
      const before = await countRows();
      await em.transactional(async (transaction) => {
        // The import reads this table, and waits for the lock where it first writes to it.
        await query(transaction, `lock table ${awaited} in exclusive mode`);
        const child = startImport(writePriceFile(content), kind);
        const ended = once(child, 'exit');
        await until(async () => {
          const waiting = await query(
            orm.em.fork(),
            `select from pg_locks where not granted and relation = '${awaited}'::regclass
             and database = (select oid from pg_database where datname = current_database())`,
          );
          return waiting.length > 0;
        }, 150_000);
        child.kill('SIGKILL');
        await ended;
      });
      await until(async () => (await countRows()) === before);
      expect((await listBookVersions(em)).filter((one) => one.book === book)).toMatchObject([
        { version: 1, status: 'active' },
      ]);
      expect(await findBookVersion(em, kind, { book, version: null })).toMatchObject({ version: 1 });
      expect((await importBook(content)).version).toMatchObject({ version: 2, status: 'ready' });
      expect(await countRows()).toBeGreaterThan(before);
    },
    // Three fits of a market, one of them in a process of its own.
    480_000,
  );
});

describe('the command', () => {
  it('the command counts the rows that it does not name, and names none of a file that it knows', async () => {
    const bad = Array.from({ length: 21 }, () => repairRow({ kind: 'part', part: 'wing', price_minor: 1 }));
    const path = writePriceFile(repairsCsvOf([...repairRows(), ...bad]));
    const outputs: string[] = [];
    for (const _ of ['new', 'known']) {
      const child = startImport(path, 'repairs');
      outputs.push(Buffer.concat(await child.stderr.toArray()).toString());
    }
    expect(outputs[0]).toMatch(/line \d+: part is "wing"[\s\S]*\n… and 1 more row was left out\.\nImported as/);
    expect(outputs[1]).toBe(`This file was imported before, as ${book}@1. Nothing changed.\n`);
  }, 240_000);
});

describe('a version', () => {
  it('a version serves its book once it is active, and the one before stays ready', async () => {
    await importRows(csvOf(rows));
    await importRows(csvOf(rows.slice(0, 300)));
    const em = orm.em.fork();
    expect(await findBookVersion(em, 'market', { book, version: null })).toBeNull();
    await em.transactional((transaction) => activateVersion(transaction, { book, version: 1 }));
    await em.transactional((transaction) => activateVersion(transaction, { book, version: null }));
    expect(await findBookVersion(em, 'market', { book, version: null })).toMatchObject({
      version: 2,
      status: 'active',
    });
    expect(await findBookVersion(em, 'market', { book, version: 1 })).toMatchObject({ status: 'ready' });
    await retireVersions(em, { book, version: 2 });
    expect(await findBookVersion(em, 'market', { book, version: null })).toBeNull();
    const again = em.transactional((transaction) => activateVersion(transaction, { book, version: 2 }));
    expect(await again).toBeNull();
  });
});

describe('a version that is retired while it is activated', () => {
  const activate = (version: number | null) =>
    orm.em.fork().transactional((em) => activateVersion(em, { book, version }));

  /** Retires version 2 while this runs, which can end afterwards only. */
  async function whileRetiring<Result>(work: () => Promise<Result>): Promise<Result> {
    const [running] = await orm.em.fork().transactional(async (em) => {
      await retireVersions(em, { book, version: 2 });
      const begun = work();
      await until(async () => (await query(em, `select from pg_locks where not granted`)).length > 0);
      return [begun];
    });
    return running;
  }

  beforeEach(async () => {
    await importRows(csvOf(rows.slice(0, 300)));
    await activate(1);
    await importRows(csvOf(rows));
  });

  it('a version that is retired while it is activated stays retired, and the one before goes on serving', async () => {
    expect(await whileRetiring(() => activate(2))).toBeNull();
    const versions = await listBookVersions(orm.em.fork());
    expect(versions.flatMap((each) => (each.book === book ? [each.status] : []))).toEqual(['retired', 'active']);
  });

  it('a version that is retired while it is activated gives way to the newest other one where none was named', async () => {
    expect(await whileRetiring(() => activate(null))).toMatchObject({ version: 1, status: 'active' });
  });
});
