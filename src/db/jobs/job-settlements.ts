import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';

const RECONNECT_DELAY_MS = 500;

/** A settlement whose notification was lost with its connection is found no later. */
const RECHECK_INTERVAL_MS = 5_000;

/** Tells requests that wait of jobs that end: one `LISTEN` connection for the whole process. */
export interface JobSettlements {
  /**
   * Resolves with true when the job settles or when it may have unnoticed: the caller then reads the job. Resolves with
   * false when the signal aborts.
   */
  settled(jobId: string, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** Starts to listen. While PostgreSQL is away it tries again and again; what happened meanwhile wakes every waiter. */
export function listenForSettlements(
  databaseUrl: string,
  logger: Logger,
  { recheckIntervalMs = RECHECK_INTERVAL_MS } = {},
): JobSettlements {
  const waiters = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  let client: pg.Client | undefined;

  const wake = (jobId: string) => {
    for (const resolve of waiters.get(jobId) ?? []) resolve();
  };
  const wakeAll = () => {
    for (const jobId of waiters.keys()) wake(jobId);
  };

  const recheck = setInterval(wakeAll, recheckIntervalMs);
  const listening = keepListening();
  async function keepListening(): Promise<void> {
    while (!closing.signal.aborted) {
      const connection = new pg.Client({ connectionString: databaseUrl, keepAlive: true });
      const ended = new Promise<void>((resolve) => {
        connection.once('end', () => resolve());
        connection.on('error', (err) => {
          logger.warn({ err }, 'settlement listener lost its connection');
          resolve();
        });
      });
      try {
        connection.on('notification', ({ payload }) => payload && wake(payload));
        await connection.connect();
        await connection.query('listen job_settled');
        client = connection;
        wakeAll();
        await ended;
      } catch (err) {
        logger.warn({ err }, 'settlement listener cannot connect');
      }
      client = undefined;
      await connection.end().catch(() => {});
      await delay(RECONNECT_DELAY_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  return {
    settled(jobId, signal) {
      return new Promise((resolve) => {
        const waiting = waiters.get(jobId) ?? new Set();
        waiters.set(jobId, waiting);
        const leave = (settled: boolean) => {
          waiting.delete(settle);
          if (waiting.size === 0 && waiters.get(jobId) === waiting) waiters.delete(jobId);
          signal.removeEventListener('abort', abort);
          resolve(settled);
        };
        const settle = () => leave(true);
        const abort = () => leave(false);
        waiting.add(settle);
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort);
      });
    },
    async close() {
      closing.abort();
      clearInterval(recheck);
      await client?.end().catch(() => {});
      await listening;
    },
  };
}
