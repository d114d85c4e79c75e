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
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export interface AttemptConsequence {
  deliveryStatus: DeliveryStatus;
  /** Whether a failure met or made a disabled endpoint. */
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
    const endpointDisabled = await recordFailure(transaction, record);
    if (!record.lastAttempt && !endpointDisabled) return { deliveryStatus: 'pending', endpointDisabled };
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

/** Answers whether the endpoint is disabled now. */
async function recordFailure(em: EntityManager, record: AttemptRecord): Promise<boolean> {
  const [endpoint] = await query<{ disabled: boolean }>(
    em,
    `update webhook_endpoints set
       consecutive_failures = consecutive_failures + 1,
       failing_since = coalesce(failing_since, $2),
       last_error = $3,
       status = case when $4 or coalesce(failing_since, $2) <= $5 then 'disabled' else status end
     where id = $1
     returning status = 'disabled' as disabled`,
    [record.webhookEndpointId, record.attemptedAt, record.error, record.gone, record.disabledWhenFailingSince],
  );
  return endpoint?.disabled ?? true;
}

/** Ends a delivery that has not ended yet. */
export async function endDelivery(
  em: EntityManager,
  deliveryId: string,
  status: Exclude<DeliveryStatus, 'pending'>,
  now: Date,
): Promise<void> {
  await query(em, `update webhook_deliveries set status = $2, completed_at = $3 where id = $1 and status = 'pending'`, [
    deliveryId,
    status,
    now,
  ]);
}

/** Whether this attempt was made and recorded before: by a worker that was lost before it could report. */
export async function isAttemptRecorded(em: EntityManager, deliveryId: string, attempt: number): Promise<boolean> {
  const rows = await query(em, 'select from webhook_attempts where delivery_id = $1 and attempt = $2', [
    deliveryId,
    attempt,
  ]);
  return rows.length > 0;
}
