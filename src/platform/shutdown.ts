import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** For closing connections, once no work is left: whatever takes longer waits for somebody who does not respond. */
export const CLOSE_TIMEOUT_MS = 3_000;

interface Shutdown {
  /** Takes no new work, and finishes the work in progress. */
  drain: () => Promise<void>;
  drainTimeoutMs: number;
  /** Closes everything. */
  close: () => Promise<void>;
  closeTimeoutMs?: number;
}

/**
 * Shuts down once, on the first SIGTERM or SIGINT; a second signal exits at once. Ends the process with status 0, or with 1
 * when a part failed or took longer than its bound.
 */
export function onShutdown(logger: Logger, shutdown: Shutdown): void {
  const { drain, drainTimeoutMs, close, closeTimeoutMs = CLOSE_TIMEOUT_MS } = shutdown;
  let stopping = false;
  const handle = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping');
    const isDrained = await endsWithin(drainTimeoutMs, drain, logger);
    const isClosed = await endsWithin(closeTimeoutMs, close, logger);
    if (isDrained && isClosed) logger.info('stopped');
    process.exit(isDrained && isClosed ? 0 : 1);
  };
  process.on('SIGTERM', (signal) => void handle(signal));
  process.on('SIGINT', (signal) => void handle(signal));
}

/** Whether the work succeeds in time. A failure is logged. */
async function endsWithin(timeoutMs: number, work: () => Promise<void>, logger: Logger): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not done within ${timeoutMs} ms`);
  });
  try {
    await Promise.race([work(), late]);
    return true;
  } catch (err) {
    logger.error({ err }, 'stopped with an error');
    return false;
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}
