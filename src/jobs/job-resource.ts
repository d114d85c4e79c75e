/** The Job as customers see it, in responses and in events. */
import type { JobError } from '../contracts/error-codes.ts';
import type { JobStage, JobStatus } from '../contracts/job.ts';
import { epochSeconds } from '../platform/epoch-seconds.ts';
import { finishResult } from './finish-result.ts';
import { shownStages } from './job-stages.ts';

/** A job inside the service. */
export interface JobRecord {
  id: string;
  endpoint: string;
  status: JobStatus;
  livemode: boolean;
  isStaging: boolean;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  modelVersion: string | null;
  reservedCredits: number;
  chargedCredits: number;
  result?: unknown;
  error?: JobError | null;
  stages: readonly JobStage[] | null;
  testScenario: string | null;
}

export interface JobResource {
  id: string;
  object: 'job';
  endpoint: string;
  status: JobStatus;
  livemode: boolean;
  is_staging: boolean;
  /** Epoch seconds, like the other times. */
  created: number;
  started_at: number | null;
  completed_at: number | null;
  model_version: string | null;
  credits: { reserved: number; charged: number };
  result: unknown;
  error: JobError | null;
  /** Only for endpoints that run in stages. */
  stages?: readonly JobStage[];
  test_scenario?: string;
}

export function renderJob(job: JobRecord): JobResource {
  return {
    id: job.id,
    object: 'job',
    endpoint: job.endpoint,
    status: job.status,
    livemode: job.livemode,
    is_staging: job.isStaging,
    created: epochSeconds(job.createdAt),
    started_at: job.startedAt && epochSeconds(job.startedAt),
    completed_at: job.completedAt && epochSeconds(job.completedAt),
    model_version: job.modelVersion,
    credits: { reserved: job.reservedCredits, charged: job.chargedCredits },
    result: job.result ?? null,
    error: job.error ?? null,
    ...(job.stages !== null && { stages: shownStages(job.stages, job) }),
    ...(job.testScenario !== null && { test_scenario: job.testScenario }),
  };
}

/** The job with the given end applied. */
export function endedJob(
  job: JobRecord,
  end: Required<Pick<JobRecord, 'status' | 'result' | 'error' | 'stages' | 'chargedCredits' | 'completedAt'>>,
): JobRecord {
  return { ...job, ...end, result: finishResult(end.result), stages: end.stages && shownStages(end.stages, end) };
}
