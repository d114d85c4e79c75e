/** What is forgotten once its time is over. Each takes one batch, and nothing of a job that has not ended. */
import { firstIdAt } from '../domain/ids.ts';
import { type EntityManager, query } from './orm.ts';

const BATCH = 500;

export interface Forgotten {
  rows: number;
  /** Whether there may be more: ask again. */
  hasMore: boolean;
}

/** Events from before a time, with their deliveries and attempts; none that is still being delivered. */
export async function deleteOldEvents(em: EntityManager, before: Date): Promise<Forgotten> {
  // Ids sort by time: the oldest events are the first of the primary key.
  const rows = await query(
    em,
    `with old as (
       select id from events
       where id < $1 and not exists (
         select from webhook_deliveries where event_id = events.id and status = 'pending'
       )
       order by id limit $2 for update skip locked
     ), delivered as (
       delete from webhook_deliveries where event_id in (select id from old)
     )
     delete from events where id in (select id from old) returning id`,
    [firstIdAt('event', before), BATCH],
  );
  return { rows: rows.length, hasMore: rows.length === BATCH };
}

/** Dispatches to other clusters from before a time, of jobs that have ended. */
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
  /** Where to go on: all jobs up to this one have been looked at. */
  lastId: string;
}

/** No job takes longer from its admission to its end. */
const LONGEST_JOB_MS = 2 * 24 * 60 * 60_000;

/**
 * Results and parameters of jobs that ended before a time, or up to two days before it, from the job after `afterId` on:
 * no job is looked at twice. The rest of the job stays, and so does what the ledger says of it.
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

/** Uploads that a job first used before a time, unless an open job still needs them. Answers the keys of their objects. */
export function deleteUsedUploads(em: EntityManager, before: Date): Promise<Forgotten & { storageKeys: string[] }> {
  return em.transactional(async (transaction) => {
    const locked = await query<{ id: string }>(
      transaction,
      `select id from uploads where id < $1 and used_at < $2 order by id limit $3 for update skip locked`,
      [firstIdAt('upload', before), before, BATCH],
    );
    // A statement of its own, for what was committed before the lock was had: a job that took an upload since then.
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
      // What is still needed comes first again: without progress the next pass goes on.
      hasMore: locked.length === BATCH && rows.length > 0,
    };
  });
}

/** Of these jobs, those that ended before a time. */
export async function findEndedJobs(em: EntityManager, ids: readonly string[], before: Date): Promise<string[]> {
  const rows = await query<{ id: string }>(em, 'select id from jobs where id = any ($1) and completed_at < $2', [
    ids,
    before,
  ]);
  return rows.map((row) => row.id);
}
