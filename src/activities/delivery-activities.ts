import type { Logger } from 'pino';
import type { DeliveryActivities, DeliveryAttempt } from '../contracts/deliver-webhook.ts';
import { type Event, WebhookDelivery, type WebhookEndpoint } from '../db/entities.ts';
import type { MikroORM } from '../db/orm.ts';
import { markDeliveryStarted } from '../db/outbox.ts';
import { DeliveryError } from '../delivery/delivery-error.ts';
import { type DeliveryStatus, endDelivery, isAttemptRecorded, recordAttempt } from '../delivery/delivery-records.ts';
import type { WebhookClient } from '../delivery/webhook-client.ts';
import {
  disabledWhenFailingSince,
  parseRetryAfterMs,
  statusDelivers,
  statusDisables,
} from '../domain/webhook-retries.ts';
import { signatureHeaders } from '../domain/webhook-signing.ts';

const USER_AGENT = 'vehicle-inference-service-webhooks/1';

interface Dependencies {
  orm: MikroORM;
  webhookClient: WebhookClient;
  logger: Pick<Logger, 'info' | 'warn'>;
  clock?: () => Date;
}

export function createDeliveryActivities({
  orm,
  webhookClient,
  logger,
  clock = () => new Date(),
}: Dependencies): DeliveryActivities {
  return {
    async attemptDelivery({ deliveryId, attempt, lastAttempt }) {
      const em = orm.em.fork();
      const delivery = await em.findOne(
        WebhookDelivery,
        { id: deliveryId },
        { populate: ['event', 'webhookEndpoint'] },
      );
      // Deleted together with its endpoint.
      if (delivery === null) return { outcome: 'stop', retryAfterMs: null };
      if (delivery.status !== 'pending') return { outcome: OUTCOMES[delivery.status], retryAfterMs: null };
      if (delivery.workflowStartedAt === null) await markDeliveryStarted(em, deliveryId);

      const { event, webhookEndpoint } = delivery;
      if (webhookEndpoint.status === 'disabled' || !isOwnMode(event, webhookEndpoint)) {
        await endDelivery(em, deliveryId, 'failed', clock());
        logger.info({ deliveryId, webhookEndpointId: webhookEndpoint.id }, 'webhook delivery ended without an attempt');
        return { outcome: 'stop', retryAfterMs: null };
      }
      // A worker that was lost after its commit couldn't report; the receiver has had this attempt.
      if (await isAttemptRecorded(em, deliveryId, attempt)) return { outcome: 'retry', retryAfterMs: null };

      const { retryAfterMs, ...exchange } = await send(event, webhookEndpoint);
      const consequence = await recordAttempt(em, {
        ...exchange,
        deliveryId,
        webhookEndpointId: webhookEndpoint.id,
        attempt,
        lastAttempt,
        gone: statusDisables(exchange.statusCode),
        disabledWhenFailingSince: disabledWhenFailingSince(exchange.endedAt),
      });
      const { statusCode, error, durationMs } = exchange;
      const facts = { deliveryId, eventId: event.id, webhookEndpointId: webhookEndpoint.id, attempt };
      logger.info({ ...facts, statusCode, error, durationMs }, 'webhook delivery attempted');
      if (consequence?.endpointDisabled) logger.warn(facts, 'webhook endpoint disabled');
      return { outcome: OUTCOMES[consequence?.deliveryStatus ?? 'pending'], retryAfterMs };
    },
  };

  /** Makes the attempt. A receiver that fails is a result, not an error: only the service's own trouble throws. */
  async function send(event: Event, webhookEndpoint: WebhookEndpoint) {
    const attemptedAt = clock();
    const beganMs = performance.now();
    const outcome = await webhookClient
      .post({ url: webhookEndpoint.url, headers: headersOf(event, webhookEndpoint, attemptedAt), body: event.payload })
      .catch((error: unknown) => {
        if (error instanceof DeliveryError) return error;
        throw error;
      });
    const timing = { attemptedAt, endedAt: clock(), durationMs: Math.round(performance.now() - beganMs) };
    if (outcome instanceof DeliveryError) {
      return { ...timing, statusCode: null, error: outcome.message, retryAfterMs: null };
    }
    const { statusCode, retryAfter } = outcome;
    if (statusDelivers(statusCode)) return { ...timing, statusCode, error: null, retryAfterMs: null };
    const retryAfterMs = parseRetryAfterMs(retryAfter, timing.endedAt);
    return { ...timing, statusCode, error: `HTTP ${statusCode}`, retryAfterMs };
  }
}

const OUTCOMES = {
  pending: 'retry',
  delivered: 'delivered',
  failed: 'stop',
} as const satisfies Record<DeliveryStatus, DeliveryAttempt['outcome']>;

function isOwnMode(event: Event, webhookEndpoint: WebhookEndpoint): boolean {
  return (
    event.organizationId === webhookEndpoint.organizationId &&
    event.livemode === webhookEndpoint.livemode &&
    event.isStaging === webhookEndpoint.isStaging
  );
}

function headersOf(event: Event, { secrets }: WebhookEndpoint, now: Date): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...signatureHeaders({
      eventId: event.id,
      body: event.payload,
      timestampSeconds: Math.floor(now.getTime() / 1_000),
      secrets,
    }),
  };
}
