/** Jobs whose workflow a crash or an outage of Temporal kept from starting. */
import { type EntityManager, query } from '../platform/database/orm.ts';

/** Most jobs that one process claims at a time. */
export const CLAIM_BATCH = 100;
/** Longer than a process takes to start a batch. When the process dies, others claim its jobs after it. */
const CLAIM_SECONDS = 60;
const ERROR_LENGTH = 500;

export interface StrandedJob {
  id: string;
  organizationId: string;
  livemode: boolean;
  endpoint: string;
  expiryMs: number;
}

/**
 * Claims open jobs that may have no workflow: its start is unknown some time after admission, or the job is past its due
 * time. Skips jobs that another process has claimed, and jobs set aside until later.
 */
export async function claimStrandedJobs(em: EntityManager, admittedBefore: Date): Promise<StrandedJob[]> {
  return query<StrandedJob>(
    em,
    `update jobs set start_after = now() + $2 * interval '1 second'
     from (
       select id from jobs
       where completed_at is null and (due_at < now() or (workflow_started_at is null and created_at < $1))
         and (start_after is null or start_after <= now())
       order by id limit $3 for update skip locked
     ) as stranded
     where jobs.id = stranded.id
     returning jobs.id, organization_id as "organizationId", livemode, endpoint, expiry_ms as "expiryMs"`,
    [admittedBefore, CLAIM_SECONDS, CLAIM_BATCH],
  );
}

/** Gives claimed jobs back, to be claimed again at once. */
export async function releaseStrandedJobs(em: EntityManager, jobIds: readonly string[]): Promise<void> {
  await query(em, 'update jobs set start_after = null where id = any ($1) and completed_at is null', [jobIds]);
}

/**
 * Sets a job aside whose workflow cannot be started, with the reason for the operator. It is tried again after as long as
 * it is old, within one minute and one hour.
 */
export async function setJobAside(em: EntityManager, jobId: string, reason: string): Promise<void> {
  await query(
    em,
    `update jobs set
       start_error = $2,
       start_after = now() + least(greatest(now() - created_at, interval '1 minute'), interval '1 hour')
     where id = $1 and completed_at is null`,
    [jobId, reason.slice(0, ERROR_LENGTH)],
  );
}

/** Records that the job's workflow runs. A job that stays open is rechecked after one minute. */
export async function markWorkflowStarted(em: EntityManager, jobId: string): Promise<void> {
  await query(
    em,
    `update jobs set
       workflow_started_at = coalesce(workflow_started_at, now()),
       due_at = greatest(due_at, now() + interval '1 minute'),
       start_after = null,
       start_error = null
     where id = $1 and completed_at is null`,
    [jobId],
  );
}
