/** The small writes between admission and settlement. */
import type { InferenceOutcome } from '../../contracts/job.ts';
import { type EntityManager, query } from '../orm.ts';

export interface PickUp {
  /** Whether an earlier attempt has left its outcome, and was lost before it could report. */
  isOutcomeStaged: boolean;
}

/**
 * Marks a job as picked up. Answers null when cancellation or expiry came first. A second attempt on another worker
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
     returning exists (select from inference_outcomes where job_id = $1) as "isOutcomeStaged"`,
    [jobId, modelVersion, now],
  );
  return row ?? null;
}

/** Leaves the outcome for the settlement. The first one stays: another attempt may have come here before. */
export async function stageOutcome(em: EntityManager, jobId: string, outcome: InferenceOutcome): Promise<void> {
  await query(
    em,
    `insert into inference_outcomes (job_id, outcome)
     select id, $2 from jobs where id = $1 and status in ('queued', 'processing')
     on conflict do nothing`,
    [jobId, JSON.stringify(outcome)],
  );
}
