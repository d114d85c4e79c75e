/** The adapter against a server that speaks Stripe's API, and against notifications that Stripe's library signs. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStripePayments } from '../../../src/credits/payments/stripe-payments.ts';
import { stripeCharge, stripeCheckoutSession, stripeEvent, WEBHOOK_SECRET } from '../../support/stripe.ts';

const ORDER = { organizationId: 'org_1', credits: 5_000, amountCents: 500, returnUrl: 'https://customer.example/back' };

interface Received {
  path: string;
  authorization: string | undefined;
  form: Record<string, string>;
}

let server: Server;
let received: Received[] = [];
let answer: { status: number; body: unknown };

beforeAll(async () => {
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      received.push({ path: request.url ?? '', authorization: request.headers.authorization, form });
      response.writeHead(answer.status, { 'Content-Type': 'application/json', 'Stripe-Should-Retry': 'false' });
      response.end(JSON.stringify(answer.body));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const payments = () =>
  createStripePayments({
    secretKey: 'sk_test_of_this_test',
    webhookSecret: WEBHOOK_SECRET,
    server: { protocol: 'http', host: '127.0.0.1', port: (server.address() as AddressInfo).port },
  });

describe('a checkout', () => {
  it('creates a session at Stripe with credits, price and organisation', async () => {
    received = [];
    answer = {
      status: 200,
      body: { id: 'cs_1', object: 'checkout.session', url: 'https://pay.example/cs_1', expires_at: 1_800_000_000 },
    };
    expect(await payments().createCheckout(ORDER)).toEqual({
      url: 'https://pay.example/cs_1',
      expiresAt: new Date(1_800_000_000_000),
    });
    expect(received).toEqual([
      {
        path: '/v1/checkout/sessions',
        authorization: 'Bearer sk_test_of_this_test',
        form: {
          mode: 'payment',
          client_reference_id: 'org_1',
          success_url: 'https://customer.example/back',
          cancel_url: 'https://customer.example/back',
          'line_items[0][quantity]': '1',
          'line_items[0][price_data][currency]': 'usd',
          'line_items[0][price_data][unit_amount]': '500',
          'line_items[0][price_data][product_data][name]': '5000 credits',
          'metadata[service]': 'vehicle-inference-service',
          'metadata[organization_id]': 'org_1',
          'metadata[credits]': '5000',
          'payment_intent_data[metadata][service]': 'vehicle-inference-service',
          'payment_intent_data[metadata][organization_id]': 'org_1',
          'payment_intent_data[metadata][credits]': '5000',
        },
      },
    ]);
  });

  it('refused by Stripe is service_unavailable and discloses nothing of Stripe’s message', async () => {
    answer = {
      status: 401,
      body: { error: { type: 'invalid_request_error', message: 'Invalid API Key: sk_test_of' } },
    };
    const refusal = await payments()
      .createCheckout(ORDER)
      .then(() => null)
      .catch((error: unknown) => error as Error);
    expect(refusal).toMatchObject({ code: 'service_unavailable' });
    expect(refusal?.message).not.toContain('sk_test');
  });
});

describe('a notification', () => {
  const read = ({ body, signature }: { body: string; signature: string }) =>
    payments().readNotification(body, signature);

  it.each(['checkout.session.completed', 'checkout.session.async_payment_succeeded'])(
    'of %s that is paid names payment, organisation and credits',
    (type) => {
      const session = stripeCheckoutSession({ payment: 'pi_1', organizationId: 'org_1', credits: 5_000 });
      expect(read(stripeEvent(type, session))).toEqual({
        kind: 'paid',
        reference: 'stripe:pi_1',
        organizationId: 'org_1',
        credits: 5_000,
      });
    },
  );

  it('of a refund names the payment and the refunded part', () => {
    const charge = stripeCharge({ payment: 'pi_1', amount: 500, amountRefunded: 200 });
    expect(read(stripeEvent('charge.refunded', charge))).toEqual({
      kind: 'refunded',
      reference: 'stripe:pi_1',
      amountRefunded: 200,
      amountPaid: 500,
    });
  });

  it.each([
    ['a session that is not paid yet', 'checkout.session.completed', { payment_status: 'unpaid' }],
    ['a session of something else that the account sells', 'checkout.session.completed', { metadata: {} }],
    ['a refund of something else', 'charge.refunded', { metadata: {} }],
    ['anything else', 'customer.created', {}],
  ])('of %s is ignored', (_name, type, changes) => {
    const subject =
      type === 'charge.refunded'
        ? stripeCharge({ payment: 'pi_1', amount: 500, amountRefunded: 200 })
        : stripeCheckoutSession({ payment: 'pi_1', organizationId: 'org_1', credits: 5_000 });
    expect(read(stripeEvent(type, { ...subject, ...changes }))).toBeNull();
  });

  const event = () =>
    stripeEvent('charge.refunded', stripeCharge({ payment: 'pi_1', amount: 500, amountRefunded: 200 }));

  it.each([
    ['a changed body', () => ({ ...event(), body: event().body.replace('200', '100') })],
    ['another secret', () => stripeEvent('charge.refunded', {}, { secret: 'whsec_of_somebody_else' })],
    ['a time long ago', () => stripeEvent('charge.refunded', {}, { signedAt: new Date(Date.now() - 3_600_000) })],
    ['no signature', () => ({ ...event(), signature: '' })],
    ['an empty signature', () => ({ ...event(), signature: 't=1,v1=' })],
    ['an empty time and signature', () => ({ ...event(), signature: 't=,v1=' })],
  ])('with %s is refused', (_name, signed) => {
    expect(() => read(signed())).toThrow(
      expect.objectContaining({ code: 'parameter_invalid', param: 'Stripe-Signature' }),
    );
  });
});
