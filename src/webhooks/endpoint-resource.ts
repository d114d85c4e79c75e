import { epochSeconds } from '../platform/epoch-seconds.ts';
import type { WebhookEndpoint } from './entities.ts';

/** The resource "webhook endpoint" of the management API. */
export function renderWebhookEndpoint(endpoint: WebhookEndpoint, now: Date) {
  const { previousSecretExpiresAt: previous } = endpoint;
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.events,
    status: endpoint.status,
    livemode: endpoint.livemode,
    is_staging: endpoint.isStaging,
    created: epochSeconds(endpoint.createdAt),
    consecutive_failures: endpoint.consecutiveFailures,
    failing_since: endpoint.failingSince && epochSeconds(endpoint.failingSince),
    last_success_at: endpoint.lastSuccessAt && epochSeconds(endpoint.lastSuccessAt),
    last_error: endpoint.lastError,
    previous_secret_expires_at: previous && previous > now ? epochSeconds(previous) : null,
  };
}
