/** One job, from admission to its end: inference in one step or in stages, settlement, deliveries. */

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ContinueAsNew,
  defineQuery,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  upsertSearchAttributes,
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
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { failureOf } from './failure-of.ts';
import { forgetStages, runStages } from './run-stages.ts';

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
  const failure = await infer(input, status);

  status.step = 'settlement';
  setCurrentDetails('Settling: result, credits and event in one transaction.');
  // A cancelled workflow must settle too, or the hold would stay.
  const settlement = await CancellationScope.nonCancellable(() => settleJob({ jobId: input.jobId, failure }));
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.jobStatus, value: settlement.status }]);

  status.step = 'ended';
  setCurrentDetails(`Ended **${settlement.status}**, ${settlement.chargedCredits} credits charged.`);
  await CancellationScope.nonCancellable(() => startDeliveries(settlement.deliveryIds));
  if (status.stages.length > 0) await forgetStages(input.jobId);
  return settlement;
}

/** Runs the inference. Answers why it left no outcome, or null when it did or when the job had ended before. */
async function infer(input: RunJobInput, status: RunJobStatus): Promise<ErrorCode | null> {
  try {
    const plan = input.resumed?.plan ?? (await pickUp(input));
    if (typeof plan === 'object') {
      await runStages(input, plan, (stages) => {
        status.stages = stages;
      });
    }
    return null;
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    return failureOf(error);
  }
}

/** Waits for a worker. It runs a job of one step whole, and answers the plan of a bundle. */
function pickUp({ jobId, ...run }: RunJobInput): ReturnType<InferenceActivities['runInference']> {
  const { runInference } = proxyActivities<InferenceActivities>({
    taskQueue: run.inferenceTaskQueue,
    summary: `${run.endpoint} on ${run.inferenceTaskQueue}`,
    // Time in the queue: a job that nobody picks up within it expires.
    scheduleToStartTimeout: run.expiryMs,
    startToCloseTimeout: run.inferenceTimeoutMs,
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '1 second', maximumInterval: '10 seconds', maximumAttempts: run.inferenceAttempts },
  });
  return runInference({ jobId, attempts: run.inferenceAttempts });
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
