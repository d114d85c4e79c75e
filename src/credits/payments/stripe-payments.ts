/** Payments through Stripe: Checkout in the browser, and Stripe's webhook for the outcome. */
import Stripe from 'stripe';
import { ServiceError } from '../../platform/service-error.ts';
import type { PaymentProvider } from './payment-provider.ts';
import { readStripeEvent, SERVICE } from './stripe-events.ts';

export interface StripeSettings {
  secretKey: string;
  /** Signing secret of the operator's webhook endpoint at Stripe. */
  webhookSecret: string;
  /** Another server than Stripe's own. */
  server?: { protocol: 'http' | 'https'; host: string; port: number };
}

const TIMEOUT_MS = 10_000;

export function createStripePayments({ secretKey, webhookSecret, server }: StripeSettings): PaymentProvider {
  const stripe = new Stripe(secretKey, { timeout: TIMEOUT_MS, maxNetworkRetries: 2, telemetry: false, ...server });
  const { signature: signatures, DEFAULT_TOLERANCE: toleranceSeconds } = stripe.webhooks;
  if (signatures === null) throw new Error('this build of the Stripe library cannot verify signatures');

  return {
    async createCheckout({ organizationId, credits, amountCents, returnUrl }) {
      // Stripe copies the metadata of a payment to its charge, which refund notifications carry.
      const metadata = { service: SERVICE, organization_id: organizationId, credits: String(credits) };
      const session = await stripe.checkout.sessions
        .create({
          mode: 'payment',
          client_reference_id: organizationId,
          success_url: returnUrl,
          cancel_url: returnUrl,
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency: 'usd',
                unit_amount: amountCents,
                product_data: { name: `${credits} credits` },
              },
            },
          ],
          metadata,
          payment_intent_data: { metadata },
        })
        .catch((error: unknown) => {
          throw unavailable(error);
        });
      if (session.url === null) throw unavailable(new Error(`checkout session ${session.id} has no URL`));
      return { url: session.url, expiresAt: new Date(session.expires_at * 1000) };
    },

    readNotification(body, signature) {
      try {
        signatures.verifyHeader(body, signature, webhookSecret, toleranceSeconds);
      } catch (error) {
        // Not only a StripeSignatureVerificationError: for an empty signature the library throws a plain Error.
        throw new ServiceError(
          'parameter_invalid',
          'The signature of this notification is invalid or too old. Sign it with the secret of this endpoint.',
          { param: 'Stripe-Signature', cause: error },
        );
      }
      return readStripeEvent(body);
    },
  };
}

/** The caller cannot fix Stripe's errors, and their messages may name the account. */
function unavailable(cause: unknown): ServiceError {
  return new ServiceError('service_unavailable', 'The payment provider is unavailable. Repeat the request later.', {
    headers: { 'Retry-After': '10' },
    cause,
  });
}
