/** The stages of a job, as its customer sees them. */
import type { EndpointContract, ValidRequest } from '../contracts/endpoint-contract.ts';
import { ERRORS, type ErrorCode, type JobError } from '../contracts/error-codes.ts';
import { type JobStage, type JobStatus, TERMINAL_JOB_STATUSES } from '../contracts/job.ts';
import type { StageProgress } from '../contracts/run-bundle.ts';

/** The stages of a job at admission, each with its held credits; null when the endpoint shows none. */
export function queuedStages(
  { stages, stagePlan }: Pick<EndpointContract, 'stages' | 'stagePlan'>,
  request: ValidRequest,
): JobStage[] | null {
  if (!stages) return null;
  const plan = stagePlan?.(request);
  return stages.map((name) => {
    const planned = plan?.find((stage) => stage.name === name);
    return {
      name,
      status: !plan || planned ? 'queued' : 'skipped',
      progress: 0,
      started_at: null,
      completed_at: null,
      credits: { reserved: planned?.priceCredits ?? 0, charged: 0 },
      error: null,
    };
  });
}

/** The stages with their progress. `errors` holds the known errors of failed stages, by name. */
export function advancedStages(
  stages: readonly JobStage[],
  progress: readonly StageProgress[],
  errors: Readonly<Record<string, JobError>> = {},
): JobStage[] {
  return stages.map((stage) => {
    const at = progress.find(({ name }) => name === stage.name);
    if (!at) return stage;
    if (at.status === 'queued' || at.status === 'skipped') return { ...stage, status: at.status };
    return {
      ...stage,
      status: at.status === 'succeeded' && at.failedUnits > 0 ? 'partial' : at.status,
      progress: (at.endedUnits - at.failedUnits) / (at.units || 1),
      started_at: wholeSeconds(at.startedAt),
      completed_at: wholeSeconds(at.completedAt),
      credits: { ...stage.credits, charged: Math.min(Math.round(at.chargedCredits), stage.credits.reserved) },
      error: at.error && (errors[stage.name] ?? failureOfStage(at.error)),
    };
  });
}

function wholeSeconds(epochSeconds: number | null): number | null {
  return epochSeconds === null ? null : Math.floor(epochSeconds);
}

/** The error of a stage, or of some of its units, that failed without giving a reason. */
export function failureOfStage(code: ErrorCode): JobError {
  const known = code === 'inference_timeout' || code === 'model_unavailable' ? code : 'model_inference_failed';
  return { type: ERRORS[known].type, code: known, message: MESSAGES[known] };
}

const MESSAGES = {
  inference_timeout: 'The stage took too long and was stopped. Failed parts are not charged.',
  model_unavailable: 'No model is installed for the stage. Failed parts are not charged.',
  model_inference_failed: 'The stage failed. Failed parts are not charged.',
} as const;

/**
 * The stages as stored and shown. When the job has ended, queued stages are skipped and a running stage has failed with the
 * job's error. When the job has failed, no stage is charged.
 */
export function shownStages(stages: readonly JobStage[], job: JobEnd): JobStage[] {
  if (!(TERMINAL_JOB_STATUSES as readonly JobStatus[]).includes(job.status)) return [...stages];
  const isCharged = job.status === 'succeeded' || job.status === 'partial';
  return stages.map((stage) => ({
    ...stage,
    ...endOf(stage, job),
    credits: isCharged ? stage.credits : { ...stage.credits, charged: 0 },
  }));
}

interface JobEnd {
  status: JobStatus;
  completedAt: Date | null;
  error?: JobError | null;
}

function endOf({ status }: JobStage, { completedAt, error }: JobEnd): Partial<JobStage> {
  if (status === 'queued') return { status: 'skipped' };
  if (status !== 'processing') return {};
  return {
    status: 'failed',
    completed_at: wholeSeconds(completedAt && completedAt.getTime() / 1_000),
    error: error ?? failureOfStage('model_inference_failed'),
  };
}
