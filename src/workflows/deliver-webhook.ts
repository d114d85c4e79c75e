/** One delivery: an event to a webhook endpoint, tried again along the ladder until it is answered or the ladder ends. */
import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  CancellationScope,
  defineQuery,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type {
  DeliverWebhookInput,
  DeliveryActivities,
  DeliveryAttempt,
  DeliveryAttemptInput,
  DeliveryEndActivities,
} from '../contracts/deliver-webhook.ts';
import { planNextAttempt } from '../contracts/delivery-schedule.ts';

export interface DeliveryProgress {
  /** The attempt that is under way, is waited for, or was the last; some may have been left out. */
  attempt: number;
  /** How many there can be. */
  attempts: number;
  /** How many were sent. */
  sent: number;
  state: 'attempting' | 'waiting' | 'delivered' | 'stopped';
  /** ISO 8601; only while waiting. */
  nextAttemptAt: string | null;
}

export const deliveryProgressQuery = defineQuery<DeliveryProgress>('status');

// A receiver that fails is an outcome, not an error; these retries are for a lost worker or an absent PostgreSQL.
const OPTIONS = {
  // The exchange itself has 10 seconds; the rest is for PostgreSQL.
  startToCloseTimeout: '20 seconds',
  // An attempt under way comes to its end: the receiver may have had it.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '10 minutes' },
} as const satisfies ActivityOptions;
// Few, because each may send the event again; then the ladder goes on.
const onRung = proxyActivities<DeliveryActivities>({ ...OPTIONS, retry: { ...OPTIONS.retry, maximumAttempts: 4 } });
// No rung follows the last attempt, and its outcome must be recorded: a delivery may not stay pending for ever.
const atTheEnd = proxyActivities<DeliveryActivities & DeliveryEndActivities>(OPTIONS);

export async function deliverWebhook({ deliveryId, ladderMs }: DeliverWebhookInput): Promise<DeliveryProgress> {
  const attempts = ladderMs.length;
  let progress: DeliveryProgress = { attempt: 1, attempts, sent: 0, state: 'attempting', nextAttemptAt: null };
  setHandler(deliveryProgressQuery, () => progress);

  try {
    return await climb();
  } catch (error) {
    if (!isCancellation(error) || !CancellationScope.current().consideredCancelled) throw error;
    // By an operator. A delivery that nobody goes on with may not stay pending.
    progress = { ...progress, state: 'stopped', nextAttemptAt: null };
    setCurrentDetails('Ended **stopped**: its workflow was cancelled.');
    await CancellationScope.nonCancellable(() => atTheEnd.giveUpDelivery({ deliveryId }));
    throw error;
  }

  async function climb(): Promise<DeliveryProgress> {
    const firstAttemptAtMs = Date.now();
    let lastAttempt = ladderMs.length <= 1;
    for (let attempt = 1; ; attempt += 1) {
      const schedule = { ladderMs, firstAttemptAtMs, random: Math.random() };
      const result = await makeAttemptInTurn({ deliveryId, attempt, lastAttempt, schedule });
      const { outcome, retryAfterMs, isSent = true } = result;
      if (isSent) progress = { ...progress, sent: progress.sent + 1 };
      if (outcome === 'delivered' || outcome === 'stop' || lastAttempt) {
        const state = outcome === 'delivered' ? 'delivered' : 'stopped';
        progress = { ...progress, state, nextAttemptAt: null };
        setCurrentDetails(`Ended **${state}**. ${tell(attempt, result)}`);
        return progress;
      }
      const nowMs = Date.now();
      const next = planNextAttempt({ ...schedule, attemptsMade: attempt, nowMs, retryAfterMs });
      await waitUntil(next.dueAtMs, attempt + 1, tell(attempt, result));
      lastAttempt = next.lastAttempt;
    }
  }

  function tell(attempt: number, { outcome, isSent = true, isRecorded = true, reason }: AttemptResult): string {
    const why = reason === undefined ? '' : `: ${reason}`;
    if (!isRecorded) return `Attempt ${attempt} of ${attempts} could not be recorded${why}.`;
    if (!isSent) return `Attempt ${attempt} of ${attempts} was left out${why}.`;
    return `Attempt ${attempt} of ${attempts} ${outcome === 'delivered' ? 'was answered' : 'failed'}${why}.`;
  }

  /** Makes an attempt, as soon as its endpoint has a place for it. */
  async function makeAttemptInTurn(input: Omit<DeliveryAttemptInput, 'hasWaited'>): Promise<AttemptResult> {
    const { attempt } = input;
    for (let hasWaited = false; ; hasWaited = true) {
      progress = { ...progress, attempt, state: 'attempting', nextAttemptAt: null };
      setCurrentDetails(`Attempt ${attempt} of ${attempts} is under way.`);
      const result = await makeAttempt({ ...input, hasWaited });
      if (result.outcome !== 'wait') return result;
      const turnAtMs = Date.now() + (result.retryAfterMs ?? 0);
      await waitUntil(
        turnAtMs,
        attempt,
        `Attempt ${attempt} of ${attempts} waits for its turn: the endpoint has its hands full.`,
      );
    }
  }

  async function waitUntil(dueAtMs: number, attempt: number, why: string): Promise<void> {
    const nextAttemptAt = new Date(dueAtMs).toISOString();
    progress = { ...progress, state: 'waiting', nextAttemptAt };
    setCurrentDetails(`${why} Next attempt at **${nextAttemptAt}**.`);
    await sleep(dueAtMs - Date.now(), { summary: `until attempt ${attempt} at ${nextAttemptAt}` });
  }
}

type AttemptResult = DeliveryAttempt & { isRecorded?: boolean };

async function makeAttempt(input: DeliveryAttemptInput): Promise<AttemptResult> {
  const { attempt, lastAttempt, schedule } = input;
  const { attemptDelivery } = lastAttempt ? atTheEnd : onRung;
  const summary = `attempt ${attempt} of ${schedule.ladderMs.length}${lastAttempt ? ', the last' : ''}`;
  try {
    return await attemptDelivery.executeWithOptions({ summary }, [input]);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // The service's own trouble outlasted the retries. It costs this rung of the ladder and no more.
    const reason = 'the webhook workers or PostgreSQL were away';
    return { outcome: 'retry', retryAfterMs: null, isSent: false, isRecorded: false, reason };
  }
}
