import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Job } from '../../db/entities.ts';
import type { JobSettlements } from '../../db/job-settlements.ts';
import { isTerminal } from '../../domain/job-states.ts';
import type { ApiContext } from '../context.ts';

interface WaitOptions {
  jobId: string;
  settlements: JobSettlements;
  ceilingMs: number;
  logger: Logger;
}

const RETRY_DELAY_MS = 200;

/** Waits until a job has settled. Answers null when the ceiling passes or the client hangs up first. */
export async function waitForJob(
  context: ApiContext,
  { jobId, settlements, ceilingMs, logger }: WaitOptions,
): Promise<Job | null> {
  const hungUp = new AbortController();
  const hangUp = () => hungUp.abort();
  context.res.once('close', hangUp);
  const signal = AbortSignal.any([AbortSignal.timeout(ceilingMs), hungUp.signal]);
  try {
    for (;;) {
      // Listening begins before the job is read, so that no settlement falls between the two.
      const settled = settlements.settled(jobId, signal);
      const job = await readJob();
      if (job && isTerminal(job.status)) return job;
      if (signal.aborted || (job && !(await settled))) return null;
    }
  } finally {
    hungUp.abort();
    context.res.off('close', hangUp);
  }

  /** Null when PostgreSQL is away for a moment: the job is committed, so its request goes on waiting. */
  async function readJob(): Promise<Job | null> {
    try {
      return await context.state.em.fork().findOneOrFail(Job, { id: jobId });
    } catch (err) {
      logger.warn({ jobId, err }, 'waited-for job not read');
      await delay(RETRY_DELAY_MS, undefined, { signal }).catch(() => {});
      return null;
    }
  }
}
