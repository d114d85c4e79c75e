/** Activities of the delivery workflow. */
import type { Logger } from 'pino';
import type {
  DeliveryActivities,
  DeliveryAttempt,
  DeliveryAttemptInput,
  DeliveryEndActivities,
} from '../contracts/deliver-webhook.ts';
import type { Event } from '../jobs/entities.ts';
import type { EntityManager, MikroORM } from '../platform/database/orm.ts';
import { createOneAtATime } from '../platform/one-at-a-time.ts';
import type { SealedSecrets } from '../platform/sealed-secrets.ts';
import {
  findSkipReason,
  NO_SLOT_REASON,
  nextAttemptAt,
  OUTCOME_BY_STATUS,
  pauseAfterSkipMs,
  remainingPatienceMs,
  waitsOf,
} from '../webhooks/attempt-rules.ts';
import {
  CONCURRENCY_LIMITS,
  type ConcurrencyLimits,
  createDeliverySlots,
  type SlotDecision,
} from '../webhooks/delivery-concurrency.ts';
import { DeliveryError } from '../webhooks/delivery-error.ts';
import { deliveryHeaders } from '../webhooks/delivery-headers.ts';
import {
  endDelivery,
  isAttemptRecorded,
  recordAttempt,
  recordSkippedLastAttempt,
} from '../webhooks/delivery-records-store.ts';
import { WebhookDelivery, type WebhookEndpoint } from '../webhooks/entities.ts';
import { markDeliveryStarted, recordNextAttempt } from '../webhooks/outbox-store.ts';
import {
  disabledWhenFailingSince,
  parseRetryAfterMs,
  statusDelivers,
  statusDisables,
} from '../webhooks/response-rules.ts';
import { activeSecrets } from '../webhooks/signing-secrets.ts';
import type { WebhookClient } from '../webhooks/webhook-client.ts';

interface Dependencies {
  orm: MikroORM;
  webhookClient: WebhookClient;
  sealedSecrets: SealedSecrets;
  logger: Pick<Logger, 'info' | 'warn'>;
  limits?: ConcurrencyLimits;
  clock?: () => Date;
  /** From 0 to 1. */
  random?: () => number;
}

export function createDeliveryActivities({
  orm,
  webhookClient,
  sealedSecrets,
  logger,
  limits = CONCURRENCY_LIMITS,
  clock = () => new Date(),
  random = Math.random,
}: Dependencies): DeliveryActivities & DeliveryEndActivities {
  const slots = createDeliverySlots(limits, clock);
  // Records of one endpoint wait for the lock of its row: each with a connection, they would take the whole pool.
  const oneRecordAtATime = createOneAtATime();
  return {
    async attemptDelivery(input) {
      const { deliveryId, attempt, lastAttempt } = input;
      const em = orm.em.fork();
      const delivery = await em.findOne(
        WebhookDelivery,
        { id: deliveryId },
        { populate: ['event', 'webhookEndpoint'] },
      );
      // Deleted together with its endpoint.
      if (delivery === null) return skipped('stop', 'the endpoint was deleted');
      if (delivery.status !== 'pending') {
        const outcome = OUTCOME_BY_STATUS[delivery.status];
        // A worker that was lost after its commit could not report this attempt.
        if (await isAttemptRecorded(em, deliveryId, attempt)) return { outcome, retryAfterMs: null, isSent: true };
        return skipped(outcome, 'the delivery had already ended');
      }
      if (delivery.workflowStartedAt === null) await markDeliveryStarted(em, deliveryId);

      const { event, webhookEndpoint } = delivery;
      const skipReason = findSkipReason(event, webhookEndpoint);
      if (skipReason !== null) {
        await endDelivery(em, deliveryId, 'failed', clock());
        logger.info({ deliveryId, webhookEndpointId: webhookEndpoint.id }, 'webhook delivery ended without an attempt');
        return skipped('stop', skipReason);
      }
      // A worker that was lost after its commit could not report this attempt; the receiver has had it.
      if (await isAttemptRecorded(em, deliveryId, attempt))
        return { outcome: 'retry', retryAfterMs: null, isSent: true };

      const slot = slots.acquire({
        webhookEndpointId: webhookEndpoint.id,
        organizationId: webhookEndpoint.organizationId,
        isFailing: webhookEndpoint.consecutiveFailures > 0,
        waits: waitsOf(input),
        patienceMs: remainingPatienceMs(input, clock()),
      });
      if (slot.kind !== 'granted') return waitOrSkip(em, input, slot);
      let exchange: Awaited<ReturnType<typeof send>> | undefined;
      try {
        exchange = await send(event, webhookEndpoint);
        const { retryAfterMs, ...outcome } = exchange;
        const record = {
          ...outcome,
          deliveryId,
          webhookEndpointId: webhookEndpoint.id,
          attempt,
          lastAttempt,
          gone: statusDisables(outcome.statusCode),
          disabledWhenFailingSince: disabledWhenFailingSince(outcome.endedAt),
          nextAttemptAt: nextAttemptAt(input, outcome.endedAt, retryAfterMs),
        };
        const consequence = await oneRecordAtATime(webhookEndpoint.id, () => recordAttempt(em, record));
        const { statusCode, error, durationMs } = outcome;
        const facts = { deliveryId, eventId: event.id, webhookEndpointId: webhookEndpoint.id, attempt };
        logger.info({ ...facts, statusCode, error, durationMs }, 'webhook delivery attempted');
        if (consequence?.endpointDisabled) logger.warn(facts, 'webhook endpoint disabled');
        const reason = error === null ? `HTTP ${statusCode}` : error;
        const status = consequence?.deliveryStatus ?? 'pending';
        return { outcome: OUTCOME_BY_STATUS[status], retryAfterMs, isSent: true, reason };
      } finally {
        // After the record, so that the next attempt reads the endpoint's health as this one left it.
        slot.release(exchange ? { delivered: exchange.error === null, durationMs: exchange.durationMs } : null);
      }
    },

    async giveUpDelivery({ deliveryId }) {
      await endDelivery(orm.em.fork(), deliveryId, 'failed', clock());
      logger.info({ deliveryId }, 'webhook delivery given up: its workflow was cancelled');
    },
  };

  /** Without a free slot the attempt waits for its turn, or is skipped when its turn comes too late. */
  async function waitOrSkip(
    em: EntityManager,
    input: DeliveryAttemptInput,
    slot: Exclude<SlotDecision, { kind: 'granted' }>,
  ): Promise<DeliveryAttempt> {
    const now = clock();
    const { deliveryId, attempt, lastAttempt } = input;
    if (slot.kind === 'waits') {
      await recordNextAttempt(em, deliveryId, new Date(now.getTime() + slot.waitMs));
      return { outcome: 'wait', retryAfterMs: slot.waitMs, isSent: false };
    }
    logger.info({ deliveryId, attempt }, 'webhook delivery attempt skipped: no free slot in time');
    if (lastAttempt) {
      await recordSkippedLastAttempt(em, { deliveryId, attempt, now });
      return skipped('stop', NO_SLOT_REASON);
    }
    const retryAfterMs = pauseAfterSkipMs(input, now, random());
    await recordNextAttempt(em, deliveryId, nextAttemptAt(input, now, retryAfterMs));
    return skipped('retry', NO_SLOT_REASON, retryAfterMs);
  }

  /** Makes the attempt. A failing receiver is a result; only the service's own faults throw. */
  async function send(event: Event, webhookEndpoint: WebhookEndpoint) {
    const attemptedAt = clock();
    const secrets = activeSecrets(webhookEndpoint, sealedSecrets, attemptedAt);
    const beganMs = performance.now();
    const outcome = await webhookClient
      .post({ url: webhookEndpoint.url, headers: deliveryHeaders(event, secrets, attemptedAt), body: event.payload })
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

/** Nothing was sent. */
function skipped(
  outcome: DeliveryAttempt['outcome'],
  reason: string,
  retryAfterMs: number | null = null,
): DeliveryAttempt {
  return { outcome, retryAfterMs, isSent: false, reason };
}
