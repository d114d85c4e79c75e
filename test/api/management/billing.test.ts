/** Prices and statements: every statement begins where the one before ended, and the last ends at the balance. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adjustCredits, topUp } from '../../../src/credits/credit-bookings-store.ts';
import { expireGrants, grantPromotion } from '../../../src/credits/credit-grants-store.ts';
import { closingCredits, monthBounds } from '../../../src/credits/statements.ts';
import { readStatement } from '../../../src/credits/statements-store.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import type { Role } from '../../../src/organizations/roles.ts';
import { query } from '../../../src/platform/database/orm.ts';
import { sweepMonths } from '../../../src/workers/sweep-credits.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../../support/customers.ts';
import { admit, finishJob, SUCCESS } from '../../support/jobs.ts';
import { recordLog } from '../../support/log-record.ts';

const NOW = new Date('2026-03-31T12:00:00Z');

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi({ clock: () => NOW });
});
afterAll(() => api.close());

async function get(
  customer: Customer,
  path: string,
  { role = 'billing_manager', accept = '' }: { role?: Role; accept?: string } = {},
) {
  const key = await api.identity.token({ organizationId: customer.organizationId, role });
  return api.call(path, { key, ...(accept && { headers: { Accept: accept } }) });
}

/** Runs `work`, and dates its bookings at a time. */
async function at(customer: Customer, time: string, work: () => Promise<unknown>): Promise<void> {
  const em = api.orm.em.fork();
  const [last] = await query<{ id: string }>(em, 'select coalesce(max(id), 0) as id from credit_transfers');
  await work();
  await query(em, 'update credit_transfers set created_at = $1 where id > $2 and organization_id = $3', [
    time,
    last?.id,
    customer.organizationId,
  ]);
}

async function spend(customer: Customer, credits: number, charged: number, endpoint = 'dashboard.read'): Promise<void> {
  const jobId = await admit(api.orm, customer, { reservedCredits: credits, livemode: true, endpoint });
  await finishJob(api.orm, jobId, { ...SUCCESS, chargedCredits: charged });
}

/** A live balance with something of everything in January and March, and nothing in February. */
async function customerWithHistory(): Promise<Customer> {
  const customer = await createCustomer(api.orm, { live: 0, test: 50 });
  const key = { organizationId: customer.organizationId, livemode: true };
  const em = () => api.orm.em.fork();
  await at(customer, '2026-01-01T00:00:00Z', () => topUp(em(), { ...key, amount: 1_000, reason: 'payment' }));
  await at(customer, '2026-01-20T00:00:00Z', () => spend(customer, 100, 40));
  await at(customer, '2026-01-31T23:59:59.999Z', () => spend(customer, 60, 60));
  await at(customer, '2026-03-01T00:00:00Z', () =>
    grantPromotion(em(), { ...key, amount: 30, reason: 'welcome', expiresAt: new Date(0), now: NOW }),
  );
  await at(customer, '2026-03-02T00:00:00Z', () => spend(customer, 12, 12, 'plate.read'));
  await at(customer, '2026-03-03T00:00:00Z', () => expireGrants(em(), key, NOW));
  await at(customer, '2026-03-04T00:00:00Z', () => adjustCredits(em(), { ...key, change: -5, reason: 'a mistake' }));
  await at(customer, '2026-03-05T00:00:00Z', () => adjustCredits(em(), { ...key, change: 2, reason: 'another' }));
  await at(customer, '2026-03-06T00:00:00Z', () => admit(api.orm, customer, { reservedCredits: 100, livemode: true }));
  return customer;
}

describe('the price list', () => {
  it('the price list has every endpoint in credits and in dollars', async () => {
    const customer = await createCustomer(api.orm);
    const { json } = await get(customer, '/mgmt/v1/prices');
    expect(json).toMatchObject({ object: 'price_list', credits_per_usd: 1_000 });
    const prices = json.data as Record<string, unknown>[];
    expect(prices.map(({ endpoint }) => endpoint)).toEqual(endpoints.map(({ slug }) => slug));
    expect(prices).toContainEqual(
      expect.objectContaining({
        endpoint: 'dashboard.read',
        price_credits: 20,
        price_usd: '0.02',
        depends_on_request: false,
      }),
    );
  });

  it('the price list is refused to a member', async () => {
    const customer = await createCustomer(api.orm);
    const answer = await get(customer, '/mgmt/v1/prices', { role: 'member' });
    expect(answer).toMatchObject({ status: 403, error: { code: 'role_not_permitted' } });
  });
});

describe('a statement', () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await customerWithHistory();
  });

  it('a statement lists the bookings of a month between its opening and closing balance', async () => {
    const { json } = await get(customer, '/mgmt/v1/statements/2026-03');
    expect(json).toEqual({
      object: 'statement',
      month: '2026-03',
      livemode: true,
      is_final: false,
      credits_per_usd: 1_000,
      opening_balance: { credits: 900, usd: '0.90' },
      lines: [
        { kind: 'promotion', endpoint: null, count: 1, credits: 30, usd: '0.03' },
        { kind: 'adjustment', endpoint: null, count: 2, credits: -3, usd: '-0.003' },
        { kind: 'expiry', endpoint: null, count: 1, credits: -18, usd: '-0.018' },
        { kind: 'capture', endpoint: 'plate.read', count: 1, credits: -12, usd: '-0.012' },
      ],
      closing_balance: { credits: 897, usd: '0.897' },
    });
    const { available, held } = await readAccount(api.orm, customer.organizationId, true);
    expect(available + held).toBe(897);
  });

  it('a statement of a past month is final and complete', async () => {
    const { json } = await get(customer, '/mgmt/v1/statements/2026-01');
    expect(json).toMatchObject({
      is_final: true,
      opening_balance: { credits: 0 },
      lines: [
        { kind: 'top_up', count: 1, credits: 1_000 },
        { kind: 'capture', endpoint: 'dashboard.read', count: 2, credits: -100 },
      ],
      closing_balance: { credits: 900 },
    });
  });

  it('a statement exists for every month from the first to the current one', async () => {
    const { json } = await get(customer, '/mgmt/v1/statements');
    const statements = json.data as { month: string; opening_balance: object; closing_balance: object }[];
    expect(statements.map(({ month }) => month)).toEqual(['2026-03', '2026-02', '2026-01']);
    expect(statements.map((one) => one.closing_balance)).toMatchObject([
      { credits: 897 },
      { credits: 900 },
      { credits: 900 },
    ]);
    expect(statements[1]).toMatchObject({ opening_balance: { credits: 900 }, lines: [], is_final: true });
  });

  it.each([
    ['by its name', '/mgmt/v1/statements/2026-03.csv', ''],
    ['by what is accepted', '/mgmt/v1/statements/2026-03', 'text/csv'],
  ])('a statement is comma-separated values when asked for %s', async (_name, path, accept) => {
    const answer = await get(customer, path, { accept });
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/csv/);
    expect(answer.text.split('\r\n')).toEqual([
      'month,mode,line,endpoint,count,credits,usd',
      '2026-03,live,opening_balance,,,900,0.90',
      '2026-03,live,promotion,,1,30,0.03',
      '2026-03,live,adjustment,,2,-3,-0.003',
      '2026-03,live,expiry,,1,-18,-0.018',
      '2026-03,live,capture,plate.read,1,-12,-0.012',
      '2026-03,live,closing_balance,,,897,0.897',
      '',
    ]);
  });

  it('a statement of the test balance is separate', async () => {
    const { json } = await get(customer, '/mgmt/v1/statements?livemode=false');
    for (const statement of json.data as { livemode: boolean }[]) expect(statement.livemode).toBe(false);
    const march = await get(customer, '/mgmt/v1/statements/2026-03?livemode=false');
    expect(march.json).toMatchObject({ livemode: false, lines: [] });
  });

  it('a statement of another organisation is not visible', async () => {
    const other = await createCustomer(api.orm, { live: 0, test: 0 });
    const { json } = await get(other, '/mgmt/v1/statements/2026-03');
    expect(json).toMatchObject({ opening_balance: { credits: 0 }, lines: [], closing_balance: { credits: 0 } });
    expect((await get(other, '/mgmt/v1/statements')).json.data).toEqual([]);
  });

  it.each([
    ['2026-04', 404, 'resource_not_found'],
    ['2026-13', 400, 'parameter_invalid'],
    ['march', 400, 'parameter_invalid'],
    ['2026-03.pdf', 400, 'parameter_invalid'],
  ])('a statement of %s is refused', async (month, status, code) => {
    expect(await get(customer, `/mgmt/v1/statements/${month}`)).toMatchObject({
      status,
      error: { code, param: 'month' },
    });
  });
});

it('for any bookings, each statement opens where the previous closed, and the last closes at the balance', async () => {
  const day = fc.integer({ min: 1, max: 28 }).map((number) => String(number).padStart(2, '0'));
  const time = fc
    .tuple(fc.constantFrom('2025-12', '2026-01', '2026-02', '2026-03'), day)
    .map((parts) => parts.join('-'));
  const step = fc.oneof(
    fc.record({ act: fc.constant('top up' as const), amount: fc.integer({ min: 1, max: 50 }), time }),
    fc.record({ act: fc.constant('adjust' as const), amount: fc.integer({ min: -20, max: -1 }), time }),
    fc.record({ act: fc.constant('spend' as const), amount: fc.nat(20), time }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const customer = await createCustomer(api.orm, { live: 0, test: 0 });
      const key = { organizationId: customer.organizationId, livemode: true };
      await at(customer, '2025-12-01T00:00:00Z', () =>
        topUp(api.orm.em.fork(), { ...key, amount: 200, reason: 'payment' }),
      );
      for (const { act, amount, time } of steps) {
        await at(customer, `${time}T12:00:00Z`, async () => {
          if (act === 'top up') await topUp(api.orm.em.fork(), { ...key, amount, reason: 'payment' });
          else if (act === 'adjust') await adjustCredits(api.orm.em.fork(), { ...key, change: amount, reason: 'test' });
          else await spend(customer, amount, Math.floor(amount / 2));
        });
      }
      const em = api.orm.em.fork();
      let expected = 0;
      for (const month of ['2025-12', '2026-01', '2026-02', '2026-03']) {
        const bounds = monthBounds(month);
        if (!bounds) throw new Error(`${month} is a month`);
        const statement = await readStatement(em, key, bounds);
        expect(statement.openingCredits).toBe(expected);
        expected = closingCredits(statement);
      }
      const { available, held } = await readAccount(api.orm, customer.organizationId, true);
      expect(expected).toBe(available + held);
      const { json } = await get(customer, '/mgmt/v1/statements');
      expect(json.data).toMatchObject([{ closing_balance: { credits: expected } }, {}, {}, {}]);

      // Whichever months are closed.
      const january = await get(customer, '/mgmt/v1/statements/2026-01');
      for (const closedAt of ['2026-01-02', '2026-02-02', '2026-03-02'].map((date) => new Date(`${date}T00:00:00Z`))) {
        await sweepMonths({ orm: api.orm, logger: recordLog().logger, clock: () => closedAt });
        expect(await get(customer, '/mgmt/v1/statements')).toMatchObject({ json });
        expect(await get(customer, '/mgmt/v1/statements/2026-01')).toMatchObject({ json: january.json });
      }
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 240_000);
