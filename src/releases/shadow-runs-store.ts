/** What releases in the shadow made of jobs, for operators only. */
import type { ShadowEnd } from '../contracts/shadow-job.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Comparison } from './compare-results.ts';

export type ShadowRun = Pick<ShadowEnd, 'outcome' | 'reason'> & Comparison;

export interface RecordedRun extends ShadowEnd {
  endpoint: string;
  modelVersion: string;
  /** False if the run was recorded before: then this is that record. */
  isNew: boolean;
}

/** Records the run of a job, once. */
export async function recordShadowRun(
  em: EntityManager,
  { jobId, modelVersion }: { jobId: string; modelVersion: string },
  { outcome, reason, agreed, differing }: ShadowRun,
): Promise<RecordedRun> {
  const [row] = await query<RecordedRun>(
    em,
    `insert into shadow_runs as known
       (job_id, endpoint, served_version, shadow_version, outcome, reason, agreed, differing)
     select id, endpoint, model_version, $2, $3, $4, $5::text[], $6::jsonb from jobs where id = $1
     on conflict (job_id) do update set job_id = known.job_id
     returning endpoint, shadow_version as "modelVersion", outcome, reason, agreed,
       array(select jsonb_object_keys(differing)) as differing, xmax = 0 as "isNew"`,
    [jobId, modelVersion, outcome, reason, agreed, JSON.stringify(differing, withoutNul)],
  );
  if (!row) throw new Error(`there is no job ${jobId}`);
  return row;
}

/** `jsonb` refuses U+0000, which a network may read. */
function withoutNul(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\u0000', '') : value;
}

export interface ShadowReport {
  modelVersion: string;
  /** By outcome. */
  runs: Record<string, number>;
  fields: { field: string; compared: number; agreed: number }[];
  /** The latest differences. */
  examples: { job: string; organization: string; field: string; served: unknown; shadow: unknown }[];
}

/** Examples that a report shows. */
const EXAMPLES = 20;

/**
 * How a release in the shadow agrees with those that served: by field, least agreement first, with examples. Without a release, of
 * the last one that ran. Null when none has.
 */
export async function reportOn(
  em: EntityManager,
  { endpoint, modelVersion, field }: { endpoint: string; modelVersion: string | null; field: string | null },
): Promise<ShadowReport | null> {
  const [last] = await query<{ modelVersion: string }>(
    em,
    `select shadow_version as "modelVersion" from shadow_runs
     where endpoint = $1 and ($2::text is null or shadow_version = $2) order by ended_at desc limit 1`,
    [endpoint, modelVersion],
  );
  if (!last) return null;
  const of = [endpoint, last.modelVersion];
  const runs = await query<{ outcome: string; runs: number }>(
    em,
    `select outcome, count(*)::integer as runs from shadow_runs where endpoint = $1 and shadow_version = $2
     group by outcome order by outcome`,
    of,
  );
  const fields = await query<ShadowReport['fields'][number]>(
    em,
    `select field, count(*)::integer as compared, (count(*) filter (where agrees))::integer as agreed
     from shadow_runs, lateral (
       select unnest(agreed) as field, true as agrees union all select jsonb_object_keys(differing), false
     ) as compared
     where endpoint = $1 and shadow_version = $2
     group by field order by (count(*) filter (where agrees))::float / count(*), field`,
    of,
  );
  const examples = await query<ShadowReport['examples'][number]>(
    em,
    `select job_id as job, organization_id as organization, key as field, value -> 0 as served, value -> 1 as shadow
     from shadow_runs join jobs on jobs.id = job_id, lateral jsonb_each(differing)
     where shadow_runs.endpoint = $1 and shadow_version = $2 and ($3::text is null or key = $3)
     order by job_id desc, key limit ${EXAMPLES}`,
    [...of, field],
  );
  return { ...last, runs: Object.fromEntries(runs.map((row) => [row.outcome, row.runs])), fields, examples };
}

const BATCH = 500;

/** Deletes the runs of jobs that were admitted before a time, one batch at a time. */
export async function deleteOldShadowRuns(
  em: EntityManager,
  before: Date,
): Promise<{ rows: number; hasMore: boolean }> {
  const rows = await query(
    em,
    `delete from shadow_runs where job_id in (
       select job_id from shadow_runs where job_id < $1 order by job_id limit $2 for update skip locked
     ) returning job_id`,
    [firstIdAt('job', before), BATCH],
  );
  return { rows: rows.length, hasMore: rows.length === BATCH };
}
