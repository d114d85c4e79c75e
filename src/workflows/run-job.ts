/** One job, from admission to its end: inference, settlement, deliveries. */

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { DELIVER_WEBHOOK_WORKFLOW, type DeliverWebhookInput, WEBHOOK_LADDER_MS } from '../contracts/deliver-webhook.ts';
import { ERRORS, type ErrorCode } from '../contracts/error-codes.ts';
import {
  type InferenceActivities,
  RUN_JOB_STAGE_QUERY,
  type RunJobInput,
  type RunJobStage,
  type Settlement,
  type SettlementActivities,
} from '../contracts/run-job.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';

export const stageQuery = defineQuery<RunJobStage>(RUN_JOB_STAGE_QUERY);

// Retried without end: a committed job must reach its end, however long PostgreSQL is away.
const { settleJob } = proxyLocalActivities<SettlementActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

export async function runJob(input: RunJobInput): Promise<Settlement> {
  let stage: RunJobStage = 'inference';
  setHandler(stageQuery, () => stage);
  setCurrentDetails(`On task queue **${input.inferenceTaskQueue}**: waiting for a worker, or at work.`);
  const failure = await infer(input);

  stage = 'settlement';
  setCurrentDetails('Settling: result, credits and event in one transaction.');
  // A cancelled workflow must settle too, or the hold would stay.
  const settlement = await CancellationScope.nonCancellable(() => settleJob({ jobId: input.jobId, failure }));
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.jobStatus, value: settlement.status }]);

  stage = 'ended';
  setCurrentDetails(`Ended **${settlement.status}**, ${settlement.chargedCredits} credits charged.`);
  await CancellationScope.nonCancellable(() => startDeliveries(settlement.deliveryIds));
  return settlement;
}

/** Runs the inference. Answers why it left no outcome, or null when it did or when the job had ended before. */
async function infer({ jobId, ...run }: RunJobInput): Promise<ErrorCode | null> {
  const { runInference } = proxyActivities<InferenceActivities>({
    taskQueue: run.inferenceTaskQueue,
    summary: `${run.endpoint} on ${run.inferenceTaskQueue}`,
    // Time in the queue: a job that nobody picks up within it expires.
    scheduleToStartTimeout: run.expiryMs,
    startToCloseTimeout: run.inferenceTimeoutMs,
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: run.inferenceAttempts },
  });
  try {
    await runInference({ jobId, attempts: run.inferenceAttempts });
    return null;
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): ErrorCode {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    if (cause.timeoutType === 'SCHEDULE_TO_START') return 'job_expired';
    if (cause.timeoutType === 'START_TO_CLOSE') return 'inference_timeout';
  }
  if (cause instanceof ApplicationFailure && typeof cause.type === 'string' && cause.type in ERRORS)
    return cause.type as ErrorCode;
  return 'model_inference_failed';
}

/** Deliveries outlive the job's workflow: they go on for up to 24 hours. */
async function startDeliveries(deliveryIds: readonly string[]): Promise<void> {
  await Promise.all(
    deliveryIds.map((deliveryId) =>
      startDelivery(deliveryId).catch((error: unknown) => {
        // The sweeper came first.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }),
    ),
  );
}

async function startDelivery(deliveryId: string): Promise<void> {
  const input: DeliverWebhookInput = { deliveryId, ladderMs: WEBHOOK_LADDER_MS };
  await startChild(DELIVER_WEBHOOK_WORKFLOW, {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [input],
    staticSummary: `Webhook delivery ${deliveryId}`,
  });
}
