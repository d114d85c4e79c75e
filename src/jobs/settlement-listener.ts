import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { CONNECT_TIMEOUT_MS, REPLY_GRACE_MS } from '../platform/database/timeouts.ts';

const RECONNECT_DELAY_MS = 500;

/** Bounds the delay of a settlement whose notification was lost with its connection. */
const RECHECK_INTERVAL_MS = 5_000;

/** Wakes requests that wait for jobs to end, through one `LISTEN` connection per process. */
export interface SettlementListener {
  /**
   * Resolves with true when the job settles, or may have settled unnoticed; the caller then reads the job. Resolves with
   * false when the signal aborts.
   */
  settled(jobId: string, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** Starts to listen. Reconnects while PostgreSQL is away, and wakes every waiter after each new connection. */
export function listenForSettlements(
  databaseUrl: string,
  logger: Logger,
  { recheckIntervalMs = RECHECK_INTERVAL_MS } = {},
): SettlementListener {
  const waiters = new Map<string, Set<() => void>>();
  const closing = new AbortController();
  let current: pg.Client | undefined;

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
      const connection = new pg.Client({
        connectionString: databaseUrl,
        keepAlive: true,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        query_timeout: REPLY_GRACE_MS,
      });
      current = connection;
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
        wakeAll();
        await ended;
      } catch (err) {
        logger.warn({ err }, 'settlement listener cannot connect');
      }
      disconnect(connection);
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
      if (current) disconnect(current);
      await listening;
    },
  };
}

/** Sends no Terminate message: a server that hangs would never close, and a listener has nothing to lose. */
function disconnect({ connection }: pg.Client): void {
  connection.stream.destroy();
}
