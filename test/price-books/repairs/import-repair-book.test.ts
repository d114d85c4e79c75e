/** Imports of books of repairs into a real database, and which of their entries a vehicle gets. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/database.ts';
import { type MikroORM, query } from '../../../src/platform/database/orm.ts';
import { importPriceBook } from '../../../src/price-books/import-price-book.ts';
import { listBookVersions } from '../../../src/price-books/price-books-store.ts';
import { createEntryLookup } from '../../../src/price-books/repairs/entry-lookup.ts';
import { importRepairBook } from '../../../src/price-books/repairs/import-repair-book.ts';
import { findEntries, findRates } from '../../../src/price-books/repairs/repair-entries-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { csvOf, inventedRows, repairRow, repairRows, repairsCsvOf, writePriceFile } from '../../support/price-files.ts';

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
  book = `repairs-${books}`;
});

const optionsFor = (content: string | Buffer) => ({
  path: writePriceFile(content),
  book,
  country: 'GB',
  currency: 'GBP',
  namedOnly: false,
});
const importRows = (content: string | Buffer) => importRepairBook(orm.em.fork(), optionsFor(content));

async function countEntries(): Promise<number> {
  const [row] = await query<{ count: number }>(
    orm.em.fork(),
    'select count(*)::integer as count from repair_book_entries',
  );
  return row?.count ?? 0;
}

const rows = repairRows();

describe('an import', () => {
  it('an import of repairs takes the good rows and names the lines of the others', async () => {
    const bad = [
      repairRow({ kind: 'part', part: 'wing', price_minor: 1 }),
      repairRow({ kind: 'part', part: 'hood', price_minor: '12.50' }),
      repairRow({ kind: 'part', part: 'hood', price_minor: 1, labour_hours: 1 }),
      repairRow({ kind: 'work', work: 'polish', part: 'hood' }),
      repairRow({ kind: 'work', work: 'replace', part: 'hood', labour_hours: 1, severity: 'minor' }),
      repairRow({ kind: 'work', work: 'blend', paint_hours: 1 }),
      repairRow({ kind: 'work', work: 'replace', part: 'hood', labour_hours: 1, also_removes: 'bonnet' }),
      repairRow({ kind: 'rate', region: 'GB-LND', labour_rate_minor: 0, tax_percent: 20 }),
      repairRow({ kind: 'rate', labour_rate_minor: 100 }),
      repairRow({ kind: 'part', part: 'hood', price_minor: 1, model: 'Lumo' }),
      repairRow({ kind: 'part', part: 'hood', price_minor: 1, currency: 'EUR' }),
      'a,b',
    ];
    const { version, problems } = await importRows(repairsCsvOf([...bad, ...rows]));
    expect(version).toMatchObject({
      kind: 'repairs',
      version: 1,
      status: 'ready',
      observations: rows.length,
      rejected: bad.length,
      observedTo: '2026-06-01',
      evaluation: null,
    });
    expect(problems.map(({ line }) => line)).toEqual(bad.map((_, at) => at + 2));
    for (const [at, part] of [
      'part is "wing", not one of',
      'price_minor is "12.50", not a whole number',
      'labour_hours is "1", and a part has none',
      'labour_hours, paint_hours and materials_minor are missing',
      'severity is "minor", and replace has none',
      'part is missing',
      'also_removes names "bonnet", which is no part',
      'labour_rate_minor is "0"',
      'tax_percent is missing',
      'make is missing',
      'currency is "EUR", not GBP',
      'it has 2 of 22 columns',
    ].entries()) {
      expect(problems[at]?.problem).toContain(part);
    }
  });

  it('an import of repairs counts equal entries once, and refuses a second value for the same entry', async () => {
    const [rate = '', ...rest] = rows;
    const dearer = rate.replace(',5800,', ',9900,');
    const { version, problems } = await importRows(repairsCsvOf([rate, ...rest, rate, dearer]));
    expect(version).toMatchObject({ observations: rows.length, duplicates: 1, rejected: 1 });
    expect(problems).toEqual([{ line: rows.length + 3, problem: expect.stringContaining('another value') }]);
    const [ofCountry] = await findRates(orm.em.fork(), version.id);
    expect(ofCountry).toMatchObject({ region: '', labourRateMinor: 5_800 });
  });

  it('an import of the same file of repairs changes nothing', async () => {
    const first = await importRows(repairsCsvOf(rows));
    const again = await importRows(repairsCsvOf(rows));
    expect([first.isNew, again.isNew]).toEqual([true, false]);
    expect(again.version).toEqual(first.version);
  });

  it.each([
    ['without work', rows.filter((row) => !row.includes(',work,')), 'no work'],
    ['without rates of the country', rows.slice(1), 'no rates of the whole country'],
    ['without rows', [], 'at least 1 entries'],
  ])('an import of repairs %s is refused, and leaves nothing', async (_, some, reason) => {
    const before = await countEntries();
    await expect(importRows(repairsCsvOf(some))).rejects.toThrow(reason);
    expect(await countEntries()).toBe(before);
  });

  it('an import refuses a file of the other kind, and the id of a book of the other kind or of another country', async () => {
    await expect(importRows(csvOf(inventedRows(300)))).rejects.toThrow('Import it with --kind market');
    await importRows(repairsCsvOf(rows));
    const market = importPriceBook(orm.em.fork(), optionsFor(csvOf(inventedRows(300))));
    await expect(market).rejects.toThrow(`The book ${book} is of the kind repairs`);
    const french = importRepairBook(orm.em.fork(), { ...optionsFor(repairsCsvOf(rows)), country: 'FR' });
    await expect(french).rejects.toThrow(`The book ${book} is of GB, not FR`);
    expect((await listBookVersions(orm.em.fork())).filter((one) => one.book === book)).toHaveLength(1);
  });
});

describe('the entries of a vehicle', () => {
  const price = (values: Parameters<typeof repairRow>[0], minor: number) =>
    repairRow({ kind: 'part', part: 'hood', price_minor: minor, ...values });
  const priceOf = async (vehicle: { make: string; model: string }, year: number | null) => {
    const [version] = (await listBookVersions(orm.em.fork())).filter((one) => one.book === book);
    const entries = await findEntries(orm.em.fork(), version?.id ?? '', vehicle);
    return createEntryLookup(entries, year).part('hood', 'original')?.priceMinor;
  };

  it('the entries of a vehicle are those of its model and years, else of its model, its make, or every make', async () => {
    await importRows(
      repairsCsvOf([
        rows[0] ?? '',
        repairRow({ kind: 'work', work: 'polish', labour_hours: 1 }),
        price({}, 1),
        price({ make: 'Talvera' }, 2),
        price({ make: 'Talvera', model: 'Lumo' }, 3),
        price({ make: 'Talvera', model: 'Lumo', year_from: 2019, year_to: 2021 }, 4),
        price({ make: 'Talvera', model: 'Lumo', year_from: 2022 }, 5),
      ]),
    );
    const lumo = { make: 'talvera', model: 'lumo' };
    expect(await priceOf(lumo, 2020)).toBe(4);
    expect(await priceOf(lumo, 2024)).toBe(5);
    expect(await priceOf(lumo, 2010)).toBe(3);
    expect(await priceOf(lumo, null)).toBe(3);
    expect(await priceOf({ make: 'talvera', model: 'arco' }, 2020)).toBe(2);
    expect(await priceOf({ make: 'norvik', model: 'lumo' }, 2020)).toBe(1);
    expect(await priceOf({ make: '', model: '' }, null)).toBe(1);
  });
});
