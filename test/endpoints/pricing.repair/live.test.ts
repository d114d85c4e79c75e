/** Live repair estimates through HTTP, by an invented book, with the real workers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Result } from '../../../src/endpoints/pricing.repair/result.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { saveRates } from '../../../src/price-books/currency-rates-store.ts';
import { importPriceBook } from '../../../src/price-books/import-price-book.ts';
import { activateVersion, retireVersions } from '../../../src/price-books/price-books-store.ts';
import { importRepairBook } from '../../../src/price-books/repairs/import-repair-book.ts';
import type { Answer, TestApi } from '../../support/api.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';
import { textOf } from '../../support/pdf.ts';
import { csvOf, inventedRows, repairRows, repairsCsvOf, writePriceFile } from '../../support/price-files.ts';
import { startValuationService, type ValuationService } from '../../support/valuation-service.ts';

let api: TestApi;
let service: ValuationService;
let customer: Customer;
const rows = repairRows();

beforeAll(async () => {
  service = await startValuationService();
  ({ api } = service);
});
afterAll(() => service.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm, { live: 1_000 });
});

const DAMAGES = [
  { type: 'dent', part: 'front_door', side: 'left', severity: 'severe' },
  { type: 'broken_light', part: 'headlight', side: 'left' },
];

const post = (body: object, search = ''): Promise<Answer> =>
  api.call(`/v1/pricing/repair${search}`, {
    method: 'POST',
    key: customer.keys.live,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** The result of an estimate that must succeed. */
async function estimate(body: object): Promise<Result> {
  const answer = await post({ damages: DAMAGES, ...body }, '?wait=true');
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"status":"succeeded"')]);
  return answer.job.result as Result;
}

interface Book {
  country?: string;
  currency?: string;
  namedOnly?: boolean;
  content?: string;
}

const importBook = (book: string, { country = 'GB', currency = 'GBP', namedOnly = false, content }: Book = {}) =>
  importRepairBook(api.orm.em.fork(), {
    path: writePriceFile(content ?? repairsCsvOf(rows)),
    book,
    country,
    currency,
    namedOnly,
  });

const activate = (book: string) =>
  api.orm.em.fork().transactional((em) => activateVersion(em, { book, version: null }));

async function heldJobs(): Promise<number> {
  const [row] = await query<{ count: number }>(
    api.orm.em.fork(),
    'select count(*)::integer as count from jobs where organization_id = $1',
    [customer.organizationId],
  );
  return row?.count ?? 0;
}

it('pricing.repair is refused without an active book before anything is held, whatever market is known', async () => {
  await importBook('repairs-gb');
  await importPriceBook(api.orm.em.fork(), {
    path: writePriceFile(csvOf(inventedRows(300))),
    book: 'market-gb',
    country: 'GB',
    currency: 'GBP',
    namedOnly: false,
  });
  await activate('market-gb');
  await service.announce();
  expect(service.backend.installedEndpoints().map(({ endpoint }) => endpoint)).toEqual(['pricing.vehicle']);
  const refused = await post({ damages: DAMAGES });
  expect([refused.status, refused.error.code]).toEqual([503, 'endpoint_unavailable']);
  expect(await heldJobs()).toBe(0);
});

describe('with an active book', () => {
  beforeAll(async () => {
    await activate('repairs-gb');
    await service.announce();
    await saveRates(api.orm.em.fork(), [{ base: 'GBP', quote: 'EUR', ratedOn: '2026-06-30', rate: 1.1737 }]);
  });

  it('pricing.repair estimates stated damages, and charges once', async () => {
    const answer = await post({ damages: DAMAGES }, '?wait=true');
    expect(answer.job).toMatchObject({
      status: 'succeeded',
      model_version: expect.stringMatching(/^repair-estimate@/),
      credits: { reserved: 50, charged: 50 },
    });
    const { operations, ...rest } = answer.job.result as Result;
    expect(rest).toMatchObject({ price_book: 'repairs-gb@1', country: 'GB', currency: 'GBP', region: null });
    expect(operations.map(({ part, method, confidence }) => [part, method, confidence])).toEqual([
      ['front_door', 'repair_and_paint', null],
      ['headlight', 'replace', null],
    ]);
  });

  it('pricing.repair uses the prices of the model, and the rates of the region', async () => {
    const damages = [{ type: 'missing_part', part: 'front_bumper' }];
    const bumper = (result: Result) => result.operations[0]?.parts[0];
    expect(bumper(await estimate({ damages }))).toMatchObject({ unit_price: 41_000, part_number: null });
    expect(bumper(await estimate({ damages, vehicle: { make: 'TALVERA', model: 'lumo' } }))).toMatchObject({
      unit_price: 33_300,
      part_number: 'INV-1001',
    });
    const inLondon = await estimate({ damages, region: 'gb-lnd' });
    expect(inLondon).toMatchObject({ region: 'GB-LND', rates: { labour: 7_400, paint: 7_700 } });
  });

  it('a repair estimate comes with a report as PDF and as a page, on request', async () => {
    expect(await estimate({})).not.toHaveProperty('report');
    const { report, totals } = await estimate({ include_report: true, vehicle: { make: '<b>Talvera', model: 'Lumo' } });
    expect(report).toMatchObject({
      pdf: { media_type: 'application/pdf' },
      html: { media_type: 'text/html; charset=utf-8' },
    });
    const pdf = textOf(service.files.get('application/pdf') ?? Buffer.alloc(0));
    const page = String(service.files.get('text/html; charset=utf-8'));
    const gross = `${(totals.gross / 100).toLocaleString('en-GB', { minimumFractionDigits: 2 })} GBP`;
    for (const text of ['Repair estimate', 'repair and paint: left front door', gross]) {
      expect(pdf).toContain(text);
      expect(page).toContain(text);
    }
    expect(page).toContain('&lt;b&gt;Talvera Lumo');
    expect(page).not.toContain('<b>');
  });

  it('an estimate of a named version is repeated byte for byte, also after the next version', async () => {
    const first = await estimate({ price_book: 'repairs-gb@1' });
    await importBook('repairs-gb', { content: repairsCsvOf(rows.map((row) => row.replace(',5800,', ',6600,'))) });
    await activate('repairs-gb');
    expect(await estimate({})).toMatchObject({ price_book: 'repairs-gb@2', rates: { labour: 6_600 } });
    expect(JSON.stringify(await estimate({ price_book: 'repairs-gb@1' }))).toBe(JSON.stringify(first));
  });

  it('amounts in another currency are converted at the imported rate', async () => {
    const result = await estimate({ price_book: 'repairs-gb@1', currency: 'EUR' });
    expect(result).toMatchObject({
      currency: 'EUR',
      exchange_rate: { base: 'GBP', quote: 'EUR', rated_on: '2026-06-30' },
      rates: { labour: Math.round(5_800 * 1.1737) },
    });
  });

  it('a book that must be named is never a default, nor is a market', async () => {
    await importBook('for-name-only', { namedOnly: true });
    await activate('for-name-only');
    expect((await estimate({})).price_book).toMatch(/^repairs-gb@/);
    expect((await estimate({ price_book: 'for-name-only' })).price_book).toBe('for-name-only@1');
    const refused = await post({ damages: DAMAGES, price_book: 'market-gb' });
    expect([refused.status, refused.error.param]).toEqual([400, 'price_book']);
  });

  it.each([
    ['a country without a book', { country: 'FR' }, 'country', /FR/],
    ['a book of another country', { country: 'FR', price_book: 'repairs-gb' }, 'country', /GB, not FR/],
    ['a book that is not there', { price_book: 'nothing' }, 'price_book', /nothing/],
    ['a currency without a rate', { currency: 'CHF' }, 'currency', /GBP to CHF/],
    ['a region without rates', { region: 'Paris' }, 'region', /It knows GB-LND, GB-SCT/],
  ])('%s is refused before anything is held', async (_, body, param, message) => {
    const refused = await post({ damages: DAMAGES, ...body });
    expect([refused.status, refused.error.code, refused.error.param]).toEqual([400, 'parameter_invalid', param]);
    expect(refused.error.message).toMatch(message);
    expect(await heldJobs()).toBe(0);
  });

  it('books of two countries need a country', async () => {
    const euros = rows.map((row) => row.replace(',GB,GBP,', ',DE,EUR,'));
    await importBook('repairs-de', { country: 'DE', currency: 'EUR', content: repairsCsvOf(euros) });
    await activate('repairs-de');
    const refused = await post({ damages: DAMAGES });
    expect([refused.status, refused.error.param]).toEqual([400, 'country']);
    expect(await estimate({ country: 'DE' })).toMatchObject({ country: 'DE', currency: 'EUR' });
    await retireVersions(api.orm.em.fork(), { book: 'repairs-de', version: null });
  });

  it('pricing.repair refuses a named book in test mode', async () => {
    const refused = await api.call('/v1/pricing/repair', {
      method: 'POST',
      key: customer.keys.test,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ damages: DAMAGES, price_book: 'repairs-gb' }),
    });
    expect([refused.status, refused.error.param]).toEqual([400, 'price_book']);
  });
});
