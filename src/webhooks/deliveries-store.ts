/** Deliveries as customers read and replay them. `delivery-records-store.ts` holds the worker's records. */
import { Event } from '../jobs/entities.ts';
import { inBatches } from '../platform/database/in-batches.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import { WebhookDelivery, type WebhookEndpoint } from './entities.ts';

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

/** Deliveries with their events and attempts, in the given order. */
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

/**
 * Creates a test event and its delivery, and returns the delivery's id; null when the endpoint was deleted meanwhile. No
 * sweeper starts it: the caller does.
 */
export async function createTestDelivery(
  em: EntityManager,
  endpoint: WebhookEndpoint,
  event: { id: string; payload: string; createdAt: Date },
): Promise<string | null> {
  const { organizationId, livemode, isStaging } = endpoint;
  const deliveryId = newId('webhookDelivery');
  return em.transactional(async (transaction) => {
    // The lock of a foreign key: it waits for a deletion, and for nothing else.
    const locked = await query(transaction, 'select id from webhook_endpoints where id = $1 for key share', [
      endpoint.id,
    ]);
    if (locked.length === 0) return null;
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
    return deliveryId;
  });
}

/** Ends a delivery whose workflow could not be started. */
export async function abandonDelivery(em: EntityManager, deliveryId: string, now: Date): Promise<void> {
  await em.nativeUpdate(
    WebhookDelivery,
    { id: deliveryId, status: 'pending' },
    { status: 'failed', completedAt: now, nextAttemptAt: null },
  );
}

/** Creates a new delivery of the same event, with its own attempts. */
export function replayDelivery(em: EntityManager, delivery: WebhookDelivery, now: Date): WebhookDelivery {
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
 * Replays the failed deliveries since a time, oldest events first: one for each event without a delivered or pending
 * delivery to the endpoint. Returns the ids of the replays, which are not started yet, and whether there are more.
 */
export async function replayFailedDeliveries(
  em: EntityManager,
  { webhookEndpointId, since, limit }: { webhookEndpointId: string; since: Date; limit: number },
): Promise<{ ids: string[]; hasMore: boolean }> {
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
  const replayed = failed.slice(0, limit);
  const ids = replayed.map(() => newId('webhookDelivery'));
  await query(
    em,
    `insert into webhook_deliveries (id, event_id, webhook_endpoint_id, replay_of)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])`,
    [ids, replayed.map(({ eventId }) => eventId), replayed.map(() => webhookEndpointId), replayed.map(({ id }) => id)],
  );
  return { ids, hasMore: failed.length > limit };
}

/** Deliveries deleted in one statement, with their attempts. */
const BATCH = 10_000;

/** Deletes deliveries of an endpoint that is about to be deleted: all of them in one statement could take too long for it. */
export async function deleteDeliveries(em: EntityManager, webhookEndpointId: string): Promise<void> {
  await inBatches(async () => {
    const deleted = await query(
      em,
      `delete from webhook_deliveries where id in (
         select id from webhook_deliveries where webhook_endpoint_id = $1 order by id limit $2
       ) returning 1`,
      [webhookEndpointId, BATCH],
    );
    return { rows: deleted.length, hasMore: deleted.length === BATCH };
  });
}
