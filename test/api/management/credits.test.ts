/** Balances, thresholds, the ledger and top-ups, as members see them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topUp } from '../../../src/credits/credit-bookings-store.ts';
import { grantPromotion } from '../../../src/credits/credit-grants-store.ts';
import type { CheckoutOrder, PaymentProvider } from '../../../src/credits/payments/payment-provider.ts';
import type { Role } from '../../../src/organizations/roles.ts';
import { newId } from '../../../src/platform/ids.ts';
import { sweepCredits } from '../../../src/workers/sweep-credits.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';
import { admit, finishJob, SUCCESS } from '../../support/jobs.ts';
import { expectLedgerToBalance } from '../../support/ledger.ts';
import { stripeEvent } from '../../support/stripe.ts';

const DAY_MS = 86_400_000;
const USER_ID = newId('user');

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => {
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});

interface Request {
  method?: string;
  role?: Role;
  body?: unknown;
  on?: TestApi;
  idempotencyKey?: string;
}

async function call(
  customer: Customer,
  path: string,
  { method = 'GET', role = 'admin', body, on = api, idempotencyKey }: Request = {},
): Promise<Answer> {
  const key = await on.identity.token({ userId: USER_ID, organizationId: customer.organizationId, role });
  return on.call(path, {
    method,
    key,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
  });
}

/** The test balance as the API shows it. */
async function testBalance(customer: Customer): Promise<Record<string, unknown>> {
  const { json } = await call(customer, '/mgmt/v1/credits');
  const [live, test] = json.data as Record<string, unknown>[];
  expect(live).toMatchObject({ object: 'credit_balance', livemode: true });
  return test ?? {};
}

const grant = (customer: Customer, amount: number, expiresAt: Date) =>
  grantPromotion(api.orm.em.fork(), {
    organizationId: customer.organizationId,
    livemode: false,
    amount,
    reason: 'welcome',
    expiresAt,
    now: new Date(),
  });

async function spend(customer: Customer, credits: number): Promise<string> {
  const jobId = await admit(api.orm, customer, { reservedCredits: credits });
  await finishJob(api.orm, jobId, { ...SUCCESS, chargedCredits: credits });
  return jobId;
}

describe('GET /mgmt/v1/credits', () => {
  it('GET /mgmt/v1/credits shows both balances with held and promotional credits', async () => {
    const customer = await createCustomer(api.orm, { live: 500, test: 100 });
    const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + DAY_MS);
    const grantId = await grant(customer, 40, expiresAt);
    await spend(customer, 15);
    await admit(api.orm, customer, { reservedCredits: 20 });
    const { json } = await call(customer, '/mgmt/v1/credits');
    expect(json.data).toEqual([
      {
        object: 'credit_balance',
        livemode: true,
        available: 500,
        held: 0,
        promotional: { credits: 0, grants: [] },
        low_balance_threshold: null,
        is_low: false,
        top_up: 'unavailable',
      },
      {
        object: 'credit_balance',
        livemode: false,
        available: 105,
        held: 20,
        promotional: {
          credits: 25,
          grants: [{ id: grantId, granted: 40, credits: 25, expires_at: expiresAt.getTime() / 1000 }],
        },
        low_balance_threshold: null,
        is_low: false,
        top_up: 'free',
      },
    ]);
  });

  it('GET /mgmt/v1/credits shows empty balances to a new organisation', async () => {
    const key = await api.identity.token();
    const { json } = await api.call('/mgmt/v1/credits', { key });
    expect(json.data).toMatchObject([
      { livemode: true, available: 0 },
      { livemode: false, available: 0 },
    ]);
  });
});

describe('the low-balance threshold', () => {
  it('the low-balance threshold can be set, causes one event, and can be cleared', async () => {
    const customer = await createCustomer(api.orm, { test: 100 });
    const patch = (threshold: number | null) =>
      call(customer, '/mgmt/v1/credits', {
        method: 'PATCH',
        body: { livemode: false, low_balance_threshold: threshold },
      });
    expect((await patch(90)).json).toMatchObject({ livemode: false, low_balance_threshold: 90, is_low: false });
    await spend(customer, 20);
    await sweepCredits({ orm: api.orm, logger: api.log.logger });
    const events = await api.call('/v1/events?type=credits.low_balance', { key: customer.keys.test });
    expect(events.json.data).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        object: 'event',
        type: 'credits.low_balance',
        created: expect.any(Number),
        livemode: false,
        is_staging: false,
        api_version: '2026-10-04',
        data: { object: { object: 'credit_balance', livemode: false, balance: 80, low_balance_threshold: 90 } },
        request: null,
      },
    ]);
    expect(await testBalance(customer)).toMatchObject({ is_low: true });
    const live = await api.call('/v1/events?type=credits.low_balance', { key: customer.keys.live });
    expect(live.json.data).toEqual([]);
    expect((await patch(null)).json).toMatchObject({ low_balance_threshold: null, is_low: false });
  });

  it.each([0, -1, 1.5, 'many', 1_000_000_001])('the low-balance threshold cannot be %p', async (threshold) => {
    const customer = await createCustomer(api.orm);
    const body = { livemode: false, low_balance_threshold: threshold };
    const answer = await call(customer, '/mgmt/v1/credits', { method: 'PATCH', body });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: 'parameter_invalid', param: 'low_balance_threshold' },
    });
  });
});

it('the sweeper removes expired promotional credits', async () => {
  const customer = await createCustomer(api.orm, { test: 100 });
  await grant(customer, 40, new Date(Date.now() + DAY_MS));
  await spend(customer, 15);
  const sweepAt = (time: number) => sweepCredits({ orm: api.orm, logger: api.log.logger, clock: () => new Date(time) });
  await sweepAt(Date.now());
  expect(await testBalance(customer)).toMatchObject({ available: 125 });
  await sweepAt(Date.now() + 2 * DAY_MS);
  expect(await testBalance(customer)).toMatchObject({ available: 100, promotional: { credits: 0, grants: [] } });
});

describe('GET /mgmt/v1/credits/ledger', () => {
  it('GET /mgmt/v1/credits/ledger lists every transfer of the organisation, newest first, in pages', async () => {
    const customer = await createCustomer(api.orm, { live: 500, test: 100 });
    const jobId = await spend(customer, 20);
    const list = async (query: string) => (await call(customer, `/mgmt/v1/credits/ledger${query}`)).json;

    const first = await list('?livemode=false&limit=2');
    expect(first).toMatchObject({
      data: [
        { object: 'credit_transfer', kind: 'capture', from: 'held', to: 'revenue', credits: 20, job_id: jobId },
        { object: 'credit_transfer', kind: 'hold', from: 'available', to: 'held', credits: 20, job_id: jobId },
      ],
      has_more: true,
    });
    const last = (first.data as { id: string }[])[1]?.id ?? '';
    const second = await list(`?livemode=false&limit=2&starting_after=${last}`);
    expect(second).toMatchObject({ data: [{ kind: 'top_up', credits: 100, reason: 'test' }], has_more: false });
    const back = await list(`?livemode=false&ending_before=${(second.data as { id: string }[])[0]?.id}`);
    expect(back.data).toEqual(first.data);
    expect((await list('?kind=top_up')).data).toHaveLength(2);
    expect((await list(`?job_id=${jobId}`)).data).toHaveLength(2);
  });

  it.each(['job_1', 'ctr_0', 'ctr_99999999999999999999', 'ctr_1;'])(
    'GET /mgmt/v1/credits/ledger refuses the cursor %s',
    async (id) => {
      const customer = await createCustomer(api.orm);
      const answer = await call(customer, `/mgmt/v1/credits/ledger?starting_after=${id}`);
      expect(answer).toMatchObject({ status: 400, error: { code: 'parameter_invalid', param: 'starting_after' } });
    },
  );
});

describe('a top-up of test credits', () => {
  it('a top-up of test credits is booked at once and free', async () => {
    const customer = await createCustomer(api.orm, { test: 0 });
    const body = { livemode: false, credits: 700 };
    const answer = await call(customer, '/mgmt/v1/credits/top-ups', { method: 'POST', body });
    expect(answer).toMatchObject({
      status: 201,
      json: { object: 'credit_top_up', livemode: false, credits: 700, status: 'completed', checkout_url: null },
    });
    expect(await testBalance(customer)).toMatchObject({ available: 700 });
  });

  it('a top-up of test credits repeated with its Idempotency-Key is booked once', async () => {
    const customer = await createCustomer(api.orm, { test: 0 });
    const request = {
      method: 'POST',
      body: { livemode: false, credits: 700 },
      idempotencyKey: 'a key of this test',
    };
    const first = await call(customer, '/mgmt/v1/credits/top-ups', request);
    const again = await call(customer, '/mgmt/v1/credits/top-ups', request);
    expect(again.text).toBe(first.text);
    expect(await testBalance(customer)).toMatchObject({ available: 700 });
  });

  it.each(['member', 'billing_manager'] as const)('a top-up of test credits is refused to a %s', async (role) => {
    const customer = await createCustomer(api.orm, { test: 0 });
    const body = { livemode: false, credits: 700 };
    const answer = await call(customer, '/mgmt/v1/credits/top-ups', { method: 'POST', body, role });
    expect(answer).toMatchObject({ status: 403, error: { code: 'role_not_permitted' } });
    expect(await testBalance(customer)).toMatchObject({ available: 0 });
  });
});

describe('a top-up of live credits', () => {
  const live = { livemode: true, credits: 5_000, return_url: 'https://customer.example/back' };
  const orders: CheckoutOrder[] = [];
  const payments: PaymentProvider = {
    createCheckout(order) {
      orders.push(order);
      return Promise.resolve({ url: 'https://pay.example/cs_1', expiresAt: new Date(1_800_000_000_000) });
    },
    readNotification: () => null,
  };
  let selling: TestApi;

  beforeAll(async () => {
    selling = await startTestApi({ payments });
  });
  afterAll(() => selling.close());

  it('a top-up of live credits returns where to pay and changes no balance', async () => {
    const customer = await createCustomer(selling.orm, { live: 100 });
    const answer = await call(customer, '/mgmt/v1/credits/top-ups', { method: 'POST', body: live, on: selling });
    expect(answer).toMatchObject({
      status: 201,
      json: {
        status: 'awaiting_payment',
        checkout_url: 'https://pay.example/cs_1',
        checkout_expires_at: 1_800_000_000,
      },
    });
    expect(orders).toEqual([
      {
        organizationId: customer.organizationId,
        credits: 5_000,
        amountCents: 500,
        returnUrl: 'https://customer.example/back',
      },
    ]);
    const { json } = await call(customer, '/mgmt/v1/credits', { on: selling });
    expect(json.data).toMatchObject([
      { livemode: true, available: 100, top_up: 'checkout' },
      { livemode: false, top_up: 'free' },
    ]);
  });

  it.each([
    ['no address to come back to', { return_url: undefined }, 'parameter_missing', 'return_url'],
    ['an invalid address', { return_url: 'javascript:alert(1)' }, 'parameter_invalid', 'return_url'],
    ['a price in fractions of a cent', { credits: 5_005 }, 'parameter_invalid', 'credits'],
    ['less than a payment may be', { credits: 490 }, 'parameter_invalid', 'credits'],
    ['more than a payment may be', { credits: 1_000_000_000 }, 'parameter_invalid', 'credits'],
  ])('a top-up of live credits with %s is refused', async (_name, changes, code, param) => {
    const customer = await createCustomer(selling.orm);
    const body = { ...live, ...changes };
    const answer = await call(customer, '/mgmt/v1/credits/top-ups', { method: 'POST', body, on: selling });
    expect(answer).toMatchObject({ status: 400, error: { code, param } });
  });

  it('a top-up of live credits is refused without a configured provider, and so are notifications', async () => {
    const customer = await createCustomer(api.orm);
    const answer = await call(customer, '/mgmt/v1/credits/top-ups', { method: 'POST', body: live });
    expect(answer).toMatchObject({ status: 503, error: { code: 'payments_unconfigured' } });
    const { body, signature } = stripeEvent('customer.created', {});
    const headers = { 'Stripe-Signature': signature };
    expect(await api.call('/billing/stripe/webhook', { method: 'POST', body, headers })).toMatchObject({
      status: 503,
      error: { code: 'payments_unconfigured' },
    });
  });
});

it('credits and transfers of another organisation are not visible', async () => {
  const [one, other] = [await createCustomer(api.orm, { test: 0 }), await createCustomer(api.orm, { test: 100 })];
  await topUp(api.orm.em.fork(), {
    organizationId: other.organizationId,
    livemode: false,
    amount: 7,
    reason: 'secret reason',
  });
  expect((await call(one, '/mgmt/v1/credits/ledger?livemode=false')).json.data).toEqual([]);
  expect(await testBalance(one)).toMatchObject({ available: 0 });
});
