import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isConnectionLoss } from '../db/connection-loss.ts';
import { heartbeating } from './heartbeat.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Repeats what an activity asks of PostgreSQL while that is away, until the activity is cancelled or its time is over: the
 * attempts of an inference are for what goes wrong in it, and what it found need not be found again. Only for work that
 * may be done twice, since a commit may have been lost with its answer only.
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
