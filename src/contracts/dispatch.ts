/** Jobs whose whole pipeline runs in another cluster. Only ids and small facts travel in these payloads. */
import type { HandedBack } from './handed-back.ts';

/** Returned by the pick-up of such a job; its workflow then dispatches it. */
export interface RemoteRun {
  isRemote: true;
  /** Longest silence of the cluster before the attempt counts as lost. */
  heartbeatTimeoutMs: number;
}

/** Runs on the inference queues. */
export interface DispatchActivities {
  /**
   * Sends the job to the cluster. The activity completes when the cluster calls back, not when the function returns, so it
   * takes no slot of the worker meanwhile. Every attempt is a new dispatch, which supersedes the earlier ones. Returns
   * `abandoned` when the job has ended. A worker that knows no such cluster hands it back, as `runInference` does.
   */
  dispatchInference(input: {
    jobId: string;
    attempts: number;
    mayPassOn?: boolean;
  }): Promise<'staged' | 'abandoned' | HandedBack>;
  /** Tells the cluster, best effort, that the job is no longer wanted. */
  withdrawDispatches(input: { jobId: string }): Promise<void>;
}
