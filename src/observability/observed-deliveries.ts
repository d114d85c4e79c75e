import type { DeliveryActivities } from '../contracts/deliver-webhook.ts';
import type { Metrics } from './metrics.ts';

/** Counts what each attempt of a delivery led to. */
export function observeDeliveries(activities: DeliveryActivities, metrics: Metrics): DeliveryActivities {
  return {
    ...activities,
    async attemptDelivery(input) {
      const attempt = await activities.attemptDelivery(input);
      metrics.deliveryAttempted(attempt.outcome);
      return attempt;
    },
  };
}
