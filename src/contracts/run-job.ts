/** The job workflow and the activities it calls. Only ids and small facts travel in these payloads. */
import type { RemoteRun } from './dispatch.ts';
import type { ErrorCode } from './error-codes.ts';
import type { HandedBack } from './handed-back.ts';
import type { TerminalJobStatus } from './job.ts';
import type { StagePlan, StageProgress } from './run-bundle.ts';
import type { InferenceTaskQueue } from './task-queues.ts';

/** Workflow type that carries one job from admission to its end. Workflow id = job id. */
export const RUN_JOB_WORKFLOW = 'runJob';

/** Copied at admission: a run depends on nothing else, so a later configuration cannot break a replay. */
export interface RunJobInput {
  jobId: string;
  endpoint: string;
  inferenceTaskQueue: InferenceTaskQueue;
  /** Longest time the job may wait in the queue before it expires. */
  expiryMs: number;
  /** Longest time of one attempt. */
  inferenceTimeoutMs: number;
  /** Most attempts, counting those whose worker was lost. */
  inferenceAttempts: number;
  /** Plan and progress of a bundle that continues as new because its history grew long. */
  resumed?: { plan: StagePlan; progress: StageProgress[] };
}

/** Runs on the inference queues. */
export interface InferenceActivities {
  /**
   * Picks the job up (`queued` → `processing`), runs its pipeline and settles what it found. Idempotent. A bundle is only
   * planned, and a job of another cluster not yet sent: the workflow continues with them.
   *
   * `settles` and `mayPassOn` (named as in recorded histories) say what the workflow understands; workflows of earlier
   * releases leave them out. Without `settles`, the outcome stays in PostgreSQL for the workflow to settle. With
   * `mayPassOn`, a job whose model this worker lacks while another announces it is handed back, its row unchanged.
   */
  runInference(input: {
    jobId: string;
    attempts: number;
    settles?: boolean;
    mayPassOn?: boolean;
  }): Promise<RecordedInferenceResult | HandedBack>;
}

/** Why `runInference` returned. */
export type InferenceResult =
  | { kind: 'settled'; settlement: Settlement }
  /** An outcome waits in PostgreSQL for the workflow to settle it. */
  | { kind: 'pending' }
  /** The job has ended: it was canceled, it expired, or an attempt settled it and was lost before it could report. */
  | { kind: 'abandoned' }
  | { kind: 'planned'; plan: StagePlan }
  | { kind: 'remote'; run: RemoteRun };

/**
 * An `InferenceResult` as payloads and histories encode it. Workflows of earlier releases tell the shapes apart by their
 * fields, so the fields stay flat and a pending outcome is still `staged`; workers of earlier releases send no `kind`.
 */
export type RecordedInferenceResult = 'staged' | 'abandoned' | Tagged | Settlement | StagePlan | RemoteRun;
type Tagged = ({ kind: 'settled' } & Settlement) | ({ kind: 'planned' } & StagePlan) | ({ kind: 'remote' } & RemoteRun);

export function encodeInferenceResult(result: InferenceResult): RecordedInferenceResult {
  switch (result.kind) {
    case 'settled':
      return { kind: 'settled', ...result.settlement };
    case 'pending':
      return 'staged';
    case 'abandoned':
      return 'abandoned';
    case 'planned':
      return { kind: 'planned', ...result.plan };
    case 'remote':
      return { kind: 'remote', ...result.run };
  }
}

export function decodeInferenceResult(recorded: RecordedInferenceResult): InferenceResult {
  if (recorded === 'staged') return { kind: 'pending' };
  if (recorded === 'abandoned') return { kind: 'abandoned' };
  const { kind, ...fields } = tagged(recorded);
  switch (kind) {
    case 'settled':
      return { kind, settlement: fields as Settlement };
    case 'planned':
      return { kind, plan: fields as StagePlan };
    case 'remote':
      return { kind, run: fields as RemoteRun };
  }
}

function tagged(recorded: Exclude<RecordedInferenceResult, string>): Tagged {
  if ('kind' in recorded) return recorded;
  if ('isRemote' in recorded) return { kind: 'remote', ...recorded };
  if ('status' in recorded) return { kind: 'settled', ...recorded };
  return { kind: 'planned', ...recorded };
}

/** Runs on `orchestration`, as local activities: one PostgreSQL transaction each. */
export interface SettlementActivities {
  /**
   * Moves the job to its terminal status, captures its real cost, releases the rest of the hold and records event and
   * deliveries, all in one transaction. Idempotent: settling a settled job returns its settlement.
   *
   * `failure` is the error of a job whose inference left no outcome; null settles the pending outcome.
   */
  settleJob(input: { jobId: string; failure: ErrorCode | null }): Promise<Settlement>;
}

export interface Settlement {
  status: TerminalJobStatus;
  chargedCredits: number;
  /** Deliveries that the settlement created: one per webhook endpoint that wants the event. */
  deliveryIds: string[];
  /** Why the job failed or expired; otherwise absent. */
  error?: ErrorCode;
  /** The release that is to run the job again in the shadow; absent for most jobs. */
  shadow?: string;
}

/** Query of a job's workflow: its step, and the progress of each stage of a bundle. */
export const RUN_JOB_STATUS_QUERY = 'status';
export interface RunJobStatus {
  step: 'inference' | 'settlement' | 'ended';
  /** Set when another cluster runs the job. */
  isRemote?: true;
  stages: readonly StageProgress[];
}
