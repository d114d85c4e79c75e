/** When to try a delivery again. Pure: the workflow decides by it, and the activity tells customers by it. */

export interface AttemptsSoFar {
  /** Waiting time before each attempt. */
  ladderMs: readonly number[];
  attemptsMade: number;
  firstAttemptAtMs: number;
  nowMs: number;
  /** The pause the receiver asked for. */
  retryAfterMs: number | null;
  /** From 0 to 1: spreads deliveries that failed together, so that they don't all return together. */
  random: number;
}

export interface NextAttempt {
  dueAtMs: number;
  lastAttempt: boolean;
}

/**
 * The next attempt: the ladder's wait from now, up to a tenth longer (for the ladder of a day, at most a minute), or
 * after the pause the receiver asked for. Never past the ladder's end; what would come there is the last attempt, and
 * the last attempt is exactly there. So attempts that took long, a long `Retry-After` or a time without workers use up
 * the ladder, and never lengthen it.
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
