/** The delivery workflow: one event, one endpoint, signed, retried for 24 hours. Workflow id = delivery id. */

import type { AttemptsSoFar } from './delivery-schedule.ts';

export const DELIVER_WEBHOOK_WORKFLOW = 'deliverWebhook';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waiting time before each attempt. The first is at once, the last 24 h after it. */
export const WEBHOOK_LADDER_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  ...Array.from({ length: 6 }, () => HOUR),
  // What is left of the 24 h.
  24 * MINUTE + 55 * SECOND,
];

/** Of a test event, which somebody waits for: one attempt. */
export const TEST_EVENT_LADDER_MS: readonly number[] = [0];

export interface DeliverWebhookInput {
  deliveryId: string;
  /** Waiting time in milliseconds before each attempt; the first is 0 and the sum is 24 h. */
  ladderMs: readonly number[];
}

/** Runs on `webhooks`. */
export interface DeliveryActivities {
  /** Makes one attempt, records it and the endpoint's health in one transaction, and says how to go on. */
  attemptDelivery(input: DeliveryAttemptInput): Promise<DeliveryAttempt>;
}

/** Runs on `webhooks` too. */
export interface DeliveryEndActivities {
  /** Ends a delivery whose workflow an operator has cancelled. One that has ended stays as it is. */
  giveUpDelivery(input: { deliveryId: string }): Promise<void>;
}

export interface DeliveryAttemptInput {
  deliveryId: string;
  attempt: number;
  lastAttempt: boolean;
  /** From what the next attempt is planned, should this one fail. */
  schedule: Pick<AttemptsSoFar, 'ladderMs' | 'firstAttemptAtMs' | 'random'>;
  /** Whether this attempt has waited for its turn before. */
  hasWaited: boolean;
}

export interface DeliveryAttempt {
  /**
   * `stop`: the endpoint is gone, disabled or answered 410, or the ladder has ended.
   * `wait`: the endpoint has no place free; nothing was sent, and the same attempt comes back after `retryAfterMs`.
   */
  outcome: 'delivered' | 'retry' | 'stop' | 'wait';
  /** From the receiver's `Retry-After`, when it asked for a longer pause than the ladder's. */
  retryAfterMs: number | null;
  /** Whether the event was sent. Absent from what workers of earlier releases answered; they said nothing of it. */
  isSent?: boolean;
  /** Why it failed, or why nothing was sent, in the words that the attempt log shows. */
  reason?: string;
}
