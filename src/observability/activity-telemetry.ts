/** Adds the ids of every activity to its log lines, and its duration to the metrics. */
import { CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory, WorkerPlugin } from '@temporalio/worker';
import type { Logger } from 'pino';
import { withLogFields } from '../platform/logging/log-context.ts';
import type { Metrics, Outcome } from './metrics.ts';

export function observeActivities(metrics: Metrics, logger: Logger): WorkerPlugin {
  const observe = interceptorOf(metrics, logger);
  return {
    name: 'observe-activities',
    configureWorker: ({ interceptors, ...options }) => ({
      ...options,
      interceptors: { ...interceptors, activity: [...(interceptors?.activity ?? []), observe] },
    }),
  };
}

/** Whether another process will complete the activity: the SDK signals that by throwing. */
function isToBeCompleted(error: unknown): boolean {
  return error instanceof Error && error.name === 'CompleteAsyncError';
}

function interceptorOf(metrics: Metrics, logger: Logger): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: (input, next) => {
        const workflowId = info.workflowExecution?.workflowId;
        const runId = info.workflowExecution?.runId;
        const fields = {
          ...(workflowId?.startsWith('job_') && { jobId: workflowId }),
          ...(workflowId !== undefined && { workflowId }),
          ...(runId !== undefined && { runId }),
          activity: info.activityType,
          attempt: info.attempt,
        };
        return withLogFields(fields, async () => {
          const startedAtMs = performance.now();
          const end = (outcome: Outcome, err?: unknown) => {
            const durationMs = Math.round(performance.now() - startedAtMs);
            metrics.activityEnded({ name: info.activityType, taskQueue: info.taskQueue, outcome, durationMs });
            if (outcome === 'failed') logger.warn({ durationMs, err }, 'activity attempt failed');
            else logger.debug({ durationMs, outcome }, 'activity ended');
          };
          try {
            const result = await next(input);
            end('succeeded');
            return result;
          } catch (error) {
            if (isToBeCompleted(error)) end('succeeded');
            else end(error instanceof CancelledFailure ? 'cancelled' : 'failed', error);
            throw error;
          }
        });
      },
    },
  });
}
