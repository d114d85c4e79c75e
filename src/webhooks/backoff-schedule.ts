/** When to try a delivery again. The workflow sleeps by it; the activity shows customers `next_attempt_at` by it. */
import type { DeliveryResumption, DeliverySchedule } from '../contracts/deliver-webhook.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Wait before each attempt. The first attempt is immediate, the last 24 h after it. */
export const DELIVERY_BACKOFF_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  ...Array.from({ length: 6 }, () => HOUR),
  // The remainder of the 24 h.
  24 * MINUTE + 55 * SECOND,
];

/** A test event gets one attempt: somebody waits for its outcome. */
export const TEST_EVENT_BACKOFF_MS: readonly number[] = [0];

export interface AttemptsSoFar extends DeliverySchedule {
  attemptsMade: number;
  nowMs: number;
  /** The pause requested by the receiver. */
  retryAfterMs: number | null;
}

export interface NextAttempt {
  dueAtMs: number;
  lastAttempt: boolean;
}

/**
 * Plans the next attempt: after the schedule's wait, lengthened at random by up to a tenth (at most a minute of a day's
 * schedule), or after the receiver's `Retry-After` if that is longer. An attempt due at or past the schedule's end becomes
 * the last attempt, made exactly at the end. Slow attempts, long pauses and absent workers therefore use up the schedule
 * and never lengthen it.
 */
export function planNextAttempt({
  ladderMs,
  attemptsMade,
  firstAttemptAtMs,
  nowMs,
  retryAfterMs,
  random,
}: AttemptsSoFar): NextAttempt {
  const wholeMs = ladderMs.reduce((sum, waitMs) => sum + waitMs, 0);
  const endsAtMs = firstAttemptAtMs + wholeMs;
  const waitMs = ladderMs[attemptsMade] ?? 0;
  const spreadMs = Math.round(random * Math.min(waitMs / 10, wholeMs / 1_440));
  const dueAtMs = nowMs + Math.max(waitMs, retryAfterMs ?? 0) + spreadMs;
  if (attemptsMade + 1 < ladderMs.length && dueAtMs < endsAtMs) return { dueAtMs, lastAttempt: false };
  return { dueAtMs: Math.max(endsAtMs, nowMs), lastAttempt: true };
}

export interface MadeAttempts {
  /** Number of the latest. */
  latest: number;
  sent: number;
  firstAttemptAtMs: number;
}

/** Where a delivery that lost its workflow resumes: with the attempt after the latest, at once. */
export function resumeAfter(
  { latest, sent, firstAttemptAtMs }: MadeAttempts,
  { ladderMs, nowMs }: { ladderMs: readonly number[]; nowMs: number },
): DeliveryResumption {
  const attempt = latest + 1;
  const endsAtMs = firstAttemptAtMs + ladderMs.reduce((sum, waitMs) => sum + waitMs, 0);
  const lastAttempt = attempt >= ladderMs.length || nowMs >= endsAtMs;
  return { attempt, lastAttempt, firstAttemptAtMs, sent, waited: { turns: 0, ms: 0 } };
}
