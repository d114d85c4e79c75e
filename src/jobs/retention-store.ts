/** Deletes data past its retention, one batch at a time. Data of open jobs is never touched. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import { firstIdAt } from '../platform/ids.ts';

const BATCH = 500;

export interface Forgotten {
  rows: number;
  /** Whether there may be more; call again. */
  hasMore: boolean;
}

/** Deletes events from before a time, with their deliveries and attempts, unless a delivery is pending. */
export async function deleteOldEvents(em: EntityManager, before: Date): Promise<Forgotten> {
  // An event's id is at most as late as the event: the oldest events come first in the primary key.
  const rows = await query(
    em,
    `with old as (
       select id from events
       where id < $1 and created_at < $2 and not exists (
         select from webhook_deliveries where event_id = events.id and status = 'pending'
       )
       order by id limit $3 for update skip locked
     ), delivered as (
       delete from webhook_deliveries where event_id in (select id from old)
     )
     delete from events where id in (select id from old) returning id`,
    [firstIdAt('event', before), before, BATCH],
  );
  return { rows: rows.length, hasMore: rows.length === BATCH };
}

/** Deletes dispatches from before a time whose jobs have ended. */
export async function deleteOldDispatches(em: EntityManager, before: Date): Promise<Forgotten> {
  const rows = await query(
    em,
    `delete from remote_dispatches where id in (
       select remote_dispatches.id from remote_dispatches join jobs on jobs.id = job_id
       where remote_dispatches.id < $1 and status not in ('queued', 'processing')
       order by remote_dispatches.id limit $2 for update of remote_dispatches skip locked
     ) returning id`,
    [firstIdAt('dispatch', before), BATCH],
  );
  return { rows: rows.length, hasMore: rows.length === BATCH };
}

export interface ForgottenResults extends Forgotten {
  /** Cursor of the next batch: every job up to this one has been checked. */
  lastId: string;
}

/** Longest time from a job's admission to its end. */
const LONGEST_JOB_MS = 2 * 24 * 60 * 60_000;

/**
 * Deletes results and parameters of jobs that ended before a time, starting after `afterId`, so that no job is checked twice.
 * Jobs admitted up to two days before that time wait for the next pass. The rest of the job stays, as do its ledger entries.
 */
export async function forgetOldResults(em: EntityManager, before: Date, afterId: string): Promise<ForgottenResults> {
  const jobs = await query<{ id: string; forgotten: boolean }>(
    em,
    `with old as (
       select id, result is not null or parameters <> '{}' as is_due from jobs
       where id > $3 and id < $1 and completed_at < $2
       order by id limit $4
     ), forgotten as (
       update jobs set result = null, parameters = '{}' where id in (select id from old where is_due) returning id
     )
     select old.id, forgotten.id is not null as forgotten from old left join forgotten using (id) order by old.id`,
    [firstIdAt('job', new Date(before.getTime() - LONGEST_JOB_MS)), before, afterId, BATCH],
  );
  return {
    rows: jobs.filter(({ forgotten }) => forgotten).length,
    hasMore: jobs.length === BATCH,
    lastId: jobs.at(-1)?.id ?? afterId,
  };
}

/** Deletes uploads that a job first used before a time, unless an open job needs them. Returns the keys of their objects. */
export function deleteUsedUploads(em: EntityManager, before: Date): Promise<Forgotten & { storageKeys: string[] }> {
  return em.transactional(async (transaction) => {
    const locked = await query<{ id: string }>(
      transaction,
      `select id from uploads where id < $1 and used_at < $2 order by id limit $3 for update skip locked`,
      [firstIdAt('upload', before), before, BATCH],
    );
    // A separate statement, so that it sees a job that took an upload before the lock was acquired.
    const rows = await query<{ storage_key: string }>(
      transaction,
      `with needed as (
         select input ->> 'uploadId' as id from jobs, jsonb_array_elements(inputs) as input where completed_at is null
       )
       delete from uploads where id = any ($1) and id not in (select id from needed where id is not null)
       returning storage_key`,
      [locked.map(({ id }) => id)],
    );
    return {
      rows: rows.length,
      storageKeys: rows.map((row) => row.storage_key),
      // Needed uploads come first again, so without progress the next pass continues.
      hasMore: locked.length === BATCH && rows.length > 0,
    };
  });
}

/** Returns those of the jobs that ended before a time. */
export async function findEndedJobs(em: EntityManager, ids: readonly string[], before: Date): Promise<string[]> {
  const rows = await query<{ id: string }>(em, 'select id from jobs where id = any ($1) and completed_at < $2', [
    ids,
    before,
  ]);
  return rows.map((row) => row.id);
}
