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
import { DELIVER_WEBHOOK_WORKFLOW, type DeliverWebhookInput } from '../contracts/deliver-webhook.ts';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { StageProgress } from '../contracts/run-bundle.ts';
import {
  decodeInferenceResult,
  type InferenceActivities,
  type InferenceResult,
  RUN_JOB_STATUS_QUERY,
  type RunJobInput,
  type RunJobStatus,
  type Settlement,
  type SettlementActivities,
} from '../contracts/run-job.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { SHADOW_JOB_WORKFLOW, SHADOW_WAIT_MS, type ShadowJobInput, shadowWorkflowId } from '../contracts/shadow-job.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { DELIVERY_BACKOFF_MS } from '../webhooks/backoff-schedule.ts';
import { failureOf, isOfLostWorker } from './failure-of.ts';
import { endDetailsOf, epochSeconds, forgetStages, runStages } from './run-bundle.ts';
import { runRemotely, withdraw } from './run-remotely.ts';
import { endedProgress } from './stage-schedule.ts';
import { scheduleUntilAccepted } from './until-accepted.ts';

export const statusQuery = defineQuery<RunJobStatus>(RUN_JOB_STATUS_QUERY);

// Unlimited retries: a committed job must end, however long PostgreSQL is away.
const { settleJob } = proxyLocalActivities<SettlementActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

export async function runJob(input: RunJobInput): Promise<Settlement> {
  const status: RunJobStatus = { step: 'inference', stages: [] };
  setHandler(statusQuery, () => status);
  setCurrentDetails(`On task queue **${input.inferenceTaskQueue}**: waiting for a worker, or running.`);
  const end = await infer(input, status);
  const settlement = end.kind === 'settled' ? end.settlement : await settle(input, status, end.failure);
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.jobStatus, value: settlement.status }]);

  const { stages } = status;
  status.step = 'ended';
  status.stages = endedProgress(stages, settlement, epochSeconds());
  setCurrentDetails(endOf(settlement, stages, end.kind === 'unsettled' ? end.lostAttempts : 0));
  if (settlement.deliveryIds.length > 0) await startDeliveries(input.jobId, settlement.deliveryIds);
  if (settlement.shadow !== undefined) await startShadow(input, settlement.shadow);
  if (stages.length > 0) await forgetStages(input.jobId, stages);
  if (status.isRemote && end.kind === 'unsettled' && end.failure !== null) await withdraw(input);
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

/** A cancelled workflow settles too; otherwise the credits would stay held. */
function settle({ jobId }: RunJobInput, status: RunJobStatus, failure: ErrorCode | null): Promise<Settlement> {
  status.step = 'settlement';
  setCurrentDetails('Settling: result, credits and event in one transaction.');
  return CancellationScope.nonCancellable(() => settleJob({ jobId, failure }));
}

type InferenceEnd =
  | Extract<InferenceResult, { kind: 'settled' }>
  | {
      kind: 'unsettled';
      /** Why the inference left no outcome; null when it left one, or the job had ended. */
      failure: ErrorCode | null;
      /** Attempts after which the worker of the last one was lost; 0 when it was not. */
      lostAttempts: number;
    };

const LEFT_OUTCOME: InferenceEnd = { kind: 'unsettled', failure: null, lostAttempts: 0 };

async function infer(input: RunJobInput, status: RunJobStatus): Promise<InferenceEnd> {
  try {
    const result = input.resumed ? { kind: 'planned' as const, plan: input.resumed.plan } : await pickUp(input);
    switch (result.kind) {
      case 'settled':
        return result;
      case 'pending':
      case 'abandoned':
        return LEFT_OUTCOME;
      case 'remote':
        status.isRemote = true;
        await runRemotely(input, result.run);
        return LEFT_OUTCOME;
      case 'planned':
        await runStages(input, result.plan, (stages) => {
          status.stages = stages;
        });
        return LEFT_OUTCOME;
    }
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    // An operator cancelled this workflow, or the customer did: then the job has already ended.
    if (isCancellation(error) && CancellationScope.current().consideredCancelled)
      return { kind: 'unsettled', failure: 'job_stopped', lostAttempts: 0 };
    const lostAttempts = isOfLostWorker(error) ? input.inferenceAttempts : 0;
    return { kind: 'unsettled', failure: failureOf(error), lostAttempts };
  }
}

/** Waits for a worker, which runs and settles a job of one step, or plans a bundle. */
async function pickUp({ jobId, ...run }: RunJobInput): Promise<InferenceResult> {
  // A job that nobody picks up within `expiryMs` expires.
  const limits = { attempts: run.inferenceAttempts, withinMs: run.expiryMs, failure: 'job_expired' } as const;
  const recorded = await scheduleUntilAccepted(limits, ({ attempts, withinMs }) => {
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
  return decodeInferenceResult(recorded);
}

/** Deliveries outlive the job's workflow: they take up to 24 hours. */
function startDeliveries(jobId: string, deliveryIds: readonly string[]): Promise<unknown> {
  return CancellationScope.nonCancellable(() =>
    Promise.all(
      deliveryIds.map((deliveryId) =>
        startDelivery(jobId, deliveryId).catch((error: unknown) => {
          // The sweeper has started it.
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        }),
      ),
    ),
  );
}

async function startDelivery(jobId: string, deliveryId: string): Promise<void> {
  const input: DeliverWebhookInput = { deliveryId, ladderMs: DELIVERY_BACKOFF_MS };
  await startChild(DELIVER_WEBHOOK_WORKFLOW, {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [input],
    staticSummary: `Webhook delivery ${deliveryId}`,
    staticDetails: `Announces the end of job \`${jobId}\`.`,
    typedSearchAttributes: ownersAttributes(),
  });
}

/** The customer already has the result: the shadow neither delays nor changes the job. */
async function startShadow({ jobId, endpoint, ...run }: RunJobInput, modelVersion: string): Promise<void> {
  const input: ShadowJobInput = {
    jobId,
    endpoint,
    modelVersion,
    waitMs: SHADOW_WAIT_MS,
    timeoutMs: run.inferenceTimeoutMs,
    attempts: run.inferenceAttempts,
  };
  await CancellationScope.nonCancellable(() =>
    startChild(SHADOW_JOB_WORKFLOW, {
      workflowId: shadowWorkflowId(jobId),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [input],
      staticSummary: `${endpoint} in the shadow of ${jobId}`,
      staticDetails: `Runs job \`${jobId}\` again on ${modelVersion} and compares the results. Nobody is charged.`,
      typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.jobEndpoint, value: endpoint }, ...ownersAttributes()],
    }),
  ).catch((error: unknown) => {
    // An earlier run of this workflow has started it.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
}

/** The owner's attributes, copied from the job's workflow; a workflow that a test started may have none. */
function ownersAttributes(): SearchAttributePair[] {
  const { typedSearchAttributes } = workflowInfo();
  const { organizationId, livemode } = SEARCH_ATTRIBUTES;
  return typedSearchAttributes
    .getAll()
    .filter(({ key }) => key.name === organizationId.name || key.name === livemode.name);
}
