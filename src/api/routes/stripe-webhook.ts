import type { Logger } from 'pino';
import type { PaymentProvider } from '../../billing/payment-provider.ts';
import { bookPayment, bookRefund } from '../../db/credits/payments.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';
import { readText } from '../requests/json-body.ts';

interface Dependencies {
  payments: PaymentProvider | null;
  logger: Logger;
}

/**
 * `POST /billing/stripe/webhook`: what the payment provider tells. Whatever it says again, or late, changes nothing; any
 * other answer than 2xx makes it say it again.
 */
export function createStripeWebhookRoute({ payments, logger }: Dependencies) {
  return async (context: ApiContext): Promise<void> => {
    if (!payments) {
      throw new ServiceError('payments_unconfigured', 'No payment provider is configured, so none is listened to.');
    }
    const notification = payments.readNotification(await readText(context.req), context.get('Stripe-Signature'));
    if (notification?.kind === 'paid') {
      const { reference, organizationId, credits } = notification;
      const isNew = await bookPayment(context.state.em, notification);
      logger.info({ reference, organizationId, credits, isNew }, 'payment told');
    } else if (notification?.kind === 'refunded') {
      const { reference } = notification;
      const outcome = await bookRefund(context.state.em, notification);
      if (!outcome) {
        throw new ServiceError('service_unavailable', 'The payment of this refund is not known yet. Tell it again.', {
          headers: { 'Retry-After': '60' },
        });
      }
      if (outcome.missing > 0) logger.warn({ reference, ...outcome }, 'refunded credits were spent already');
      else logger.info({ reference, ...outcome }, 'refund told');
    }
    context.body = { received: true };
  };
}
