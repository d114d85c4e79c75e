/** Dispatches: attempts of inferences that other clusters run. */
import type { Artefact } from '../artefacts/artefact-resource.ts';
import type { InferenceOutcome, JobInput } from '../contracts/job.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

export interface NewDispatch {
  id: string;
  jobId: string;
  attempt: number;
  /** Identifies the activity attempt that waits for it. */
  taskToken: Uint8Array;
}

/**
 * Records a dispatch before it is sent, and supersedes the earlier ones. Returns null when there is nothing to dispatch: the
 * job has an outcome, or has ended.
 */
export async function beginDispatch(
  em: EntityManager,
  { id, jobId, attempt, taskToken }: NewDispatch,
): Promise<{ supersededIds: string[] } | null> {
  // A separate, earlier statement: the next one then sees an outcome that arrived in time.
  const supersededIds = await supersedeDispatches(em, jobId);
  const rows = await query(
    em,
    `insert into remote_dispatches (id, job_id, attempt, task_token)
     select $1, id, $3, $4 from jobs
     where id = $2 and status in ('queued', 'processing')
       and not exists (select from inference_outcomes where job_id = $2)
     returning id`,
    [id, jobId, attempt, taskToken],
  );
  return rows.length > 0 ? { supersededIds } : null;
}

/** Refuses their further callbacks. Returns the ids of those that were running. */
export async function supersedeDispatches(em: EntityManager, jobId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `update remote_dispatches set superseded_at = now()
     where job_id = $1 and superseded_at is null and ended_at is null
     returning id`,
    [jobId],
  );
  return rows.map(({ id }) => id);
}

export type DispatchEnd = 'completed' | 'failed';

export interface Dispatch {
  id: string;
  jobId: string;
  taskToken: Uint8Array;
  artefacts: Artefact[];
  /** How the cluster ended it; null while it runs. */
  endedAs: DispatchEnd | null;
  /** Whether another attempt superseded it, or its job has ended. */
  isOver: boolean;
  endpoint: string;
  requestId: string;
  inputs: JobInput[];
  reservedCredits: number;
}

/** Reads a dispatch by its id alone, for the holder of its token; null when there is none. */
export async function readDispatch(em: EntityManager, id: string): Promise<Dispatch | null> {
  const [row] = await query<Omit<Dispatch, 'reservedCredits'> & { reservedCredits: string }>(
    em,
    `select remote_dispatches.id, job_id as "jobId", task_token as "taskToken", artefacts, ended_as as "endedAs",
       superseded_at is not null or status not in ('queued', 'processing') as "isOver",
       endpoint, request_id as "requestId", inputs, reserved_credits as "reservedCredits"
     from remote_dispatches join jobs on jobs.id = job_id
     where remote_dispatches.id = $1`,
    [id],
  );
  return row ? { ...row, reservedCredits: Number(row.reservedCredits) } : null;
}

/** Most files of one result. */
export const ARTEFACTS_PER_DISPATCH = 1_000;

/** Adds an artefact. Returns false when the dispatch is over or has too many. */
export async function addArtefact(em: EntityManager, id: string, artefact: Artefact): Promise<boolean> {
  const rows = await query(
    em,
    `update remote_dispatches set artefacts = artefacts || $2::json
     where id = $1 and superseded_at is null and ended_at is null and cardinality(artefacts) < $3
     returning id`,
    [id, JSON.stringify(artefact), ARTEFACTS_PER_DISPATCH],
  );
  return rows.length > 0;
}

/**
 * Ends a dispatch and leaves its job's outcome for the settlement, in one statement. The first outcome of a job stays.
 * `outcome` is null when another attempt follows. Returns false when the dispatch is already over.
 */
export async function endDispatch(
  em: EntityManager,
  { id, as, outcome }: { id: string; as: DispatchEnd; outcome: InferenceOutcome | null },
): Promise<boolean> {
  const [row] = await query<{ isEnded: boolean }>(
    em,
    // Locked as in savePendingOutcome.
    `with open as (
       select id from jobs
       where id = (select job_id from remote_dispatches where id = $1) and status in ('queued', 'processing') for share
     ), ended as (
       update remote_dispatches set ended_as = $2, ended_at = now()
       where id = $1 and superseded_at is null and ended_at is null and job_id in (select id from open)
       returning job_id
     ), left_outcome as (
       insert into inference_outcomes (job_id, outcome)
       select job_id, $3::json from ended where $3::json is not null
       on conflict do nothing
     )
     select exists (select from ended) as "isEnded"`,
    [id, as, outcome && JSON.stringify(outcome)],
  );
  return row?.isEnded ?? false;
}
