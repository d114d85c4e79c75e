/** What a crash or an absence of Temporal left behind, for the sweeper. */
import { type EntityManager, query } from '../orm.ts';

const BATCH = 200;

export interface StrandedJob {
  id: string;
  organizationId: string;
  livemode: boolean;
  endpoint: string;
  expiryMs: number;
}

/** Open jobs whose workflow may not run: not known to have started some time after admission, or open past their bound. */
export async function findStrandedJobs(em: EntityManager, admittedBefore: Date): Promise<StrandedJob[]> {
  return query<StrandedJob>(
    em,
    `select id, organization_id as "organizationId", livemode, endpoint, expiry_ms as "expiryMs" from jobs
     where completed_at is null and (due_at < now() or (workflow_started_at is null and created_at < $1))
     order by id limit $2`,
    [admittedBefore, BATCH],
  );
}

/** Records that a workflow runs for the job. If the job stays open all the same, it is looked at again a minute on. */
export async function markWorkflowStarted(em: EntityManager, jobId: string): Promise<void> {
  await query(
    em,
    `update jobs set
       workflow_started_at = coalesce(workflow_started_at, now()),
       due_at = greatest(due_at, now() + interval '1 minute')
     where id = $1 and completed_at is null`,
    [jobId],
  );
}

export interface StrandedDelivery {
  id: string;
  organizationId: string;
  livemode: boolean;
}

export async function findStrandedDeliveries(em: EntityManager, settledBefore: Date): Promise<StrandedDelivery[]> {
  return query<StrandedDelivery>(
    em,
    `select stranded.id, organization_id as "organizationId", livemode
     from (
       select id, event_id from webhook_deliveries
       where workflow_started_at is null and status = 'pending' and created_at < $1
       order by id limit $2
     ) as stranded join events on events.id = event_id
     order by stranded.id`,
    [settledBefore, BATCH],
  );
}

export async function markDeliveryStarted(em: EntityManager, deliveryId: string): Promise<void> {
  await query(
    em,
    'update webhook_deliveries set workflow_started_at = now() where id = $1 and workflow_started_at is null',
    [deliveryId],
  );
}

/** Forgets uploads that no job used in time. Answers the keys of the objects that lost their row. */
export async function deleteExpiredUploads(em: EntityManager): Promise<string[]> {
  const rows = await query<{ storage_key: string }>(
    em,
    `delete from uploads where id in (
       select id from uploads where used_at is null and expires_at <= now() limit $1 for update skip locked
     )
     returning storage_key`,
    [BATCH],
  );
  return rows.map((row) => row.storage_key);
}

export async function deleteExpiredIdempotencyClaims(em: EntityManager): Promise<void> {
  await query(em, 'delete from idempotency_claims where expires_at <= now()');
}

/** Of these owners of stored objects, the ones that have no row. */
export async function findUnknownOwners(
  em: EntityManager,
  table: 'jobs' | 'uploads',
  ids: string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `select owner.id from unnest($1::text[]) as owner (id) where not exists (select from ${table} where ${table}.id = owner.id)`,
    [ids],
  );
  return rows.map((row) => row.id);
}
