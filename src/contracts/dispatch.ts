/** Jobs whose whole pipeline runs in another cluster. Only ids and small facts travel in these payloads. */
import type { PassedOn } from './passed-on.ts';

/** Answered by the pick-up of such a job: its workflow dispatches it then. */
export interface RemoteRun {
  isRemote: true;
  /** How long nothing may be heard of the cluster before the attempt counts as lost. */
  heartbeatTimeoutMs: number;
}

/** Runs on the inference queues. */
export interface DispatchActivities {
  /**
   * Hands the job to the cluster, and ends when the cluster's callback says so, not when the function returns: it
   * occupies no place in the worker meanwhile. Every attempt is a dispatch of its own, which supersedes those before it.
   * Answers `abandoned` when the job has ended. Passed on as `runInference` is, by a worker that knows no such cluster.
   */
  dispatchInference(input: {
    jobId: string;
    attempts: number;
    mayPassOn?: boolean;
  }): Promise<'staged' | 'abandoned' | PassedOn>;
  /** Tells the cluster that nothing of the job is wanted any more, as well as it can. */
  withdrawDispatches(input: { jobId: string }): Promise<void>;
}
