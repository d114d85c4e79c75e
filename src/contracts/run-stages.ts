/** Bundles: jobs that run in stages. Only ids and small facts travel in these payloads. */
import type { ErrorCode } from './error-codes.ts';
import type { JobStage } from './job.ts';
import type { PassedOn } from './passed-on.ts';
import type { InferenceTaskQueue } from './task-queues.ts';

/** One step of a bundle, which runs on units: pictures, views, key frames, or the vehicle as a whole. */
export interface PlannedStage {
  name: string;
  /** The stages that must have ended before it begins; it may read what they found. */
  after: readonly string[];
  /** Whether the job goes on without it. A failure of one that is not optional fails the job. */
  isOptional: boolean;
  /** How many units it has; or, where that is not known before, the stage that finds them. */
  units: number | { foundBy: string };
  /** What a unit is, in the plural, for people who read the workflow. */
  unitName: string;
  /** Most units that one activity takes. */
  unitsPerActivity: number;
  taskQueue: InferenceTaskQueue;
  /** Credits held for it: the most that it may cost. */
  priceCredits: number;
}

/** Made when the job is picked up, from its endpoint's contract; from then on the run depends on this alone. */
export interface StagePlan {
  stages: readonly PlannedStage[];
  /** Whether the job shows its stages to the customer. */
  isShown: boolean;
  /** A large bundle must not keep the workers from the jobs of others. */
  activitiesAtATime: number;
  /** Length of a workflow's history after which the job goes on in a new run of it. */
  eventsPerRun: number;
}

/** How far a stage is. */
export interface StageProgress {
  name: string;
  status: JobStage['status'];
  /** Null until the stage that finds its units has ended. */
  units: number | null;
  /** Units that were handed to activities. */
  begunUnits: number;
  endedUnits: number;
  failedUnits: number;
  /** Units that it found for later stages. */
  foundUnits: number;
  chargedCredits: number;
  /** Epoch seconds, with the milliseconds as their fraction. */
  startedAt: number | null;
  completedAt: number | null;
  /** Why the first of its failed units failed. */
  error: ErrorCode | null;
  /** Whether units failed because no worker came to the end of an attempt: the last was no longer heard of. */
  isWorkerLost?: true;
}

/** A run of neighbouring units of one stage. */
export interface StageRange {
  jobId: string;
  stage: PlannedStage;
  /** From 0. */
  firstUnit: number;
  units: number;
  /** Of the whole stage. */
  totalUnits: number;
  attempts: number;
  /** As of `runInference`. */
  mayPassOn?: boolean;
}

/** How a run of units ended. What it found stays in PostgreSQL. */
export interface StageReport {
  failedUnits: number;
  foundUnits: number;
  /** Not rounded: a share of the stage's price. */
  chargedCredits: number;
  /** True where there was nothing to do. */
  isSkipped: boolean;
  error: ErrorCode | null;
  /** As of the progress; said by the workflow, for the activity is gone. */
  isWorkerLost?: true;
}

/** Runs on the task queue of each stage. */
export interface StageActivities {
  /**
   * Runs a stage on some of its units and keeps what it found in PostgreSQL. Idempotent: a further attempt finds that and
   * reports it. A unit that fails for good is part of the report, not an error. Passed on as `runInference` is.
   */
  runStage(range: StageRange): Promise<StageReport | PassedOn>;
  /**
   * Makes one outcome of what the stages found, and stages it for the settlement. Idempotent as `runInference` is.
   */
  composeStages(input: { jobId: string; plan: StagePlan; progress: readonly StageProgress[] }): Promise<void>;
}

/** Runs on `orchestration`, as local activities. */
export interface StageRecordActivities {
  /** Shows the customer how far the stages are. Changes nothing once the job has ended. */
  showStages(input: { jobId: string; progress: readonly StageProgress[] }): Promise<void>;
  /** Forgets what the stages of a job that has ended found, and has the time of each measured. */
  discardStages(input: { jobId: string; progress: readonly StageProgress[] }): Promise<void>;
}
