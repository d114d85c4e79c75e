/** A job whose whole pipeline runs in another cluster. */
import { ActivityCancellationType, CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { DispatchActivities, RemoteRun } from '../contracts/dispatch.ts';
import type { RunJobInput } from '../contracts/run-job.ts';
import { scheduleUntilAccepted } from './until-accepted.ts';

/** Resolves when the cluster has reported its outcome. Rejects when no attempt is left, or the workflow is cancelled. */
export async function runRemotely(input: RunJobInput, { heartbeatTimeoutMs }: RemoteRun): Promise<void> {
  const { jobId, endpoint, inferenceTaskQueue, inferenceTimeoutMs, inferenceAttempts } = input;
  setCurrentDetails('Dispatched to another cluster: waiting for its callbacks.');
  // A picked-up job does not expire, and it must not hold its credits forever.
  const limits = { attempts: inferenceAttempts, withinMs: inferenceTimeoutMs, failure: 'model_unavailable' } as const;
  await scheduleUntilAccepted(limits, ({ attempts, withinMs }) => {
    const { dispatchInference } = proxyActivities<DispatchActivities>({
      taskQueue: inferenceTaskQueue,
      summary: `${endpoint} in another cluster`,
      scheduleToStartTimeout: withinMs,
      startToCloseTimeout: inferenceTimeoutMs,
      heartbeatTimeout: heartbeatTimeoutMs,
      // No worker waits for the cluster, so none can acknowledge a cancellation.
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: attempts },
    });
    return dispatchInference({ jobId, attempts, mayPassOn: true });
  });
}

/** After the settlement of an unfinished job. Tried once: a cluster that is not told learns it from its next callback. */
export async function withdraw({ jobId, inferenceTaskQueue }: RunJobInput): Promise<void> {
  const { withdrawDispatches } = proxyActivities<DispatchActivities>({
    taskQueue: inferenceTaskQueue,
    summary: 'withdraw the dispatches',
    scheduleToCloseTimeout: '30 seconds',
    retry: { maximumAttempts: 1 },
  });
  await CancellationScope.nonCancellable(() => withdrawDispatches({ jobId })).catch(() => {});
}
