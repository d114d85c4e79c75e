/** What the stages of a bundle found, from their end to the settlement, and what its job shows of them. */
import type { JobStage, StageOutcome } from '../../contracts/job.ts';
import { type EntityManager, query } from '../orm.ts';

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

/** Keeps an outcome for as long as the job runs. The first one stays: another attempt may have come here before. */
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
 * Forgets what is left of jobs that ended before a time: their workflow was terminated, or a worker kept it just as they
 * ended. Some at a time; answers of how many jobs.
 */
export async function deleteLeftStageOutcomes(em: EntityManager, endedBefore: Date): Promise<number> {
  const rows = await query<{ jobs: number }>(
    em,
    `with ended as (
       select distinct job_id from stage_outcomes join jobs on jobs.id = job_id where completed_at < $1 limit $2
     ), deleted as (
       delete from stage_outcomes using ended where stage_outcomes.job_id = ended.job_id
     )
     select count(*)::integer as jobs from ended`,
    [endedBefore, BATCH],
  );
  return rows[0]?.jobs ?? 0;
}

/** Shows stages of a job that runs. One that has ended keeps those that its settlement left. */
export async function updateStages(em: EntityManager, jobId: string, stages: readonly JobStage[]): Promise<void> {
  await query(em, `update jobs set stages = $2 where id = $1 and status = 'processing' and stages is not null`, [
    jobId,
    JSON.stringify(stages),
  ]);
}
