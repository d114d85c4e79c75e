/** One delivery: an event to a webhook endpoint, tried again along the ladder until it is answered or the ladder ends. */
import {
  ActivityFailure,
  type ActivityOptions,
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
} from '../contracts/deliver-webhook.ts';
import { planNextAttempt } from '../contracts/delivery-schedule.ts';

export interface DeliveryProgress {
  /** The attempt that is under way or was made last. */
  attempt: number;
  /** How many there can be. */
  attempts: number;
  state: 'attempting' | 'waiting' | 'delivered' | 'stopped';
  /** ISO 8601; only while waiting. */
  nextAttemptAt: string | null;
}

export const deliveryProgressQuery = defineQuery<DeliveryProgress>('status');

// A receiver that fails is an outcome, not an error; these retries are for a lost worker or an absent PostgreSQL.
const OPTIONS = {
  // The exchange itself has 10 seconds; the rest is for PostgreSQL.
  startToCloseTimeout: '20 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '10 minutes' },
} as const satisfies ActivityOptions;
// Few, because each may send the event again; then the ladder goes on.
const onRung = proxyActivities<DeliveryActivities>({ ...OPTIONS, retry: { ...OPTIONS.retry, maximumAttempts: 4 } });
// No rung follows the last attempt, and its outcome must be recorded: a delivery may not stay pending for ever.
const atTheEnd = proxyActivities<DeliveryActivities>(OPTIONS);

export async function deliverWebhook({ deliveryId, ladderMs }: DeliverWebhookInput): Promise<DeliveryProgress> {
  let progress: DeliveryProgress = { attempt: 1, attempts: ladderMs.length, state: 'attempting', nextAttemptAt: null };
  setHandler(deliveryProgressQuery, () => progress);

  const firstAttemptAtMs = Date.now();
  let lastAttempt = ladderMs.length <= 1;
  for (let attempt = 1; ; attempt += 1) {
    const schedule = { ladderMs, firstAttemptAtMs, random: Math.random() };
    const { outcome, retryAfterMs } = await makeAttemptInTurn({ deliveryId, attempt, lastAttempt, schedule });
    if (outcome !== 'retry' || lastAttempt) {
      progress = { ...progress, state: outcome === 'delivered' ? 'delivered' : 'stopped', nextAttemptAt: null };
      setCurrentDetails(`Ended **${progress.state}** by attempt ${attempt} of ${ladderMs.length}.`);
      return progress;
    }
    const nowMs = Date.now();
    const next = planNextAttempt({ ...schedule, attemptsMade: attempt, nowMs, retryAfterMs });
    await waitUntil(next.dueAtMs, attempt + 1, `Attempt ${attempt} of ${ladderMs.length} failed.`);
    lastAttempt = next.lastAttempt;
  }

  /** Makes an attempt, as soon as its endpoint has a place for it. */
  async function makeAttemptInTurn(input: Omit<DeliveryAttemptInput, 'hasWaited'>): Promise<DeliveryAttempt> {
    const { attempt } = input;
    for (let hasWaited = false; ; hasWaited = true) {
      progress = { attempt, attempts: ladderMs.length, state: 'attempting', nextAttemptAt: null };
      setCurrentDetails(`Attempt ${attempt} of ${ladderMs.length} is under way.`);
      const result = await makeAttempt({ ...input, hasWaited });
      if (result.outcome !== 'wait') return result;
      await waitUntil(Date.now() + (result.retryAfterMs ?? 0), attempt, 'The endpoint has its hands full.');
    }
  }

  async function waitUntil(dueAtMs: number, attempt: number, why: string): Promise<void> {
    const nextAttemptAt = new Date(dueAtMs).toISOString();
    progress = { ...progress, state: 'waiting', nextAttemptAt };
    setCurrentDetails(`${why} Next attempt at **${nextAttemptAt}**.`);
    await sleep(dueAtMs - Date.now(), { summary: `until attempt ${attempt} at ${nextAttemptAt}` });
  }
}

async function makeAttempt(input: DeliveryAttemptInput): Promise<DeliveryAttempt> {
  const { attempt, lastAttempt, schedule } = input;
  const { attemptDelivery } = lastAttempt ? atTheEnd : onRung;
  const summary = `attempt ${attempt} of ${schedule.ladderMs.length}${lastAttempt ? ', the last' : ''}`;
  try {
    return await attemptDelivery.executeWithOptions({ summary }, [input]);
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // The service's own trouble outlasted the retries. It costs this rung of the ladder and no more.
    return { outcome: 'retry', retryAfterMs: null };
  }
}
