/** Records of attempts: attempt, delivery status and endpoint health change in one transaction. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import { type DeliveryStatus, NO_SLOT_REASON } from './attempt-rules.ts';
import { recordNextAttempt } from './outbox-store.ts';

export interface AttemptRecord {
  deliveryId: string;
  webhookEndpointId: string;
  attempt: number;
  attemptedAt: Date;
  endedAt: Date;
  durationMs: number;
  /** The receiver's HTTP status; null when no response arrived. */
  statusCode: number | null;
  /** Null for a success. */
  error: string | null;
  /** The failure of the last attempt ends the delivery. */
  lastAttempt: boolean;
  /** The receiver responded `410 Gone`. */
  gone: boolean;
  /** An endpoint failing since then or earlier is disabled. */
  disabledWhenFailingSince: Date;
  /** When the next attempt is due if this one failed and was not the last. */
  nextAttemptAt: Date;
}

export interface AttemptConsequence {
  deliveryStatus: DeliveryStatus;
  /** Whether this attempt disabled the endpoint. True for one of several concurrent failures. */
  endpointDisabled: boolean;
}

/** Records an attempt. Returns null and changes nothing when it is already recorded. */
export function recordAttempt(em: EntityManager, record: AttemptRecord): Promise<AttemptConsequence | null> {
  return em.transactional(async (transaction) => {
    const inserted = await query(
      transaction,
      `insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code, error)
       values ($1, $2, $3, $4, $5, $6)
       on conflict do nothing
       returning attempt`,
      [record.deliveryId, record.attempt, record.attemptedAt, record.durationMs, record.statusCode, record.error],
    );
    if (inserted.length === 0) return null;

    if (record.error === null) {
      await recordSuccess(transaction, record);
      await endDelivery(transaction, record.deliveryId, 'delivered', record.endedAt);
      return { deliveryStatus: 'delivered', endpointDisabled: false };
    }
    const { wasDisabled, isDisabled } = await recordFailure(transaction, record);
    const endpointDisabled = isDisabled && !wasDisabled;
    if (!record.lastAttempt && !isDisabled) {
      await recordNextAttempt(transaction, record.deliveryId, record.nextAttemptAt);
      return { deliveryStatus: 'pending', endpointDisabled };
    }
    await endDelivery(transaction, record.deliveryId, 'failed', record.endedAt);
    if (endpointDisabled) await endPendingDeliveries(transaction, record.webhookEndpointId, record.endedAt);
    return { deliveryStatus: 'failed', endpointDisabled };
  });
}

async function recordSuccess(em: EntityManager, { webhookEndpointId, endedAt }: AttemptRecord): Promise<void> {
  await query(
    em,
    `update webhook_endpoints set consecutive_failures = 0, failing_since = null, last_success_at = $2 where id = $1`,
    [webhookEndpointId, endedAt],
  );
}

async function recordFailure(em: EntityManager, record: AttemptRecord) {
  const [endpoint] = await query<{ wasDisabled: boolean; isDisabled: boolean }>(
    em,
    `with before as (select id, status from webhook_endpoints where id = $1 for no key update)
     update webhook_endpoints set
       consecutive_failures = consecutive_failures + 1,
       failing_since = coalesce(failing_since, $2),
       last_error = $3,
       status = case when $4 or coalesce(failing_since, $2) <= $5 then 'disabled' else webhook_endpoints.status end
     from before
     where webhook_endpoints.id = before.id
     returning before.status = 'disabled' as "wasDisabled", webhook_endpoints.status = 'disabled' as "isDisabled"`,
    [record.webhookEndpointId, record.attemptedAt, record.error, record.gone, record.disabledWhenFailingSince],
  );
  // Deleted in the meantime.
  return endpoint ?? { wasDisabled: true, isDisabled: true };
}

/** Ends a delivery whose last attempt got no slot in time. The endpoint's health stays: it received nothing. */
export function recordSkippedLastAttempt(
  em: EntityManager,
  { deliveryId, attempt, now }: { deliveryId: string; attempt: number; now: Date },
): Promise<void> {
  return em.transactional(async (transaction) => {
    await query(
      transaction,
      `insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code, error)
       values ($1, $2, $3, 0, null, $4)
       on conflict do nothing`,
      [deliveryId, attempt, now, `not sent: ${NO_SLOT_REASON}`],
    );
    await endDelivery(transaction, deliveryId, 'failed', now);
  });
}

/** Deliveries that end with their endpoint, in one statement; a day of failures may leave hundreds of thousands. */
const BATCH = 10_000;

/**
 * Ends pending deliveries of an endpoint that is being disabled, so that they can be replayed at once. Any beyond the batch end
 * at their next attempt, where the workflows of the others end too. The endpoint's row must be locked.
 */
export async function endPendingDeliveries(em: EntityManager, webhookEndpointId: string, now: Date): Promise<void> {
  await query(
    em,
    `update webhook_deliveries set status = 'failed', completed_at = $2, next_attempt_at = null
     where id in (
       select id from webhook_deliveries where webhook_endpoint_id = $1 and status = 'pending' order by id limit $3
     ) and status = 'pending'`,
    [webhookEndpointId, now, BATCH],
  );
}

/**
 * Ends a pending delivery; one that has ended stays unchanged, unless an attempt that was in flight when its endpoint was
 * disabled has delivered it.
 */
export async function endDelivery(
  em: EntityManager,
  deliveryId: string,
  status: Exclude<DeliveryStatus, 'pending'>,
  now: Date,
): Promise<void> {
  await query(
    em,
    `update webhook_deliveries set status = $2, completed_at = $3, next_attempt_at = null
     where id = $1 and (status = 'pending' or $2 = 'delivered')`,
    [deliveryId, status, now],
  );
}

/** Whether an earlier worker recorded this attempt and was lost before it could report. */
export async function isAttemptRecorded(em: EntityManager, deliveryId: string, attempt: number): Promise<boolean> {
  const rows = await query(em, 'select from webhook_attempts where delivery_id = $1 and attempt = $2', [
    deliveryId,
    attempt,
  ]);
  return rows.length > 0;
}
