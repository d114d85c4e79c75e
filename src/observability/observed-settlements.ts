import type { Logger } from 'pino';
import type { Metrics, SettledJob } from './metrics.ts';

/** Counts the jobs that end, and logs a line for each: what became of it, how long it waited and how long it ran. */
export function observeSettlements(metrics: Metrics, logger: Logger) {
  return (job: SettledJob & { id: string; organizationId: string }): void => {
    metrics.jobSettled(job);
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
