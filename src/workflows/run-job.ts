/** One job, from admission to its end: inference in one step or in stages, settlement, deliveries. */

import { type SearchAttributePair, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ContinueAsNew,
  defineQuery,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { DELIVER_WEBHOOK_WORKFLOW, type DeliverWebhookInput, WEBHOOK_LADDER_MS } from '../contracts/deliver-webhook.ts';
import type { ErrorCode } from '../contracts/error-codes.ts';
import {
  type InferenceActivities,
  RUN_JOB_STATUS_QUERY,
  type RunJobInput,
  type RunJobStatus,
  type Settlement,
  type SettlementActivities,
} from '../contracts/run-job.ts';
import type { StageProgress } from '../contracts/run-stages.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { failureOf, isOfLostWorker } from './failure-of.ts';
import { runRemotely, withdraw } from './run-remotely.ts';
import { endDetailsOf, epochSeconds, forgetStages, runStages } from './run-stages.ts';
import { endedProgress } from './stage-schedule.ts';
import { untilTaken } from './until-taken.ts';

export const statusQuery = defineQuery<RunJobStatus>(RUN_JOB_STATUS_QUERY);

// Retried without end: a committed job must reach its end, however long PostgreSQL is away.
const { settleJob } = proxyLocalActivities<SettlementActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

export async function runJob(input: RunJobInput): Promise<Settlement> {
  const status: RunJobStatus = { step: 'inference', stages: [] };
  setHandler(statusQuery, () => status);
  setCurrentDetails(`On task queue **${input.inferenceTaskQueue}**: waiting for a worker, or at work.`);
  const end = await infer(input, status);
  const settlement = 'status' in end ? end : await settle(input, status, end.failure);
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.jobStatus, value: settlement.status }]);

  const { stages } = status;
  status.step = 'ended';
  status.stages = endedProgress(stages, settlement, epochSeconds());
  setCurrentDetails(endOf(settlement, stages, 'lostAttempts' in end ? end.lostAttempts : 0));
  if (settlement.deliveryIds.length > 0) await startDeliveries(input.jobId, settlement.deliveryIds);
  if (stages.length > 0) await forgetStages(input.jobId, stages);
  if (status.isRemote && 'failure' in end && end.failure !== null) await withdraw(input);
  return settlement;
}

function endOf(
  { status, chargedCredits, error }: Settlement,
  stages: readonly StageProgress[],
  lostAttempts: number,
): string {
  const why = error === undefined ? '' : ` (${error})`;
  const lost =
    lostAttempts === 0 || error === undefined
      ? ''
      : ` Its worker was lost: no heartbeat in attempt ${lostAttempts} of ${lostAttempts}.`;
  const end = `Ended **${status}**${why}, ${chargedCredits} credits charged.${lost}`;
  return stages.length === 0 ? end : [end, '', ...endDetailsOf(stages, chargedCredits)].join('\n');
}

/** A cancelled workflow settles too, or the hold would stay. */
function settle({ jobId }: RunJobInput, status: RunJobStatus, failure: ErrorCode | null): Promise<Settlement> {
  status.step = 'settlement';
  setCurrentDetails('Settling: result, credits and event in one transaction.');
  return CancellationScope.nonCancellable(() => settleJob({ jobId, failure }));
}

/**
 * The settlement that the inference made itself; or why it left no outcome, null when it did or the job had ended. With
 * `lostAttempts`, after how many attempts the worker of the last was lost.
 */
type InferenceEnd = Settlement | { failure: ErrorCode | null; lostAttempts?: number };

async function infer(input: RunJobInput, status: RunJobStatus): Promise<InferenceEnd> {
  try {
    const answer = input.resumed?.plan ?? (await pickUp(input));
    if (typeof answer === 'string') return { failure: null };
    if ('status' in answer) return answer;
    if ('isRemote' in answer) {
      status.isRemote = true;
      await runRemotely(input, answer);
    } else {
      await runStages(input, answer, (stages) => {
        status.stages = stages;
      });
    }
    return { failure: null };
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    // Of this workflow: by an operator, or by the customer, whose cancellation has then ended the job already.
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) return { failure: 'job_stopped' };
    return { failure: failureOf(error), ...(isOfLostWorker(error) && { lostAttempts: input.inferenceAttempts }) };
  }
}

/** Waits for a worker. It runs a job of one step whole, settles it, and answers the plan of a bundle. */
function pickUp({ jobId, ...run }: RunJobInput) {
  // Time in the queue: a job that nobody picks up within it expires.
  const limits = { attempts: run.inferenceAttempts, withinMs: run.expiryMs, failure: 'job_expired' } as const;
  return untilTaken(limits, ({ attempts, withinMs }) => {
    const { runInference } = proxyActivities<InferenceActivities>({
      taskQueue: run.inferenceTaskQueue,
      summary: `${run.endpoint} on ${run.inferenceTaskQueue}`,
      scheduleToStartTimeout: withinMs,
      startToCloseTimeout: run.inferenceTimeoutMs,
      heartbeatTimeout: '10 seconds',
      retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: attempts },
    });
    return runInference({ jobId, attempts, settles: true, mayPassOn: true });
  });
}

/** Deliveries outlive the job's workflow: they go on for up to 24 hours. */
function startDeliveries(jobId: string, deliveryIds: readonly string[]): Promise<unknown> {
  return CancellationScope.nonCancellable(() =>
    Promise.all(
      deliveryIds.map((deliveryId) =>
        startDelivery(jobId, deliveryId).catch((error: unknown) => {
          // The sweeper came first.
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        }),
      ),
    ),
  );
}

async function startDelivery(jobId: string, deliveryId: string): Promise<void> {
  const input: DeliverWebhookInput = { deliveryId, ladderMs: WEBHOOK_LADDER_MS };
  await startChild(DELIVER_WEBHOOK_WORKFLOW, {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [input],
    staticSummary: `Webhook delivery ${deliveryId}`,
    staticDetails: `Tells of the end of job \`${jobId}\`.`,
    typedSearchAttributes: ownersAttributes(),
  });
}

/** Whose delivery it is, as it stands on the job's workflow; one that a test started may have none. */
function ownersAttributes(): SearchAttributePair[] {
  const { typedSearchAttributes } = workflowInfo();
  const { organizationId, livemode } = SEARCH_ATTRIBUTES;
  return typedSearchAttributes
    .getAll()
    .filter(({ key }) => key.name === organizationId.name || key.name === livemode.name);
}
