/** Delivers one event to one webhook endpoint, retrying on the backoff schedule until it succeeds or the schedule ends. */
import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  CancellationScope,
  continueAsNew,
  defineQuery,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  DeliverWebhookInput,
  DeliveryActivities,
  DeliveryAttempt,
  DeliveryAttemptInput,
  DeliveryEndActivities,
  DeliveryResumption,
  DeliveryWaits,
} from '../contracts/deliver-webhook.ts';
import { planNextAttempt } from '../webhooks/backoff-schedule.ts';

export interface DeliveryProgress {
  /** Number of the current, next or last attempt. Skipped attempts count. */
  attempt: number;
  /** Number of attempts in the schedule. */
  attempts: number;
  /** Number of attempts that were sent. */
  sent: number;
  state: 'attempting' | 'waiting' | 'delivered' | 'stopped';
  /** ISO 8601; only while waiting. */
  nextAttemptAt: string | null;
}

export const deliveryProgressQuery = defineQuery<DeliveryProgress>('status');

// A failing receiver is a result, not an error. These retries cover a lost worker or an unavailable PostgreSQL.
const OPTIONS = {
  // 10 seconds for the exchange, the rest for PostgreSQL.
  startToCloseTimeout: '20 seconds',
  // An attempt in flight finishes: the receiver may already have it.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '10 minutes' },
} as const satisfies ActivityOptions;
// Few retries, because each may send the event again; the schedule then goes on.
const onStep = proxyActivities<DeliveryActivities>({ ...OPTIONS, retry: { ...OPTIONS.retry, maximumAttempts: 4 } });
// No attempt follows the last one, so its outcome must be recorded: a delivery must not stay pending for ever.
const atTheEnd = proxyActivities<DeliveryActivities & DeliveryEndActivities>(OPTIONS);

/**
 * A wait takes eleven events and an attempt at most 70 waits, so a delivery that waits before all of its attempts continues
 * as new several times. Far below the limits of Temporal, so that replays stay quick.
 */
const EVENTS_PER_RUN = 1_000;
const CONTINUES_AS_NEW = 'waits-continue-as-new';

export async function deliverWebhook(input: DeliverWebhookInput): Promise<DeliveryProgress> {
  const { deliveryId, ladderMs, resumed, eventsPerRun = EVENTS_PER_RUN } = input;
  const attempts = ladderMs.length;
  let progress: DeliveryProgress = {
    attempt: resumed?.attempt ?? 1,
    attempts,
    sent: resumed?.sent ?? 0,
    state: 'attempting',
    nextAttemptAt: null,
  };
  setHandler(deliveryProgressQuery, () => progress);

  try {
    return await deliver();
  } catch (error) {
    if (!isCancellation(error) || !CancellationScope.current().consideredCancelled) throw error;
    // Cancelled by an operator. Without a workflow, the delivery must not stay pending.
    progress = { ...progress, state: 'stopped', nextAttemptAt: null };
    setCurrentDetails('**Stopped**: the workflow was cancelled.');
    await CancellationScope.nonCancellable(() => atTheEnd.giveUpDelivery({ deliveryId }));
    throw error;
  }

  async function deliver(): Promise<DeliveryProgress> {
    const firstAttemptAtMs = resumed?.firstAttemptAtMs ?? Date.now();
    let lastAttempt = resumed?.lastAttempt ?? ladderMs.length <= 1;
    let waited = resumed?.waited ?? NO_WAITS;
    for (let attempt = resumed?.attempt ?? 1; ; attempt += 1) {
      const schedule = { ladderMs, firstAttemptAtMs, random: Math.random() };
      const result = await makeAttemptInTurn({ deliveryId, attempt, lastAttempt, schedule }, waited);
      waited = NO_WAITS;
      const { outcome, retryAfterMs, isSent = true } = result;
      if (isSent) progress = { ...progress, sent: progress.sent + 1 };
      if (outcome === 'delivered' || outcome === 'stop' || lastAttempt) {
        const state = outcome === 'delivered' ? 'delivered' : 'stopped';
        progress = { ...progress, state, nextAttemptAt: null };
        setCurrentDetails(`**${state === 'delivered' ? 'Delivered' : 'Stopped'}**. ${describe(attempt, result)}`);
        return progress;
      }
      const nowMs = Date.now();
      const next = planNextAttempt({ ...schedule, attemptsMade: attempt, nowMs, retryAfterMs });
      await waitUntil(next.dueAtMs, attempt + 1, describe(attempt, result));
      lastAttempt = next.lastAttempt;
    }
  }

  function describe(attempt: number, { outcome, isSent = true, isRecorded = true, reason }: AttemptResult): string {
    const why = reason === undefined ? '' : `: ${reason}`;
    if (!isRecorded) return `Attempt ${attempt} of ${attempts} could not be recorded${why}.`;
    if (!isSent) return `Attempt ${attempt} of ${attempts} was skipped${why}.`;
    return `Attempt ${attempt} of ${attempts} ${outcome === 'delivered' ? 'succeeded' : 'failed'}${why}.`;
  }

  /** Makes an attempt as soon as the worker has a free slot for it. */
  async function makeAttemptInTurn(
    input: Omit<DeliveryAttemptInput, 'hasWaited' | 'waited'>,
    waitedBefore: DeliveryWaits,
  ): Promise<AttemptResult> {
    const { attempt, lastAttempt, schedule } = input;
    for (let waited = waitedBefore; ; ) {
      progress = { ...progress, attempt, state: 'attempting', nextAttemptAt: null };
      setCurrentDetails(`Attempt ${attempt} of ${attempts} is in flight.`);
      const result = await makeAttempt({ ...input, hasWaited: waited.turns > 0, waited });
      if (result.outcome !== 'wait') return result;
      const beganAtMs = Date.now();
      await waitUntil(
        beganAtMs + (result.retryAfterMs ?? 0),
        attempt,
        `Attempt ${attempt} of ${attempts} waits for its turn: the endpoint or its organisation is at its concurrency limit.`,
      );
      waited = { turns: waited.turns + 1, ms: waited.ms + Date.now() - beganAtMs };
      const { firstAttemptAtMs } = schedule;
      await continueWhenLong({ attempt, lastAttempt, firstAttemptAtMs, sent: progress.sent, waited });
    }
  }

  async function continueWhenLong(state: DeliveryResumption): Promise<void> {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength <= eventsPerRun && !continueAsNewSuggested) return;
    if (patched(CONTINUES_AS_NEW)) await continueAsNew<typeof deliverWebhook>({ ...input, resumed: state });
  }

  async function waitUntil(dueAtMs: number, attempt: number, why: string): Promise<void> {
    const nextAttemptAt = new Date(dueAtMs).toISOString();
    progress = { ...progress, state: 'waiting', nextAttemptAt };
    setCurrentDetails(`${why} Next attempt at **${nextAttemptAt}**.`);
    await sleep(dueAtMs - Date.now(), { summary: `until attempt ${attempt} at ${nextAttemptAt}` });
  }
}

const NO_WAITS: DeliveryWaits = { turns: 0, ms: 0 };

type AttemptResult = DeliveryAttempt & { isRecorded?: boolean };

async function makeAttempt(input: DeliveryAttemptInput): Promise<AttemptResult> {
  const { attempt, lastAttempt, schedule } = input;
  const { attemptDelivery } = lastAttempt ? atTheEnd : onStep;
  const summary = `attempt ${attempt} of ${schedule.ladderMs.length}${lastAttempt ? ', the last' : ''}`;
  try {
    return await attemptDelivery.executeWithOptions({ summary }, [input]);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // The service's own fault outlasted the retries; it costs this one attempt.
    const reason = 'the webhook workers or PostgreSQL were unavailable';
    return { outcome: 'retry', retryAfterMs: null, isSent: false, isRecorded: false, reason };
  }
}
