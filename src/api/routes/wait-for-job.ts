import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Job } from '../../jobs/entities.ts';
import { isTerminal } from '../../jobs/job-states.ts';
import { readJob } from '../../jobs/jobs-store.ts';
import type { SettlementListener } from '../../jobs/settlement-listener.ts';
import type { ApiContext } from '../context.ts';

interface WaitOptions {
  jobId: string;
  settlements: SettlementListener;
  ceilingMs: number;
  logger: Logger;
}

const RETRY_DELAY_MS = 200;
/** The response at the ceiling waits no longer for the job as it is then. */
const LAST_READ_MS = 1_000;

/**
 * Waits until a job has settled. Call it before starting the job: listening begins at once, so no settlement is missed.
 * Resolves to the job as it is then or, when the ceiling passes first, as it is at the ceiling. Null when the client
 * disconnects, and when PostgreSQL is unavailable at the ceiling.
 */
export async function waitForJob(
  context: ApiContext,
  { jobId, settlements, ceilingMs, logger }: WaitOptions,
): Promise<Job | null> {
  const waiting = new AbortController();
  const { signal } = waiting;
  // An explicit reason avoids building an error with a stack for each request.
  const stopWaiting = () => waiting.abort('no longer waited for');
  context.res.once('close', stopWaiting);
  const ceiling = setTimeout(stopWaiting, ceilingMs);
  try {
    let settled = settlements.settled(jobId, signal);
    while (await settled) {
      // Listen again before reading, so that no settlement falls in between.
      settled = settlements.settled(jobId, signal);
      const job = await read();
      if (job && isTerminal(job.status)) return job;
    }
    return context.res.closed ? null : await readOnce();
  } finally {
    clearTimeout(ceiling);
    stopWaiting();
    context.res.off('close', stopWaiting);
  }

  /** Retries while PostgreSQL is unavailable: the job is committed, so the request keeps waiting. */
  async function read(): Promise<Job | null> {
    while (!signal.aborted) {
      try {
        return await readJob(context.state.em.fork(), jobId);
      } catch (err) {
        logger.warn({ jobId, err }, 'awaited job not read');
        await delay(RETRY_DELAY_MS, undefined, { signal }).catch(() => {});
      }
    }
    return null;
  }

  async function readOnce(): Promise<Job | null> {
    const job = readJob(context.state.em.fork(), jobId).catch((err: unknown) => {
      logger.warn({ jobId, err }, 'awaited job not read');
      return null;
    });
    return Promise.race([job, delay(LAST_READ_MS, null, { ref: false })]);
  }
}
