/** The adapter against a server that speaks Stripe's API, and against notifications that Stripe's library signs. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStripePayments } from '../../../src/credits/payments/stripe-payments.ts';
import { signed, stripeCharge, stripeCheckoutSession, stripeEvent, WEBHOOK_SECRET } from '../../support/stripe.ts';

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
  it('a checkout creates a session at Stripe with credits, price and organisation', async () => {
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

  it('a checkout refused by Stripe is service_unavailable and discloses nothing of Stripe’s message', async () => {
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
    'a notification of %s that is paid names payment, organisation and credits',
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

  it('a notification of a refund names the payment and the refunded part', () => {
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
    ['a session without metadata', 'checkout.session.completed', { metadata: null }],
    ['a refund of something else', 'charge.refunded', { metadata: {} }],
    ['a refund without metadata', 'charge.refunded', { metadata: undefined }],
    ['anything else', 'customer.created', {}],
  ])('a notification of %s is ignored', (_name, type, changes) => {
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
  ])('a notification with %s is refused', (_name, notification) => {
    expect(() => read(notification())).toThrow(
      expect.objectContaining({ code: 'parameter_invalid', param: 'Stripe-Signature' }),
    );
  });

  it.each(['x', '{', '{} {}'])('a notification whose body is %s, which is no JSON, is refused', (body) => {
    expect(() => read(signed(body))).toThrow(expect.objectContaining({ code: 'malformed_request' }));
  });

  const paid = stripeCheckoutSession({ payment: 'pi_1', organizationId: 'org_1', credits: 5_000 });
  const refunded = stripeCharge({ payment: 'pi_1', amount: 500, amountRefunded: 200 });
  const ofPayment = (changes: object) => ({
    type: 'checkout.session.completed',
    data: { object: { ...paid, ...changes } },
  });
  const ofCredits = (changes: object) => ofPayment({ metadata: { ...paid.metadata, ...changes } });
  const ofRefund = (changes: object) => ({ type: 'charge.refunded', data: { object: { ...refunded, ...changes } } });

  it.each<readonly [content: unknown, param: string | undefined]>([
    [null, undefined],
    [[], undefined],
    [{}, undefined],
    [{ type: 1 }, 'type'],
    [{ type: 'checkout.session.completed' }, undefined],
    [{ type: 'checkout.session.completed', data: { object: null } }, 'data.object'],
    [{ type: 'charge.refunded', data: null }, 'data'],
    [ofCredits({ credits: undefined }), 'data.object.metadata'],
    ...['-10', '0', '1e30', '1.5', '', ' 5', '0x10', '1000000001', '99999999999'].map(
      (credits) => [ofCredits({ credits }), 'data.object.metadata.credits'] as const,
    ),
    ...['', 'org_1\0', 'org_\ud800', 'org_1\n'].map(
      (organization) => [ofCredits({ organization_id: organization }), 'data.object.metadata.organization_id'] as const,
    ),
    [ofPayment({ payment_intent: undefined }), 'data.object'],
    [ofPayment({ payment_intent: 'pi_\0' }), 'data.object.payment_intent'],
    [ofRefund({ payment_intent: 1 }), 'data.object.payment_intent'],
    [ofRefund({ amount: 0 }), 'data.object.amount'],
    [ofRefund({ amount_refunded: 0.5 }), 'data.object.amount_refunded'],
    [ofRefund({ amount_refunded: -1 }), 'data.object.amount_refunded'],
  ])('a notification of %j, which does not fit, is refused', (content, param) => {
    expect(() => read(signed(JSON.stringify(content)))).toThrow(
      expect.objectContaining({ code: 'parameter_invalid', param }),
    );
  });
});
