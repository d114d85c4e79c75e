/** A job whose whole pipeline runs in another cluster. */
import { ActivityCancellationType, CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { DispatchActivities, RemoteRun } from '../contracts/dispatch.ts';
import type { RunJobInput } from '../contracts/run-job.ts';
import { untilTaken } from './until-taken.ts';

/** Resolves when the cluster has told what it found. Rejects when no attempt is left, and when the workflow is cancelled. */
export async function runRemotely(input: RunJobInput, { heartbeatTimeoutMs }: RemoteRun): Promise<void> {
  const { jobId, endpoint, inferenceTaskQueue, inferenceTimeoutMs, inferenceAttempts } = input;
  setCurrentDetails('Dispatched to another cluster: waiting for its callbacks.');
  // A job that was picked up doesn't expire, but neither does it hold its credits without end.
  const limits = { attempts: inferenceAttempts, withinMs: inferenceTimeoutMs, failure: 'model_unavailable' } as const;
  await untilTaken(limits, ({ attempts, withinMs }) => {
    const { dispatchInference } = proxyActivities<DispatchActivities>({
      taskQueue: inferenceTaskQueue,
      summary: `${endpoint} in another cluster`,
      scheduleToStartTimeout: withinMs,
      startToCloseTimeout: inferenceTimeoutMs,
      heartbeatTimeout: heartbeatTimeoutMs,
      // No worker waits for the cluster, so none can answer a cancellation.
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: attempts },
    });
    return dispatchInference({ jobId, attempts, mayPassOn: true });
  });
}

/** After the settlement of a job that nobody finished. Once: whoever is not told finds out by its next callback. */
export async function withdraw({ jobId, inferenceTaskQueue }: RunJobInput): Promise<void> {
  const { withdrawDispatches } = proxyActivities<DispatchActivities>({
    taskQueue: inferenceTaskQueue,
    summary: 'withdraw what was dispatched',
    scheduleToCloseTimeout: '30 seconds',
    retry: { maximumAttempts: 1 },
  });
  await CancellationScope.nonCancellable(() => withdrawDispatches({ jobId })).catch(() => {});
}
