import type { DeliveryActivities, DeliveryAttempt } from '../contracts/deliver-webhook.ts';
import type { Metrics } from './metrics.ts';

/** Counts the outcome of each attempt of a delivery. */
export function observeDeliveries<Activities extends DeliveryActivities>(
  activities: Activities,
  metrics: Metrics,
): Activities {
  return {
    ...activities,
    async attemptDelivery(input) {
      const attempt = await activities.attemptDelivery(input);
      metrics.deliveryAttempted(isLeftOut(attempt) ? 'left_out' : attempt.outcome);
      return attempt;
    },
  };
}

/** Nothing was sent, and nothing replaces the attempt: it says nothing about the receiver. */
function isLeftOut({ outcome, isSent }: DeliveryAttempt): boolean {
  return isSent === false && outcome !== 'wait';
}
