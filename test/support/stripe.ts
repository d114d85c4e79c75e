/** Stripe's notifications, signed by Stripe's own library. */
import Stripe from 'stripe';

export const WEBHOOK_SECRET = 'whsec_of_the_tests';
const SERVICE = 'vehicle-inference-service';
const stripe = new Stripe('sk_test_that_calls_nobody');

export interface SignedNotification {
  body: string;
  /** The value of the header `Stripe-Signature`. */
  signature: string;
}

export function stripeEvent(
  type: string,
  object: unknown,
  { secret = WEBHOOK_SECRET, signedAt = new Date() } = {},
): SignedNotification {
  return signed(JSON.stringify({ id: `evt_${type}`, object: 'event', type, data: { object } }), { secret, signedAt });
}

/** Any body, signed as an event. */
export function signed(body: string, { secret = WEBHOOK_SECRET, signedAt = new Date() } = {}): SignedNotification {
  const timestamp = Math.floor(signedAt.getTime() / 1000);
  return { body, signature: stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp }) };
}

export function stripeCheckoutSession(paid: { payment: string; organizationId: string; credits: number }) {
  return {
    id: 'cs_1',
    object: 'checkout.session',
    payment_status: 'paid',
    payment_intent: paid.payment,
    metadata: { service: SERVICE, organization_id: paid.organizationId, credits: String(paid.credits) },
  };
}

export function stripeCharge(refunded: { payment: string; amount: number; amountRefunded: number }) {
  return {
    id: 'ch_1',
    object: 'charge',
    payment_intent: refunded.payment,
    amount: refunded.amount,
    amount_refunded: refunded.amountRefunded,
    metadata: { service: SERVICE },
  };
}
