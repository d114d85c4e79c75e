/** Live valuations through HTTP, by a book of an invented market, with the real workers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Result } from '../../../src/endpoints/pricing.vehicle/result.ts';
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
const rows = inventedRows(800);

beforeAll(async () => {
  service = await startValuationService();
  ({ api } = service);
});
afterAll(() => service.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm, { live: 1_000 });
});

const VEHICLE = { make: 'Talvera', model: 'Lumo', year: 2019, mileage_km: 80_000 };

const post = (body: object, search = ''): Promise<Answer> =>
  api.call(`/v1/pricing/vehicle${search}`, {
    method: 'POST',
    key: customer.keys.live,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** The result of a valuation that must succeed. */
async function value(body: object): Promise<Result> {
  const answer = await post(body, '?wait=true');
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"status":"succeeded"')]);
  return answer.job.result as Result;
}

async function availability() {
  const { json } = await api.call('/v1/endpoints', { key: customer.keys.live });
  return (json.data as { endpoint: string; available: boolean }[]).find((one) => one.endpoint === 'pricing.vehicle');
}

const importBook = (book: string, { namedOnly = false, content = csvOf(rows) } = {}) =>
  importPriceBook(api.orm.em.fork(), {
    path: writePriceFile(content),
    book,
    country: 'GB',
    currency: 'GBP',
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

it('pricing.vehicle is refused without an active book before anything is held, and listed as unavailable', async () => {
  await importBook('invented-gb');
  await service.announce();
  const refused = await post({ vehicle: VEHICLE });
  expect([refused.status, refused.error.code]).toEqual([503, 'endpoint_unavailable']);
  expect(await availability()).toMatchObject({ available: false });
  expect(await heldJobs()).toBe(0);
});

describe('with an active book', () => {
  beforeAll(async () => {
    await activate('invented-gb');
    await service.announce();
    await saveRates(api.orm.em.fork(), [
      { base: 'GBP', quote: 'EUR', ratedOn: '2026-06-30', rate: 1.1737 },
      { base: 'GBP', quote: 'JPY', ratedOn: '2026-06-30', rate: 197.3 },
    ]);
  });

  it('a vehicle is valued in three channels whose adjustments add up to the cent', async () => {
    expect(await availability()).toMatchObject({ available: true });
    const result = await value({
      vehicle: { ...VEHICLE, accident_history: 'none' },
      country: 'GB',
      condition_grade: 'D',
      repair_estimate_total: 41_337,
      margin_pct: 7.3,
    });
    expect(result).toMatchObject({
      price_book: 'invented-gb@1',
      country: 'GB',
      currency: 'GBP',
      valued_on: '2026-06-15',
    });
    for (const [name, channel] of Object.entries(result.channels ?? {})) {
      const sum = result.adjustments
        .filter(({ channels }) => channels.some((one) => one === name))
        .reduce((total, { amount }) => total + amount, channel.base);
      expect([name, sum]).toEqual([name, channel.value]);
      expect(channel.low).toBeLessThanOrEqual(channel.value);
      expect(channel.high).toBeGreaterThanOrEqual(channel.value);
    }
    const kinds = new Set(result.adjustments.map(({ kind }) => kind));
    expect([...kinds]).toEqual(expect.arrayContaining(['condition', 'damage', 'margin']));
  });

  it('channels without offers of their own say that a margin derives them', async () => {
    const { channels } = await value({ vehicle: VEHICLE });
    expect(channels?.retail).toMatchObject({ derived_from: 'observations', margin_percent: null });
    expect(channels?.private).toMatchObject({ derived_from: 'observations', margin_percent: null });
    expect(channels?.trade_in).toMatchObject({ derived_from: 'margin', margin_percent: -12 });
  });

  it('a valuation comes with a report as PDF and as a page, in which the adjustments lead from base to value', async () => {
    const { report, channels, adjustments } = await value({
      vehicle: VEHICLE,
      condition_grade: 'C',
      repair_estimate_total: 41_337,
      include_report: true,
    });
    expect(report).toMatchObject({
      pdf: { media_type: 'application/pdf' },
      html: { media_type: 'text/html; charset=utf-8' },
    });
    const pdf = textOf(service.files.get('application/pdf') ?? Buffer.alloc(0));
    const page = String(service.files.get('text/html; charset=utf-8'));
    const pounds = (minor: number) => `${(minor / 100).toLocaleString('en-GB', { minimumFractionDigits: 2 })} GBP`;
    const amounts = [
      ...Object.values(channels ?? {}).flatMap((channel) => [pounds(channel.base), pounds(channel.value)]),
      ...adjustments.map(({ amount }) => `${amount > 0 ? '+' : ''}${pounds(amount)}`),
    ];
    expect(amounts.length).toBeGreaterThan(12);
    for (const text of ['12 % below private offers', 'conventions, not measured']) {
      expect(pdf).toContain(text);
      expect(page).toContain(text);
    }
    for (const amount of amounts) {
      expect(pdf).toContain(amount);
      expect(page).toContain(amount);
    }
  });

  it('comparables are rows of the book, the most similar first', async () => {
    const { comparables } = await value({ vehicle: VEHICLE });
    expect(comparables).toHaveLength(10);
    const similarities = comparables?.map(({ similarity }) => similarity) ?? [];
    expect(similarities).toEqual(similarities.toSorted((one, other) => other - one));
    for (const { observed_on, year, mileage_km, price } of comparables ?? []) {
      expect(
        rows.some((row) => {
          const [day, , , make, model, ofYear, , km, minor] = row.split(',');
          return (
            [day, make, model].join() === [observed_on, 'Talvera', 'Lumo'].join() &&
            [ofYear, km, minor].join() === [year, mileage_km, price].join()
          );
        }),
      ).toBe(true);
    }
    expect((await value({ vehicle: VEHICLE, include_comparables: false })).comparables).toBeNull();
  });

  it('a valuation of a named version is repeated byte for byte, also after the next version', async () => {
    const first = await value({ vehicle: VEHICLE, price_book: 'invented-gb@1' });
    await importBook('invented-gb', { content: csvOf(rows.slice(0, 400)) });
    await activate('invented-gb');
    expect(await value({ vehicle: VEHICLE })).toMatchObject({ price_book: 'invented-gb@2' });
    expect(JSON.stringify(await value({ vehicle: VEHICLE, price_book: 'invented-gb@1' }))).toBe(JSON.stringify(first));
  });

  it.each([
    ['EUR', 1.1737],
    ['JPY', 1.973],
  ])('amounts in %s are converted at the imported rate, rounded to whole minor units', async (currency, factor) => {
    const inPounds = await value({ vehicle: VEHICLE, price_book: 'invented-gb@1' });
    const converted = await value({ vehicle: VEHICLE, price_book: 'invented-gb@1', currency });
    expect(converted).toMatchObject({
      currency,
      exchange_rate: { base: 'GBP', quote: currency, rated_on: '2026-06-30' },
    });
    const [before, after] = [inPounds.channels?.retail.value ?? 0, converted.channels?.retail.value ?? 0];
    expect(Number.isInteger(after)).toBe(true);
    // Each is rounded once, from the same unrounded value.
    expect(Math.abs(after - before * factor)).toBeLessThanOrEqual(0.5 + 0.5 * factor);
  });

  it('a VIN gives the make, and the year where none is stated', async () => {
    const swedish = inventedRows(300).map((row) => row.replace(/,(?:Talvera|Norvik|Casamo),/, ',Volvo,'));
    await importBook('volvos', { namedOnly: true, content: csvOf(swedish) });
    await activate('volvos');
    const { vehicle } = await value({ vehicle: { vin: 'YV1ZZZ000J1000001', model: 'Bris' }, price_book: 'volvos' });
    expect(vehicle).toMatchObject({ make: 'Volvo', year: 2018, resolved_from: 'vin' });
  });

  it('a book that must be named is never a default', async () => {
    await importBook('for-name-only', { namedOnly: true });
    await activate('for-name-only');
    expect((await value({ vehicle: VEHICLE })).price_book).toMatch(/^invented-gb@/);
    expect((await value({ vehicle: VEHICLE, price_book: 'for-name-only' })).price_book).toBe('for-name-only@1');
  });

  it.each([
    ['an unknown make', { vehicle: { ...VEHICLE, make: 'Zonda' } }, 'vehicle.make', /It knows .*Talvera/],
    ['an unknown model', { vehicle: { ...VEHICLE, model: 'Fjell' } }, 'vehicle.model', /It knows .*Lumo/],
    ['a year after the book', { vehicle: { ...VEHICLE, year: 2027 } }, 'vehicle.year', /future/],
    ['a year before its oldest', { vehicle: { ...VEHICLE, year: 1931 } }, 'vehicle.year', /oldest/],
    ['two million kilometres', { vehicle: { ...VEHICLE, mileage_km: 2_000_000 } }, 'vehicle.mileage_km', /mileage/],
    ['a country without a book', { vehicle: VEHICLE, country: 'FR' }, 'country', /FR/],
    [
      'a book of another country',
      { vehicle: VEHICLE, country: 'FR', price_book: 'invented-gb' },
      'country',
      /GB, not FR/,
    ],
    ['a book that is not there', { vehicle: VEHICLE, price_book: 'nothing' }, 'price_book', /nothing/],
    ['a currency without a rate', { vehicle: VEHICLE, currency: 'CHF' }, 'currency', /GBP to CHF/],
    ['a VIN that says no make of the book', { vehicle: { vin: 'WVWZZZ000J1000001' } }, 'vehicle.vin', /make/],
  ])('%s is refused before anything is held', async (_, body, param, message) => {
    const refused = await post(body);
    expect([refused.status, refused.error.code, refused.error.param]).toEqual([400, 'parameter_invalid', param]);
    expect(refused.error.message).toMatch(message);
    expect(await heldJobs()).toBe(0);
  });

  it('a book of repairs is refused with what it is for', async () => {
    const content = repairsCsvOf(repairRows());
    const options = { path: writePriceFile(content), book: 'repairs-gb', country: 'GB', currency: 'GBP' };
    await importRepairBook(api.orm.em.fork(), { ...options, namedOnly: false });
    await activate('repairs-gb');
    for (const price_book of ['repairs-gb', 'repairs-gb@1']) {
      const refused = await post({ vehicle: VEHICLE, price_book });
      expect([refused.status, refused.error.param]).toEqual([400, 'price_book']);
      expect(refused.error.message).toContain(`"${price_book}" holds prices of repairs and estimates repairs`);
    }
  });

  it('repairs are deducted once: the grade that they suggest moves nothing, one that is stated does', async () => {
    const repairs = { vehicle: VEHICLE, price_book: 'invented-gb@1', repair_estimate_total: 150_000 };
    const suggested = await value(repairs);
    expect(suggested.condition).toEqual({ grade: 'D', sources: ['repair_estimate'], confidence: null });
    expect(suggested.adjustments.map(({ kind }) => kind)).not.toContain('condition');
    const stated = await value({ ...repairs, condition_grade: 'D' });
    expect(stated.adjustments.map(({ kind }) => kind)).toContain('condition');
    expect(stated.channels?.private.value).toBeLessThan(suggested.channels?.private.value ?? 0);
  });

  it('a retired version values nothing more', async () => {
    await retireVersions(api.orm.em.fork(), { book: 'for-name-only', version: null });
    const refused = await post({ vehicle: VEHICLE, price_book: 'for-name-only@1' });
    expect([refused.status, refused.error.param]).toEqual([400, 'price_book']);
  });
});
