/** The delivery workflow: one event, one endpoint, signed, retried for 24 hours. Workflow id = delivery id. */

export const DELIVER_WEBHOOK_WORKFLOW = 'deliverWebhook';

export interface DeliverWebhookInput {
  deliveryId: string;
  /** The backoff schedule: wait in milliseconds before each attempt, 0 first, 24 h in total. Histories fix the name. */
  ladderMs: readonly number[];
  /** Where an earlier run left off. Absent: the delivery begins with its first attempt. */
  resumed?: DeliveryResumption;
  /** Length of its history at which a waiting run continues as new. Absent: the workflow's own bound. */
  eventsPerRun?: number;
}

/** The state from which a delivery continues in a new run. */
export interface DeliveryResumption {
  /** The next attempt. */
  attempt: number;
  lastAttempt: boolean;
  firstAttemptAtMs: number;
  /** Number of attempts that were sent. */
  sent: number;
  waited: DeliveryWaits;
}

/** How long an attempt has waited for its turn so far. */
export interface DeliveryWaits {
  turns: number;
  /** All turns together. */
  ms: number;
}

/** Runs on `webhooks`. */
export interface DeliveryActivities {
  /** Makes one attempt, records it with the endpoint's health in one transaction, and returns how to continue. */
  attemptDelivery(input: DeliveryAttemptInput): Promise<DeliveryAttempt>;
}

/** Runs on `webhooks`. */
export interface DeliveryEndActivities {
  /** Ends a delivery whose workflow an operator has cancelled. An ended delivery stays unchanged. */
  giveUpDelivery(input: { deliveryId: string }): Promise<void>;
}

/** From which the attempts of a delivery are planned. */
export interface DeliverySchedule {
  /** The backoff schedule, as in `DeliverWebhookInput`. */
  ladderMs: readonly number[];
  firstAttemptAtMs: number;
  /** From 0 to 1. Spreads deliveries that failed together. */
  random: number;
}

export interface DeliveryAttemptInput {
  deliveryId: string;
  attempt: number;
  lastAttempt: boolean;
  /** For planning the next attempt, if this one fails. */
  schedule: DeliverySchedule;
  /** Whether this attempt has already waited for its turn. Workers of earlier releases read this, not `waited`. */
  hasWaited: boolean;
  /** Workflows of earlier releases leave it out. */
  waited?: DeliveryWaits;
}

export interface DeliveryAttempt {
  /**
   * `stop`: the endpoint was deleted, is disabled or responded 410, or the schedule has ended.
   * `wait`: no slot is free; nothing was sent, and the same attempt comes back after `retryAfterMs`.
   */
  outcome: 'delivered' | 'retry' | 'stop' | 'wait';
  /** From the receiver's `Retry-After`, when it requested a pause; of `wait`, the time until the turn. */
  retryAfterMs: number | null;
  /** Whether the event was sent. Workers of earlier releases leave it out. */
  isSent?: boolean;
  /** Why it failed, or why nothing was sent, in the words of the delivery log. */
  reason?: string;
}
