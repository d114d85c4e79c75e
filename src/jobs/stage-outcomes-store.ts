/** Outcomes of a bundle's stages, kept until the settlement, and the stages that its job shows. */
import type { JobStage, StageOutcome } from '../contracts/job.ts';
import type { Batch } from '../platform/database/in-batches.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

const BATCH = 200;

export interface KeptStageOutcome {
  stage: string;
  firstUnit: number;
  outcome: StageOutcome;
}

/** In the order of the units. */
export async function readStageOutcomes(
  em: EntityManager,
  jobId: string,
  stages: readonly string[],
): Promise<KeptStageOutcome[]> {
  return query<KeptStageOutcome>(
    em,
    `select stage, first_unit as "firstUnit", outcome from stage_outcomes
     where job_id = $1 and stage = any ($2::text[]) order by first_unit`,
    [jobId, stages],
  );
}

export async function readStageOutcome(
  em: EntityManager,
  jobId: string,
  { stage, firstUnit }: { stage: string; firstUnit: number },
): Promise<StageOutcome | null> {
  const [row] = await query<{ outcome: StageOutcome }>(
    em,
    'select outcome from stage_outcomes where job_id = $1 and stage = $2 and first_unit = $3',
    [jobId, stage, firstUnit],
  );
  return row?.outcome ?? null;
}

/** Keeps an outcome while the job runs. The first one stays: an earlier attempt may have left its own. */
export async function keepStageOutcome(
  em: EntityManager,
  jobId: string,
  { stage, firstUnit, outcome }: KeptStageOutcome,
): Promise<void> {
  await query(
    em,
    `insert into stage_outcomes (job_id, stage, first_unit, outcome)
     select id, $2, $3, $4 from jobs where id = $1 and status = 'processing'
     on conflict do nothing`,
    [jobId, stage, firstUnit, JSON.stringify(outcome)],
  );
}

export async function deleteStageOutcomes(em: EntityManager, jobId: string): Promise<void> {
  await query(em, 'delete from stage_outcomes where job_id = $1', [jobId]);
}

/**
 * Deletes the outcomes left by jobs that ended before a time: their workflow was terminated, or a worker kept an outcome
 * just as they ended. Takes one batch, the oldest jobs first; returns its number of jobs.
 */
export async function deleteLeftStageOutcomes(em: EntityManager, endedBefore: Date): Promise<Batch> {
  const rows = await query<{ jobs: number }>(
    em,
    `with ended as (
       select distinct job_id from stage_outcomes join jobs on jobs.id = job_id
       where completed_at < $1 order by job_id limit $2
     ), deleted as (
       delete from stage_outcomes using ended where stage_outcomes.job_id = ended.job_id
     )
     select count(*)::integer as jobs from ended`,
    [endedBefore, BATCH],
  );
  const jobs = rows[0]?.jobs ?? 0;
  return { rows: jobs, hasMore: jobs === BATCH };
}

/** The stages that a job shows; null when it shows none. @throws Error when there is no such job */
export async function readStages(em: EntityManager, jobId: string): Promise<JobStage[] | null> {
  const [row] = await query<{ stages: JobStage[] | null }>(em, 'select stages from jobs where id = $1', [jobId]);
  if (!row) throw new Error(`there is no job ${jobId}`);
  return row.stages;
}

/** Shows the stages of a running job. A job that has ended keeps those of its settlement. */
export async function updateStages(em: EntityManager, jobId: string, stages: readonly JobStage[]): Promise<void> {
  await query(em, `update jobs set stages = $2 where id = $1 and status = 'processing' and stages is not null`, [
    jobId,
    JSON.stringify(stages),
  ]);
}
