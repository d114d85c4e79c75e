/** Bundles: jobs that run in stages. Only ids and small facts travel in these payloads. */
import type { ErrorCode } from './error-codes.ts';
import type { HandedBack } from './handed-back.ts';
import type { JobStage } from './job.ts';
import type { InferenceTaskQueue } from './task-queues.ts';

/** One stage of a bundle. It runs on units: pictures, views, key frames, or the whole vehicle. */
export interface PlannedStage {
  name: string;
  /** The stages that must end before it begins; it may read their outcomes. */
  after: readonly string[];
  /** Whether the job can do without it. The failure of a required stage fails the job. */
  isOptional: boolean;
  /** Its number of units, or the stage that finds them. */
  units: number | { foundBy: string };
  /** The units' name in the plural, for readers of the workflow. */
  unitName: string;
  /** Most units of one activity. */
  unitsPerActivity: number;
  taskQueue: InferenceTaskQueue;
  /** Endpoint that a worker must serve to run the units. Any worker of the queue when omitted. */
  requires?: string;
  /** Credits held for it, and its highest charge. */
  priceCredits: number;
}

/** Made at pick-up from the endpoint's contract. From then on the run depends on it alone. */
export interface StagePlan {
  stages: readonly PlannedStage[];
  /** Whether the customer sees the stages. */
  isShown: boolean;
  /** Most activities at a time: a large bundle must leave workers for other jobs. */
  activitiesAtATime: number;
  /** Length of the history after which the workflow continues as new. */
  eventsPerRun: number;
}

/** Progress of a stage. */
export interface StageProgress {
  name: string;
  /** A stage ends as `succeeded` if any of its units did. */
  status: Exclude<JobStage['status'], 'partial'>;
  /** Null until the stage that finds its units has ended. */
  units: number | null;
  /** Units that activities have taken. */
  begunUnits: number;
  endedUnits: number;
  failedUnits: number;
  /** Units found for later stages. */
  foundUnits: number;
  chargedCredits: number;
  /** Epoch seconds, with milliseconds as the fraction. */
  startedAt: number | null;
  completedAt: number | null;
  /** Error of the first failed unit. */
  error: ErrorCode | null;
  /** Whether units failed because the worker of the last attempt missed its heartbeat. */
  isWorkerLost?: true;
}

/** Consecutive units of one stage. */
export interface StageRange {
  jobId: string;
  stage: PlannedStage;
  /** From 0. */
  firstUnit: number;
  units: number;
  /** Units of the whole stage. */
  totalUnits: number;
  attempts: number;
  /** As in `runInference`. */
  mayPassOn?: boolean;
}

/** How a run of units ended. Its outcome stays in PostgreSQL. */
export interface StageReport {
  failedUnits: number;
  foundUnits: number;
  /** A share of the stage's price, not rounded. */
  chargedCredits: number;
  /** True when there was nothing to do. */
  isSkipped: boolean;
  error: ErrorCode | null;
  /** As in the progress. Set by the workflow, since the activity is gone. */
  isWorkerLost?: true;
}

/** Run on the task queue of each stage. */
export interface StageActivities {
  /**
   * Runs some units of a stage and keeps their outcome in PostgreSQL. Idempotent: a further attempt finds that outcome and
   * reports it. A unit's permanent failure is part of the report, not an error. Handed back as `runInference` is.
   */
  runStage(range: StageRange): Promise<StageReport | HandedBack>;
  /**
   * Composes one pending outcome of all stages for the settlement. Idempotent: the first outcome stays.
   */
  composeStages(input: { jobId: string; plan: StagePlan; progress: readonly StageProgress[] }): Promise<void>;
}

/** Run on `orchestration`, as local activities. */
export interface StageRecordActivities {
  /** Shows the stages' progress to the customer. Changes nothing once the job has ended. */
  showStages(input: { jobId: string; progress: readonly StageProgress[] }): Promise<void>;
  /** Deletes the stage outcomes of a job that has ended, and measures each stage's duration. */
  discardStages(input: { jobId: string; progress: readonly StageProgress[] }): Promise<void>;
}
