/** Rules of one delivery attempt: whether it may be sent, how long it waits for its turn, when the next one is due. */
import type { DeliveryAttempt, DeliveryAttemptInput } from '../contracts/deliver-webhook.ts';
import { planNextAttempt } from './backoff-schedule.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** An attempt waits for its turn until the next one would be due, within these bounds. */
const PATIENCE_MS = { shortest: 5 * 60_000, longest: 60 * 60_000 };

/** Customers read it in the delivery log, operators in Temporal Web. */
export const NO_SLOT_REASON = 'too many other deliveries were waiting';

/** How the workflow continues, by the delivery's status after the attempt. */
export const OUTCOME_BY_STATUS = {
  pending: 'retry',
  delivered: 'delivered',
  failed: 'stop',
} as const satisfies Record<DeliveryStatus, DeliveryAttempt['outcome']>;

interface Owned {
  organizationId: string;
  livemode: boolean;
  isStaging: boolean;
}

/** Why nothing may be sent to the endpoint, in words for operators; null when the event may be sent. */
export function findSkipReason(event: Owned, endpoint: Owned & { status: 'enabled' | 'disabled' }): string | null {
  const isOwn =
    event.organizationId === endpoint.organizationId &&
    event.livemode === endpoint.livemode &&
    event.isStaging === endpoint.isStaging;
  if (!isOwn) return 'the endpoint belongs to another organisation or mode';
  return endpoint.status === 'disabled' ? 'the endpoint is disabled' : null;
}

/** When the workflow makes the next attempt, by this worker's clock. */
export function nextAttemptAt(
  { schedule, attempt }: DeliveryAttemptInput,
  now: Date,
  retryAfterMs: number | null,
): Date {
  const plan = planNextAttempt({ ...schedule, attemptsMade: attempt, nowMs: now.getTime(), retryAfterMs });
  return new Date(plan.dueAtMs);
}

/** How much longer an attempt may wait for its turn: its waits count in sum. Negative when it has waited too long. */
export function remainingPatienceMs(input: DeliveryAttemptInput, now: Date): number {
  return patienceMs(input, now) - (input.waited?.ms ?? 0);
}

/** How often an attempt has waited for its turn. */
export function waitsOf({ waited, hasWaited }: DeliveryAttemptInput): number {
  return waited?.turns ?? (hasWaited ? 1 : 0);
}

/** How long an attempt may wait in sum. The last attempt has no successor and waits longest. */
function patienceMs(input: DeliveryAttemptInput, now: Date): number {
  if (input.lastAttempt) return PATIENCE_MS.longest;
  const untilNextMs = nextAttemptAt(input, now, null).getTime() - now.getTime();
  return Math.min(Math.max(untilNextMs, PATIENCE_MS.shortest), PATIENCE_MS.longest);
}

/**
 * The pause after an attempt that was skipped for want of a slot: long enough for others to have had their turns, and
 * spread by `random` (0 to 1) so that skipped deliveries do not come back together.
 */
export function pauseAfterSkipMs(input: DeliveryAttemptInput, now: Date, random: number): number {
  return Math.round(patienceMs(input, now) * (1 + random));
}
