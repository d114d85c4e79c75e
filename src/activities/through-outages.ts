import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isConnectionLoss } from '../platform/database/connection-loss.ts';
import { heartbeating } from './heartbeat.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Repeats an activity's database work while PostgreSQL is away, until the activity is cancelled or times out. An outage
 * thus uses up no attempt of the inference, and no result is computed twice. Only for idempotent work: when the connection
 * breaks, the commit may have succeeded.
 */
export async function throughOutages<Result>(
  work: () => Promise<Result>,
  pause: (pauseMs: number, signal: AbortSignal) => Promise<unknown> = (pauseMs, signal) =>
    delay(pauseMs, undefined, { signal }),
): Promise<Result> {
  const signal = Context.current().cancellationSignal;
  return heartbeating(async () => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
      }
      await pause(pauseMs, signal).catch(() => {});
      signal.throwIfAborted();
    }
  });
}
