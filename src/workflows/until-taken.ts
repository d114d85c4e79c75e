/** Activities that need a worker which has the model of the job, and a process free: other workers of the queue pass them on. */
import { ApplicationFailure, sleep } from '@temporalio/workflow';
import type { ErrorCode } from '../contracts/error-codes.ts';
import { isPassedOn, type PassedOn } from '../contracts/passed-on.ts';

const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 60_000;

interface Limits {
  attempts: number;
  /** Longest time until a worker takes it, from the first schedule, or from the last attempt that counted. */
  withinMs: number;
  /** Why it fails when none has. */
  failure: ErrorCode;
}

/**
 * Schedules an activity until a worker takes it that has the model, each time for the attempts and the time that are left.
 * What is passed on is no attempt. The pause before the next schedule is a quarter of the time waited so far: a job whose
 * worker is busy for long must not keep Temporal busy.
 * @throws what `schedule` throws; ApplicationFailure of the type `failure` when no worker has taken it in time
 */
export async function untilTaken<Answer>(
  { attempts, withinMs, failure }: Limits,
  schedule: (limits: { attempts: number; withinMs: number }) => Promise<Answer | PassedOn>,
): Promise<Answer> {
  let leftAttempts = attempts;
  let sinceMs = Date.now();
  for (;;) {
    const leftMs = sinceMs + withinMs - Date.now();
    if (leftMs <= 0) throw ApplicationFailure.nonRetryable('no worker that has the model took it in time', failure);
    const answer = await schedule({ attempts: leftAttempts, withinMs: leftMs });
    if (!isPassedOn(answer)) return answer;
    if (answer.usedAttempts > 0) {
      leftAttempts -= answer.usedAttempts;
      sinceMs = Date.now();
    }
    const waitedMs = Date.now() - sinceMs;
    // A worker that was busy has let the job wait already.
    await pause(answer.isBusy ? SHORTEST_PAUSE_MS : waitedMs / 4, withinMs - waitedMs);
  }
}

async function pause(wantedMs: number, leftMs: number): Promise<void> {
  const pauseMs = Math.min(Math.max(wantedMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  await sleep(Math.ceil(Math.max(1, Math.min(pauseMs, leftMs))), {
    summary: 'passed on by a worker without the model, or without a free process',
  });
}
