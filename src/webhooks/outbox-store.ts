/** Pending deliveries that may have no workflow: the sweeper starts them. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { MadeAttempts } from './backoff-schedule.ts';

const BATCH = 200;
/** An attempt that is due has been recorded by then: 100 seconds with all retries, the rest for a queue of work. */
const DUE_AFTER = "interval '10 minutes'";

export interface StrandedDelivery {
  id: string;
  organizationId: string;
  livemode: boolean;
  isTest: boolean;
  /** The attempts recorded so far; null before the first. */
  made: MadeAttempts | null;
}

/**
 * Finds pending deliveries whose workflow is not known to have started although they were committed before
 * `committedBefore`, and those that are overdue at `now`: somebody may have terminated their workflow.
 */
export function findStrandedDeliveries(
  em: EntityManager,
  { committedBefore, now }: { committedBefore: Date; now: Date },
): Promise<StrandedDelivery[]> {
  return query<StrandedDelivery>(
    em,
    `select stranded.id, organization_id as "organizationId", livemode, is_test as "isTest", made
     from (
       (select id, event_id from webhook_deliveries
        where workflow_started_at is null and status = 'pending' and created_at < $1
        order by created_at limit $3)
       union
       (select id, event_id from webhook_deliveries where status = 'pending' and due_at < $2 order by due_at limit $3)
     ) as stranded
     join events on events.id = event_id
     cross join lateral (
       select case when count(*) > 0 then json_build_object(
         'latest', max(attempt),
         'sent', count(*),
         'firstAttemptAtMs', floor(extract(epoch from min(attempted_at)) * 1000)
       ) end as made
       from webhook_attempts where delivery_id = stranded.id
     ) as attempts
     order by stranded.id`,
    [committedBefore, now, BATCH],
  );
}

/** Records that a workflow of the delivery runs. If the delivery stays overdue, it is checked again later. */
export async function markDeliveryStarted(em: EntityManager, deliveryId: string): Promise<void> {
  await query(
    em,
    `update webhook_deliveries set
       workflow_started_at = coalesce(workflow_started_at, now()),
       due_at = greatest(due_at, now() + ${DUE_AFTER})
     where id = $1 and status = 'pending'`,
    [deliveryId],
  );
}

/** Sets `next_attempt_at`, which customers read, and when the delivery is checked. The workflow's own timer decides. */
export async function recordNextAttempt(em: EntityManager, deliveryId: string, nextAttemptAt: Date): Promise<void> {
  await query(
    em,
    `update webhook_deliveries set next_attempt_at = $2, due_at = $2::timestamptz + ${DUE_AFTER}
     where id = $1 and status = 'pending'`,
    [deliveryId, nextAttemptAt],
  );
}
