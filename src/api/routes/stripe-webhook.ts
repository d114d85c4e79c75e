import type { Logger } from 'pino';
import type { PaymentProvider } from '../../credits/payments/payment-provider.ts';
import { bookPayment, bookRefund } from '../../credits/payments/payments-store.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { readText } from '../requests/json-body.ts';

interface Dependencies {
  payments: PaymentProvider | null;
  logger: Logger;
}

/**
 * `POST /billing/stripe/webhook`: notifications of the payment provider. Repeated and late ones change nothing. Any status
 * but 2xx makes the provider retry.
 */
export function createStripeWebhookRoute({ payments, logger }: Dependencies) {
  return async (context: ApiContext): Promise<void> => {
    if (!payments) {
      throw new ServiceError(
        'payments_unconfigured',
        'No payment provider is configured, so its notifications are refused.',
      );
    }
    const notification = payments.readNotification(await readText(context), context.get('Stripe-Signature'));
    if (notification?.kind === 'paid') {
      const { reference, organizationId, credits } = notification;
      const isNew = await bookPayment(context.state.em, notification);
      logger.info({ reference, organizationId, credits, isNew }, 'payment booked');
    } else if (notification?.kind === 'refunded') {
      const { reference } = notification;
      const outcome = await bookRefund(context.state.em, notification);
      if (!outcome) {
        throw new ServiceError(
          'service_unavailable',
          'The payment of this refund is not known yet. Send the refund again later.',
          {
            headers: { 'Retry-After': '60' },
          },
        );
      }
      if (outcome.missing > 0) logger.warn({ reference, ...outcome }, 'refunded credits were already spent');
      else logger.info({ reference, ...outcome }, 'refund booked');
    }
    context.body = { received: true };
  };
}
