import { type EntityManager, query } from '../platform/database/orm.ts';

export interface PickUp {
  /** Whether an earlier attempt left its outcome and was lost before it could report. */
  isOutcomePending: boolean;
}

/**
 * Marks a job as picked up. Returns null when cancellation or expiry came first. A second attempt on another worker
 * keeps `started_at` and records the model that now runs.
 */
export async function pickUpJob(
  em: EntityManager,
  jobId: string,
  modelVersion: string,
  now: Date,
): Promise<PickUp | null> {
  const [row] = await query<PickUp>(
    em,
    `update jobs set
       status = 'processing',
       started_at = coalesce(started_at, $3),
       model_version = $2,
       workflow_started_at = coalesce(workflow_started_at, $3)
     where id = $1 and status in ('queued', 'processing')
     returning exists (select from inference_outcomes where job_id = $1) as "isOutcomePending"`,
    [jobId, modelVersion, now],
  );
  return row ?? null;
}
