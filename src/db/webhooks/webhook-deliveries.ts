/** Deliveries as customers look at them and repeat them. The delivery worker's own records: src/delivery. */
import { newId } from '../../domain/ids.ts';
import { Event, WebhookDelivery, type WebhookEndpoint } from '../entities.ts';
import { type EntityManager, query } from '../orm.ts';

export interface LoggedAttempt {
  attempt: number;
  /** Epoch seconds. */
  attemptedAt: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

export interface LoggedDelivery {
  delivery: WebhookDelivery;
  event: { id: string; type: string; isTest: boolean };
  attempts: LoggedAttempt[];
}

/** Deliveries with what they deliver and how each attempt went, in their order. */
export async function readDeliveryLog(
  em: EntityManager,
  deliveries: readonly WebhookDelivery[],
): Promise<LoggedDelivery[]> {
  const events = await query<LoggedDelivery['event']>(
    em,
    'select id, type, is_test as "isTest" from events where id = any($1::text[])',
    [deliveries.map(({ event }) => event.id)],
  );
  const attempts = await query<LoggedAttempt & { deliveryId: string }>(
    em,
    `select delivery_id as "deliveryId", attempt, floor(extract(epoch from attempted_at))::float8 as "attemptedAt",
       duration_ms as "durationMs", status_code as "statusCode", error
     from webhook_attempts where delivery_id = any($1::text[]) order by delivery_id, attempt`,
    [deliveries.map(({ id }) => id)],
  );
  const eventById = new Map(events.map((event) => [event.id, event]));
  const attemptsOf = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return deliveries.flatMap((delivery) => {
    const event = eventById.get(delivery.event.id);
    return event ? [{ delivery, event, attempts: attemptsOf.get(delivery.id) ?? [] }] : [];
  });
}

/** A test event and its one delivery, which no sweeper starts: somebody waits for it. */
export async function createTestDelivery(
  em: EntityManager,
  endpoint: WebhookEndpoint,
  event: { id: string; payload: string; createdAt: Date },
): Promise<string> {
  const { organizationId, livemode, isStaging } = endpoint;
  const deliveryId = newId('webhookDelivery');
  await em.transactional(async (transaction) => {
    transaction.create(Event, {
      ...event,
      organizationId,
      livemode,
      isStaging,
      type: 'job.succeeded',
      jobId: null,
      isTest: true,
    });
    await transaction.flush();
    transaction.create(WebhookDelivery, {
      id: deliveryId,
      event: event.id,
      webhookEndpoint: endpoint.id,
      status: 'pending',
      createdAt: event.createdAt,
      completedAt: null,
      workflowStartedAt: event.createdAt,
      nextAttemptAt: null,
      replayOf: null,
    });
  });
  return deliveryId;
}

/** Ends a delivery that could not be begun. */
export async function abandonDelivery(em: EntityManager, deliveryId: string, now: Date): Promise<void> {
  await em.nativeUpdate(
    WebhookDelivery,
    { id: deliveryId, status: 'pending' },
    { status: 'failed', completedAt: now, nextAttemptAt: null },
  );
}

/** Delivers an event once more: a delivery of its own, with attempts of its own. Answers it. */
export function repeatDelivery(em: EntityManager, delivery: WebhookDelivery, now: Date): WebhookDelivery {
  return em.create(WebhookDelivery, {
    id: newId('webhookDelivery'),
    event: delivery.event.id,
    webhookEndpoint: delivery.webhookEndpoint.id,
    status: 'pending',
    createdAt: now,
    completedAt: null,
    workflowStartedAt: null,
    nextAttemptAt: null,
    replayOf: delivery.id,
  });
}

/**
 * Repeats the failed deliveries since a time, the oldest events first: one for each event that has reached the endpoint
 * by no other delivery, and has none under way. Answers how many, and whether there are more. The sweeper starts them.
 */
export async function repeatFailedDeliveries(
  em: EntityManager,
  { webhookEndpointId, since, limit }: { webhookEndpointId: string; since: Date; limit: number },
): Promise<{ repeated: number; hasMore: boolean }> {
  const failed = await query<{ id: string; eventId: string }>(
    em,
    `select distinct on (failed.event_id) failed.id, failed.event_id as "eventId"
     from webhook_deliveries as failed join events on events.id = failed.event_id
     where failed.webhook_endpoint_id = $1 and failed.status = 'failed' and failed.created_at >= $2
       and not events.is_test
       and not exists (
         select from webhook_deliveries as other
         where other.event_id = failed.event_id and other.webhook_endpoint_id = $1
           and other.status in ('pending', 'delivered')
       )
     order by failed.event_id, failed.id desc
     limit $3`,
    [webhookEndpointId, since, limit + 1],
  );
  const repeated = failed.slice(0, limit);
  await query(
    em,
    `insert into webhook_deliveries (id, event_id, webhook_endpoint_id, replay_of)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])`,
    [
      repeated.map(() => newId('webhookDelivery')),
      repeated.map(({ eventId }) => eventId),
      repeated.map(() => webhookEndpointId),
      repeated.map(({ id }) => id),
    ],
  );
  return { repeated: repeated.length, hasMore: failed.length > limit };
}
