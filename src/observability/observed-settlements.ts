import type { Logger } from 'pino';
import type { Metrics, SettledJob } from './metrics.ts';

/** Counts ended jobs and logs a line for each: its status, waiting time and run time. */
export function observeSettlements(metrics: Metrics, logger: Logger, clock: () => Date = () => new Date()) {
  return (job: SettledJob & { id: string; organizationId: string }): void => {
    metrics.jobSettled(job);
    // The settlement begins at the job's completion time and calls this once it has committed.
    const durationMs = Math.max(0, clock().getTime() - job.completedAt.getTime());
    metrics.stageEnded({ ...job, stage: 'settlement', status: 'succeeded', durationMs });
    const { id: jobId, organizationId, endpoint, status, createdAt, startedAt, completedAt } = job;
    logger.info(
      {
        jobId,
        organizationId,
        endpoint,
        status,
        queuedMs: (startedAt ?? completedAt).getTime() - createdAt.getTime(),
        processingMs: startedAt && completedAt.getTime() - startedAt.getTime(),
      },
      'job settled',
    );
  };
}
