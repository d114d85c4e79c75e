/** The job workflow and the activities it calls. Only ids and small facts travel in these payloads. */
import type { RemoteRun } from './dispatch.ts';
import type { ErrorCode } from './error-codes.ts';
import type { TerminalJobStatus } from './job.ts';
import type { PassedOn } from './passed-on.ts';
import type { StagePlan, StageProgress } from './run-stages.ts';
import type { InferenceTaskQueue } from './task-queues.ts';

/** Workflow type that carries one job from admission to its end. Workflow id = job id. */
export const RUN_JOB_WORKFLOW = 'runJob';

/** Everything a run depends on is copied here at admission, so that a later configuration cannot break a replay. */
export interface RunJobInput {
  jobId: string;
  endpoint: string;
  inferenceTaskQueue: InferenceTaskQueue;
  /** Longest time the job may wait in the queue before it expires. */
  expiryMs: number;
  /** Longest time one attempt of the inference may take. */
  inferenceTimeoutMs: number;
  /** Attempts of the inference when a worker is lost or a retryable error comes back. */
  inferenceAttempts: number;
  /** Of a bundle whose history grew long, and which goes on in a new run: its plan, and how far it is. */
  resumed?: { plan: StagePlan; progress: StageProgress[] };
}

/** Runs on the inference queues. */
export interface InferenceActivities {
  /**
   * Picks the job up (`queued` → `processing`), runs its pipeline, settles what it found and answers the settlement.
   * Idempotent. Answers `abandoned` of a job that has ended: it was canceled, it expired, or an attempt settled it and was
   * lost before its answer; and `staged` when an outcome waits in PostgreSQL for the workflow to settle it: a failure that
   * no attempt will mend, or what was found for a workflow that does not ask for the settlement (`settles`), as those of
   * earlier releases. Of a bundle it only picks the job up, and answers the stages that the workflow is to run; of a job
   * that another cluster runs, how the workflow is to dispatch it. Where the workflow knows what to do then (`mayPassOn`),
   * it leaves a job whose model this worker lacks, and another announces, as it is, and answers `PassedOn`.
   */
  runInference(input: {
    jobId: string;
    attempts: number;
    settles?: boolean;
    mayPassOn?: boolean;
  }): Promise<Settlement | 'staged' | 'abandoned' | StagePlan | RemoteRun | PassedOn>;
}

/** Runs on `orchestration`, as local activities: one PostgreSQL transaction each. */
export interface SettlementActivities {
  /**
   * Moves the job to its terminal status, captures its real cost, releases the rest of the hold and records event and
   * deliveries, all in one transaction. Idempotent: settling a settled job answers what was settled.
   *
   * `failure` names the error of a job whose inference left no outcome; without it the staged outcome is settled.
   */
  settleJob(input: { jobId: string; failure: ErrorCode | null }): Promise<Settlement>;
}

export interface Settlement {
  status: TerminalJobStatus;
  chargedCredits: number;
  /** Deliveries that the settlement created: one per webhook endpoint that wants the event. */
  deliveryIds: string[];
  /** Why the job failed or expired; left out of one that did not. */
  error?: ErrorCode;
}

/** Query of a job's workflow: where it is, and how far each stage of a bundle is. */
export const RUN_JOB_STATUS_QUERY = 'status';
export interface RunJobStatus {
  step: 'inference' | 'settlement' | 'ended';
  /** Of a job that another cluster runs. */
  isRemote?: true;
  stages: readonly StageProgress[];
}
