/** `POST /billing/stripe/webhook`: each payment is booked exactly once, whatever the order and number of notifications. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStripePayments } from '../../src/credits/payments/stripe-payments.ts';
import { newId } from '../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { admit } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import {
  type SignedNotification,
  stripeCharge,
  stripeCheckoutSession,
  stripeEvent,
  WEBHOOK_SECRET,
} from '../support/stripe.ts';

let api: TestApi;

beforeAll(async () => {
  const payments = createStripePayments({ secretKey: 'sk_test_that_calls_nobody', webhookSecret: WEBHOOK_SECRET });
  api = await startTestApi({ payments });
});
afterAll(async () => {
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});

const tell = ({ body, signature }: SignedNotification) =>
  api.call('/billing/stripe/webhook', { method: 'POST', body, headers: { 'Stripe-Signature': signature } });

/** A new customer and Stripe's notifications of a payment of 500 US cents for 5,000 credits. */
async function newPayment(live = 0) {
  const customer: Customer = await createCustomer(api.orm, { live, test: 0 });
  if (live === 0) await createAccount(customer);
  const payment = `pi_${newId('request')}`;
  const { organizationId } = customer;
  const paid = () =>
    tell(stripeEvent('checkout.session.completed', stripeCheckoutSession({ payment, organizationId, credits: 5_000 })));
  const refunded = (amountRefunded: number) =>
    tell(stripeEvent('charge.refunded', stripeCharge({ payment, amount: 500, amountRefunded })));
  const available = async () => (await readAccount(api.orm, organizationId, true)).available;
  return { customer, paid, refunded, available };
}

async function createAccount({ organizationId }: Customer): Promise<void> {
  const key = await api.identity.token({ organizationId });
  await api.call('/mgmt/v1/credits', {
    method: 'PATCH',
    key,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ livemode: true, low_balance_threshold: null }),
  });
}

describe('a payment', () => {
  it('a payment notified ten times at once, and again later, is booked once', async () => {
    const { paid, available } = await newPayment();
    const answers = await Promise.all(Array.from({ length: 10 }, paid));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await paid()).status).toBe(200);
    expect(await available()).toBe(5_000);
  });

  it('a payment does not appear in the ledger under the name of the provider', async () => {
    const { customer, paid } = await newPayment();
    await paid();
    const key = await api.identity.token({ organizationId: customer.organizationId });
    const { json } = await api.call('/mgmt/v1/credits/ledger', { key });
    expect(json.data).toMatchObject([{ kind: 'top_up', credits: 5_000, livemode: true, reason: 'payment' }]);
    expect(JSON.stringify(json)).not.toContain('pi_');
  });

  it('a payment with a wrong signature is refused and not booked', async () => {
    const { customer, available } = await newPayment();
    const session = stripeCheckoutSession({ payment: 'pi_x', organizationId: customer.organizationId, credits: 5_000 });
    const answer = await tell(stripeEvent('checkout.session.completed', session, { secret: 'whsec_other' }));
    expect(answer).toMatchObject({ status: 400, error: { code: 'parameter_invalid', param: 'Stripe-Signature' } });
    expect(await available()).toBe(0);
  });
});

it.each(['-10', '0', '1e30'])('a payment for %s credits is refused and not booked', async (credits) => {
  const { customer, available } = await newPayment();
  const { organizationId } = customer;
  const session = stripeCheckoutSession({ payment: `pi_of_${credits}`, organizationId, credits: 1 });
  const odd = { ...session, metadata: { ...session.metadata, credits } };
  expect(await tell(stripeEvent('checkout.session.completed', odd))).toMatchObject({
    status: 400,
    error: { code: 'parameter_invalid', param: 'data.object.metadata.credits' },
  });
  expect(await available()).toBe(0);
});

describe('a refund', () => {
  it('a refund takes credits back proportionally, also when notified twice or out of order', async () => {
    const { paid, refunded, available } = await newPayment();
    await paid();
    await refunded(100);
    expect(await available()).toBe(4_000);
    await Promise.all([refunded(300), refunded(300), refunded(100)]);
    expect(await available()).toBe(2_000);
    await refunded(100);
    expect(await available()).toBe(2_000);
    await refunded(500);
    expect(await available()).toBe(0);
  });

  it('a refund takes at most the available credits', async () => {
    const { customer, paid, refunded, available } = await newPayment();
    await paid();
    await admit(api.orm, customer, { livemode: true, apiKeyId: customer.keyIds.live, reservedCredits: 4_900 });
    expect((await refunded(500)).status).toBe(200);
    expect(await available()).toBe(0);
    const message = 'refunded credits were already spent';
    expect(await api.log.waitFor(({ msg }) => msg === message)).toMatchObject({ taken: 100, missing: 4_900 });
  });

  it('a refund of an unknown payment is refused, so that Stripe retries', async () => {
    const { paid, refunded, available } = await newPayment();
    expect(await refunded(500)).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    await paid();
    await refunded(500);
    expect(await available()).toBe(0);
  });
});
