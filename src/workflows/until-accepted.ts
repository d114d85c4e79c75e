/** Schedules activities that workers hand back: those that lack the job's model, or have no free process for it. */
import { ApplicationFailure, sleep } from '@temporalio/workflow';
import type { ErrorCode } from '../contracts/error-codes.ts';
import { type HandedBack, isHandedBack } from '../contracts/handed-back.ts';

const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 60_000;

interface Limits {
  attempts: number;
  /** Longest time until a worker takes it, since the first schedule or the last attempt that counted. */
  withinMs: number;
  /** Failure when no worker takes it in time. */
  failure: ErrorCode;
}

/**
 * Schedules an activity until a worker with the model takes it, each time with the remaining attempts and time. Handing it
 * back uses no attempt. The pause before the next schedule is a quarter of the time waited so far, so that a long wait does
 * not load Temporal.
 * @throws what `schedule` throws; ApplicationFailure of the type `failure` when no worker has taken it in time
 */
export async function scheduleUntilAccepted<Answer>(
  { attempts, withinMs, failure }: Limits,
  schedule: (limits: { attempts: number; withinMs: number }) => Promise<Answer | HandedBack>,
): Promise<Answer> {
  let leftAttempts = attempts;
  let sinceMs = Date.now();
  for (;;) {
    const leftMs = sinceMs + withinMs - Date.now();
    if (leftMs <= 0) throw ApplicationFailure.nonRetryable('no worker that has the model took it in time', failure);
    const answer = await schedule({ attempts: leftAttempts, withinMs: leftMs });
    if (!isHandedBack(answer)) return answer;
    if (answer.usedAttempts > 0) {
      leftAttempts -= answer.usedAttempts;
      sinceMs = Date.now();
    }
    const waitedMs = Date.now() - sinceMs;
    // A busy worker has already let the job wait.
    await pause(answer.isBusy ? SHORTEST_PAUSE_MS : waitedMs / 4, withinMs - waitedMs);
  }
}

async function pause(wantedMs: number, leftMs: number): Promise<void> {
  const pauseMs = Math.min(Math.max(wantedMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  await sleep(Math.ceil(Math.max(1, Math.min(pauseMs, leftMs))), {
    summary: 'handed back by a worker without the model, or without a free process',
  });
}
