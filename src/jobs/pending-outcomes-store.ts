/** Outcomes that an inference has left for the settlement. */
import type { InferenceOutcome } from '../contracts/job.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

/**
 * Leaves the outcome for the settlement. The first one stays: an earlier attempt may have left its own. It waits for a settlement that
 * is about to commit, which deletes outcomes: one that is left behind it would stay for ever.
 */
export async function savePendingOutcome(em: EntityManager, jobId: string, outcome: InferenceOutcome): Promise<void> {
  await query(
    em,
    `insert into inference_outcomes (job_id, outcome)
     select id, $2 from jobs where id = $1 and status in ('queued', 'processing') for share
     on conflict do nothing`,
    [jobId, JSON.stringify(outcome)],
  );
}
