import { epochSeconds } from '../platform/epoch-seconds.ts';
import type { LoggedDelivery } from './deliveries-store.ts';

/** The resource "webhook delivery" of the management API. */
export function renderDelivery({ delivery, event, attempts }: LoggedDelivery) {
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    webhook_endpoint_id: delivery.webhookEndpoint.id,
    event_id: event.id,
    event_type: event.type,
    test: event.isTest,
    replay_of: delivery.replayOf,
    status: delivery.status,
    created: epochSeconds(delivery.createdAt),
    completed_at: delivery.completedAt && epochSeconds(delivery.completedAt),
    next_attempt_at: delivery.nextAttemptAt && epochSeconds(delivery.nextAttemptAt),
    attempts: attempts.map(({ attempt, attemptedAt, durationMs, statusCode, error }) => ({
      attempt,
      attempted_at: attemptedAt,
      duration_ms: durationMs,
      http_status: statusCode,
      error,
    })),
  };
}
