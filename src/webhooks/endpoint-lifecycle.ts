/** Rules of a webhook endpoint's life: limits, changes, enabling and disabling. */
import { ServiceError } from '../platform/service-error.ts';
import type { WebhookEndpoint } from './entities.ts';

/** Endpoints of one organisation and mode. Each event goes to every one that subscribes to it. */
export const MOST_ENDPOINTS = 20;

/** @throws ServiceError `webhook_endpoint_limit_reached` */
export function assertRoomForEndpoint(endpoints: number): void {
  if (endpoints < MOST_ENDPOINTS) return;
  throw new ServiceError(
    'webhook_endpoint_limit_reached',
    `An organisation can have ${MOST_ENDPOINTS} webhook endpoints of a mode. Delete one that is no longer needed.`,
  );
}

/** @throws ServiceError `parameter_invalid` */
export function assertModeExists({ livemode, isStaging }: { livemode: boolean; isStaging: boolean }): void {
  if (!isStaging || livemode) return;
  throw new ServiceError('parameter_invalid', 'Staging is live: set "livemode" to true.', { param: 'is_staging' });
}

/** @throws ServiceError `webhook_endpoint_disabled` */
export function assertEnabled({ status }: Pick<WebhookEndpoint, 'status'>): void {
  if (status === 'enabled') return;
  throw new ServiceError(
    'webhook_endpoint_disabled',
    'The endpoint is disabled and receives no deliveries. Enable it first.',
  );
}

interface EndpointChanges {
  url?: string | undefined;
  events?: readonly string[] | undefined;
  description?: string | undefined;
  status?: 'enabled' | 'disabled' | undefined;
}

/** Undefined leaves a property as it is. */
export function changeEndpoint(endpoint: WebhookEndpoint, { url, events, description, status }: EndpointChanges): void {
  if (url !== undefined) endpoint.url = url;
  if (events !== undefined) endpoint.events = withoutDuplicates(events);
  if (description !== undefined) endpoint.description = description;
  if (status === 'enabled') enableEndpoint(endpoint);
  if (status === 'disabled') endpoint.status = 'disabled';
}

/** Resets the failures, so that the endpoint has a full day before it is disabled again. */
export function enableEndpoint(endpoint: WebhookEndpoint): void {
  endpoint.status = 'enabled';
  endpoint.consecutiveFailures = 0;
  endpoint.failingSince = null;
}

export const withoutDuplicates = (items: readonly string[]) => [...new Set(items)];
