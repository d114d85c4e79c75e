/** The Job as customers see it, in answers and in events alike. */
import type { JobError } from '../contracts/error-codes.ts';
import type { JobStage, JobStatus } from '../contracts/job.ts';
import { shownStages } from './job-stages.ts';

/** What is known of a job inside the service. */
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
  /** Epoch seconds, as are the other times. */
  created: number;
  started_at: number | null;
  completed_at: number | null;
  model_version: string | null;
  credits: { reserved: number; charged: number };
  result: unknown;
  error: JobError | null;
  /** Only of endpoints that run in stages. */
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

/** A job as it will be once it has ended so. */
export function endedJob(
  job: JobRecord,
  end: Required<Pick<JobRecord, 'status' | 'result' | 'error' | 'stages' | 'chargedCredits' | 'completedAt'>>,
): JobRecord {
  return { ...job, ...end, stages: end.stages && shownStages(end.stages, end) };
}

export function epochSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
