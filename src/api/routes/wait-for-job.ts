import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Job } from '../../db/entities.ts';
import type { JobSettlements } from '../../db/jobs/job-settlements.ts';
import { readJob } from '../../db/jobs/read-job.ts';
import { isTerminal } from '../../domain/job-states.ts';
import type { ApiContext } from '../context.ts';

interface WaitOptions {
  jobId: string;
  settlements: JobSettlements;
  ceilingMs: number;
  logger: Logger;
}

const RETRY_DELAY_MS = 200;

/**
 * Waits until a job has settled. Call it before the job is started: listening begins at once, so that no settlement is
 * missed. Answers null when the ceiling passes or the client hangs up first.
 */
export async function waitForJob(
  context: ApiContext,
  { jobId, settlements, ceilingMs, logger }: WaitOptions,
): Promise<Job | null> {
  const waiting = new AbortController();
  const { signal } = waiting;
  // With a reason: without one, each request would make an error and its stack for nobody.
  const stopWaiting = () => waiting.abort('no longer waited for');
  context.res.once('close', stopWaiting);
  const ceiling = setTimeout(stopWaiting, ceilingMs);
  try {
    let settled = settlements.settled(jobId, signal);
    while (await settled) {
      // Again before the job is read, so that no settlement falls between the two.
      settled = settlements.settled(jobId, signal);
      const job = await read();
      if (job && isTerminal(job.status)) return job;
    }
    return null;
  } finally {
    clearTimeout(ceiling);
    stopWaiting();
    context.res.off('close', stopWaiting);
  }

  /** Tries again while PostgreSQL is away for a moment: the job is committed, so its request goes on waiting. */
  async function read(): Promise<Job | null> {
    while (!signal.aborted) {
      try {
        return await readJob(context.state.em.fork(), jobId);
      } catch (err) {
        logger.warn({ jobId, err }, 'waited-for job not read');
        await delay(RETRY_DELAY_MS, undefined, { signal }).catch(() => {});
      }
    }
    return null;
  }
}
