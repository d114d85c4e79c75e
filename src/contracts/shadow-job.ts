/** The workflow that runs an ended job again on a release in the shadow, and its activities. No value of a result travels here. */
import type { ErrorCode } from './error-codes.ts';
import type { HandedBack } from './handed-back.ts';

/** Workflow type. The id derives from the job's: a job has one shadow at most. */
export const SHADOW_JOB_WORKFLOW = 'shadowJob';
export const shadowWorkflowId = (jobId: string) => `${jobId}-shadow`;

/** Longest wait for a worker. */
export const SHADOW_WAIT_MS = 10 * 60_000;

export interface ShadowJobInput {
  jobId: string;
  endpoint: string;
  /** The release in the shadow. */
  modelVersion: string;
  waitMs: number;
  /** Longest time of one attempt. */
  timeoutMs: number;
  attempts: number;
}

export interface ShadowEnd {
  /** `inputs_gone`: the retention was faster. `not_run`: nobody ran it in time, or the trial has ended. */
  outcome: 'compared' | 'failed' | 'not_run' | 'inputs_gone';
  /** Why it was not compared. */
  reason: ErrorCode | 'trial_ended' | null;
  /** Names of the fields with the same value, and of the others. */
  agreed: string[];
  differing: string[];
}

/** Runs on `inference-shadow`. */
export interface ShadowActivities {
  /** Runs the job on the release, compares both results and records the comparison. Changes nothing of the job. */
  runShadow(input: { jobId: string; modelVersion: string; attempts: number }): Promise<ShadowEnd | HandedBack>;
}

/** Runs on `orchestration`, as a local activity. */
export interface ShadowRecordActivities {
  /** Records why a run left nothing. Returns what is recorded, which may be the run's own record. */
  recordShadowFailure(input: { jobId: string; modelVersion: string; failure: ErrorCode }): Promise<ShadowEnd>;
}
