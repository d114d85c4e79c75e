import type { Logger } from 'pino';
import type {
  DeliveryActivities,
  DeliveryAttempt,
  DeliveryAttemptInput,
  DeliveryEndActivities,
} from '../contracts/deliver-webhook.ts';
import { planNextAttempt } from '../contracts/delivery-schedule.ts';
import { type Event, WebhookDelivery, type WebhookEndpoint } from '../db/entities.ts';
import { markDeliveryStarted } from '../db/jobs/outbox.ts';
import type { EntityManager, MikroORM } from '../db/orm.ts';
import { DeliveryError } from '../delivery/delivery-error.ts';
import {
  type DeliveryStatus,
  endDelivery,
  isAttemptRecorded,
  recordAttempt,
  recordLeftOut,
  recordNextAttempt,
} from '../delivery/delivery-records.ts';
import {
  createEndpointLanes,
  type EndpointLanes,
  type LaneLimits,
  type LanePlace,
} from '../delivery/endpoint-lanes.ts';
import { RESPONSE_TIMEOUT_MS, type WebhookClient } from '../delivery/webhook-client.ts';
import type { SealedSecrets } from '../domain/sealed-secrets.ts';
import {
  disabledWhenFailingSince,
  parseRetryAfterMs,
  statusDelivers,
  statusDisables,
} from '../domain/webhook-retries.ts';
import { activeSecrets } from '../domain/webhook-secrets.ts';
import { signatureHeaders } from '../domain/webhook-signing.ts';

const USER_AGENT = 'vehicle-inference-service-webhooks/1';

/** How long an attempt waits for its turn: until the next one would be made, within these bounds. */
const PATIENCE_MS = { shortest: 5 * 60_000, longest: 60 * 60_000 };

/** Together they leave room for endpoints that answer, whatever one endpoint, one organisation or all the failing do. */
export const LANE_LIMITS: LaneLimits = {
  endpoint: 20,
  organization: 50,
  failing: 100,
  exchangeMs: RESPONSE_TIMEOUT_MS,
};

interface Dependencies {
  orm: MikroORM;
  webhookClient: WebhookClient;
  sealedSecrets: SealedSecrets;
  logger: Pick<Logger, 'info' | 'warn'>;
  limits?: LaneLimits;
  clock?: () => Date;
  /** From 0 to 1. */
  random?: () => number;
}

export function createDeliveryActivities({
  orm,
  webhookClient,
  sealedSecrets,
  logger,
  limits = LANE_LIMITS,
  clock = () => new Date(),
  random = Math.random,
}: Dependencies): DeliveryActivities & DeliveryEndActivities {
  const lanes = createEndpointLanes(limits, clock);
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
      if (delivery === null) return leftOut('stop', 'the endpoint was deleted');
      if (delivery.status !== 'pending') {
        const outcome = OUTCOMES[delivery.status];
        // By this very attempt, made by a worker that was lost before it could report.
        if (await isAttemptRecorded(em, deliveryId, attempt)) return { outcome, retryAfterMs: null, isSent: true };
        return leftOut(outcome, 'the delivery had ended before');
      }
      if (delivery.workflowStartedAt === null) await markDeliveryStarted(em, deliveryId);

      const { event, webhookEndpoint } = delivery;
      if (webhookEndpoint.status === 'disabled' || !isOwnMode(event, webhookEndpoint)) {
        await endDelivery(em, deliveryId, 'failed', clock());
        logger.info({ deliveryId, webhookEndpointId: webhookEndpoint.id }, 'webhook delivery ended without an attempt');
        return leftOut(
          'stop',
          isOwnMode(event, webhookEndpoint) ? 'the endpoint is disabled' : 'the endpoint is of another mode',
        );
      }
      // A worker that was lost after its commit couldn't report; the receiver has had this attempt.
      if (await isAttemptRecorded(em, deliveryId, attempt))
        return { outcome: 'retry', retryAfterMs: null, isSent: true };

      const place = enterLane(lanes, webhookEndpoint, input, clock());
      if (place.kind !== 'admitted') return waitOrLeaveOut(em, input, place);
      let exchange: Awaited<ReturnType<typeof send>> | undefined;
      try {
        exchange = await send(event, webhookEndpoint);
        const { retryAfterMs, ...outcome } = exchange;
        const consequence = await recordAttempt(em, {
          ...outcome,
          deliveryId,
          webhookEndpointId: webhookEndpoint.id,
          attempt,
          lastAttempt,
          gone: statusDisables(outcome.statusCode),
          disabledWhenFailingSince: disabledWhenFailingSince(outcome.endedAt),
          nextAttemptAt: nextAttemptAt(input, outcome.endedAt, retryAfterMs),
        });
        const { statusCode, error, durationMs } = outcome;
        const facts = { deliveryId, eventId: event.id, webhookEndpointId: webhookEndpoint.id, attempt };
        logger.info({ ...facts, statusCode, error, durationMs }, 'webhook delivery attempted');
        if (consequence?.endpointDisabled) logger.warn(facts, 'webhook endpoint disabled');
        const reason = error === null ? `HTTP ${statusCode}` : error;
        return { outcome: OUTCOMES[consequence?.deliveryStatus ?? 'pending'], retryAfterMs, isSent: true, reason };
      } finally {
        // After the record, so that whoever comes next sees the endpoint's health as this attempt left it.
        place.leave(exchange ? { delivered: exchange.error === null, durationMs: exchange.durationMs } : null);
      }
    },

    async giveUpDelivery({ deliveryId }) {
      await endDelivery(orm.em.fork(), deliveryId, 'failed', clock());
      logger.info({ deliveryId }, 'webhook delivery given up: its workflow was cancelled');
    },
  };

  /** No place is free: the attempt waits for its turn, or is left out when that would take longer than its rung. */
  async function waitOrLeaveOut(
    em: EntityManager,
    input: DeliveryAttemptInput,
    place: Exclude<LanePlace, { kind: 'admitted' }>,
  ): Promise<DeliveryAttempt> {
    const now = clock();
    const { deliveryId, attempt, lastAttempt } = input;
    if (place.kind === 'waits') {
      await recordNextAttempt(em, deliveryId, new Date(now.getTime() + place.turnInMs));
      return { outcome: 'wait', retryAfterMs: place.turnInMs, isSent: false };
    }
    logger.info({ deliveryId, attempt }, 'webhook delivery attempt left out: the endpoint has no place in time');
    if (lastAttempt) {
      await recordLeftOut(em, { deliveryId, attempt, now });
      return leftOut('stop', NO_PLACE);
    }
    // Not before others had their turns, and not all together.
    const retryAfterMs = Math.round(patienceOf(input, now) * (1 + random()));
    await recordNextAttempt(em, deliveryId, nextAttemptAt(input, now, retryAfterMs));
    return leftOut('retry', NO_PLACE, retryAfterMs);
  }

  /** Makes the attempt. A receiver that fails is a result, not an error: only the service's own trouble throws. */
  async function send(event: Event, webhookEndpoint: WebhookEndpoint) {
    const attemptedAt = clock();
    const secrets = activeSecrets(webhookEndpoint, sealedSecrets, attemptedAt);
    const beganMs = performance.now();
    const outcome = await webhookClient
      .post({ url: webhookEndpoint.url, headers: headersOf(event, secrets, attemptedAt), body: event.payload })
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

const NO_PLACE = 'too many other deliveries were waiting for this endpoint';

function leftOut(
  outcome: DeliveryAttempt['outcome'],
  reason: string,
  retryAfterMs: number | null = null,
): DeliveryAttempt {
  return { outcome, retryAfterMs, isSent: false, reason };
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

function enterLane(lanes: EndpointLanes, endpoint: WebhookEndpoint, input: DeliveryAttemptInput, now: Date) {
  return lanes.enter({
    webhookEndpointId: endpoint.id,
    organizationId: endpoint.organizationId,
    isFailing: endpoint.consecutiveFailures > 0,
    hasWaited: input.hasWaited,
    patienceMs: patienceOf(input, now),
  });
}

function patienceOf(input: DeliveryAttemptInput, now: Date): number {
  // No other comes after the last.
  if (input.lastAttempt) return PATIENCE_MS.longest;
  const untilNextMs = nextAttemptAt(input, now, null).getTime() - now.getTime();
  return Math.min(Math.max(untilNextMs, PATIENCE_MS.shortest), PATIENCE_MS.longest);
}

/** When the workflow will try again, by this worker's clock. */
function nextAttemptAt({ schedule, attempt }: DeliveryAttemptInput, now: Date, retryAfterMs: number | null): Date {
  const plan = planNextAttempt({ ...schedule, attemptsMade: attempt, nowMs: now.getTime(), retryAfterMs });
  return new Date(plan.dueAtMs);
}

function headersOf(event: Event, secrets: string[], now: Date): Record<string, string> {
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
