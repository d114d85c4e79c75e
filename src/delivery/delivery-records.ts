/** What an attempt leaves behind: its record, the delivery's status and the endpoint's health, in one transaction. */
import { type EntityManager, query } from '../db/orm.ts';

export interface AttemptRecord {
  deliveryId: string;
  webhookEndpointId: string;
  attempt: number;
  attemptedAt: Date;
  endedAt: Date;
  durationMs: number;
  /** The receiver's HTTP status; null when no answer came. */
  statusCode: number | null;
  /** What went wrong; null for a success. */
  error: string | null;
  /** The last of the delivery: its failure ends the delivery. */
  lastAttempt: boolean;
  /** The receiver said that the endpoint is no more. */
  gone: boolean;
  /** A failing endpoint that has failed since then, or longer, is disabled. */
  disabledWhenFailingSince: Date;
  /** When the next attempt is made, should this one have failed and not be the last. */
  nextAttemptAt: Date;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export interface AttemptConsequence {
  deliveryStatus: DeliveryStatus;
  /** Whether this attempt disabled the endpoint: of those that fail together, one does. */
  endpointDisabled: boolean;
}

/** Records an attempt. Answers null, and changes nothing, when it is recorded already. */
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
  // Deleted in the meantime: nothing is left to disable, and nothing to deliver to.
  return endpoint ?? { wasDisabled: true, isDisabled: true };
}

/** What customers are told of a pending delivery; when it is really made is the workflow's affair. */
export async function recordNextAttempt(em: EntityManager, deliveryId: string, nextAttemptAt: Date): Promise<void> {
  await query(em, `update webhook_deliveries set next_attempt_at = $2 where id = $1 and status = 'pending'`, [
    deliveryId,
    nextAttemptAt,
  ]);
}

/** Ends a delivery whose last attempt had no turn in time. Says nothing about the endpoint, which was not asked. */
export function recordLeftOut(
  em: EntityManager,
  { deliveryId, attempt, now }: { deliveryId: string; attempt: number; now: Date },
): Promise<void> {
  return em.transactional(async (transaction) => {
    await query(
      transaction,
      `insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code, error)
       values ($1, $2, $3, 0, null, $4)
       on conflict do nothing`,
      [deliveryId, attempt, now, 'not sent: too many other deliveries were waiting for this endpoint'],
    );
    await endDelivery(transaction, deliveryId, 'failed', now);
  });
}

/** Ends a delivery that has not ended yet. */
export async function endDelivery(
  em: EntityManager,
  deliveryId: string,
  status: Exclude<DeliveryStatus, 'pending'>,
  now: Date,
): Promise<void> {
  await query(
    em,
    `update webhook_deliveries set status = $2, completed_at = $3, next_attempt_at = null
     where id = $1 and status = 'pending'`,
    [deliveryId, status, now],
  );
}

/** Whether this attempt was made and recorded before: by a worker that was lost before it could report. */
export async function isAttemptRecorded(em: EntityManager, deliveryId: string, attempt: number): Promise<boolean> {
  const rows = await query(em, 'select from webhook_attempts where delivery_id = $1 and attempt = $2', [
    deliveryId,
    attempt,
  ]);
  return rows.length > 0;
}
