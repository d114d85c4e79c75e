/** The Temporal client side: starting workflows by name and id. No workflow code is imported here. */
import { type Client, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import {
  DELIVER_WEBHOOK_WORKFLOW,
  type DeliverWebhookInput,
  TEST_EVENT_LADDER_MS,
  WEBHOOK_LADDER_MS,
} from '../contracts/deliver-webhook.ts';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { RUN_JOB_WORKFLOW, type RunJobInput } from '../contracts/run-job.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';

/** Attempts of an inference whose worker was lost or which failed in a way that may pass. */
const INFERENCE_ATTEMPTS = 3;

/** A start waits no longer for Temporal: the job's row is the outbox, and the sweeper makes up for it. */
const START_TIMEOUT_MS = 2_000;

interface JobToStart {
  id: string;
  organizationId: string;
  livemode: boolean;
  /** Longest time in the queue. */
  expiryMs: number;
}

/**
 * Starts the workflow of a job. Starting a running one changes nothing. One that was terminated with its job still open
 * runs again: every step is guarded in PostgreSQL, so that repeating it is safe.
 */
export async function startRunJob(client: Client, job: JobToStart, endpoint: EndpointContract): Promise<void> {
  const input: RunJobInput = {
    jobId: job.id,
    endpoint: endpoint.slug,
    inferenceTaskQueue: job.livemode ? endpoint.inferenceTaskQueue : TASK_QUEUES.inferenceTest,
    expiryMs: job.expiryMs,
    inferenceTimeoutMs: endpoint.inferenceTimeoutMs,
    inferenceAttempts: INFERENCE_ATTEMPTS,
  };
  const mode = job.livemode ? 'live' : 'test';
  await client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
    client.workflow.start(RUN_JOB_WORKFLOW, {
      workflowId: job.id,
      taskQueue: TASK_QUEUES.orchestration,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      staticSummary: `${endpoint.slug} (${mode})`,
      staticDetails: `Job \`${job.id}\` of organisation \`${job.organizationId}\`, ${mode} mode.`,
      typedSearchAttributes: [
        { key: SEARCH_ATTRIBUTES.jobEndpoint, value: endpoint.slug },
        { key: SEARCH_ATTRIBUTES.organizationId, value: job.organizationId },
        { key: SEARCH_ATTRIBUTES.livemode, value: job.livemode },
        { key: SEARCH_ATTRIBUTES.jobStatus, value: 'queued' },
      ],
    }),
  );
}

/** Time after which an admitted job should have ended, whatever befell it. */
export function jobBoundMs({ inferenceTimeoutMs }: EndpointContract, expiryMs: number): number {
  return expiryMs + INFERENCE_ATTEMPTS * (inferenceTimeoutMs + 30_000);
}

interface DeliveryToStart {
  id: string;
  organizationId: string;
  livemode: boolean;
}

export async function startDeliverWebhook(client: Client, delivery: DeliveryToStart): Promise<void> {
  const input: DeliverWebhookInput = { deliveryId: delivery.id, ladderMs: WEBHOOK_LADDER_MS };
  await client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
    client.workflow.start(DELIVER_WEBHOOK_WORKFLOW, {
      workflowId: delivery.id,
      taskQueue: TASK_QUEUES.webhooks,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      staticSummary: `Webhook delivery ${delivery.id}`,
      typedSearchAttributes: attributesOf(delivery),
    }),
  );
}

/** As the workflow of a job gives them to the deliveries that it starts itself. */
function attributesOf({ organizationId, livemode }: DeliveryToStart): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.organizationId, value: organizationId },
    { key: SEARCH_ATTRIBUTES.livemode, value: livemode },
  ];
}

/**
 * Delivers a test event in one attempt, and waits until it was made, or as long as `timeoutMs`. How it went stands in the
 * delivery. @throws when Temporal did not take it
 */
export async function deliverTestWebhook(client: Client, delivery: DeliveryToStart, timeoutMs: number): Promise<void> {
  const input: DeliverWebhookInput = { deliveryId: delivery.id, ladderMs: TEST_EVENT_LADDER_MS };
  const handle = await client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
    client.workflow.start(DELIVER_WEBHOOK_WORKFLOW, {
      workflowId: delivery.id,
      taskQueue: TASK_QUEUES.webhooks,
      args: [input],
      staticSummary: `Webhook delivery ${delivery.id}, a test event`,
      typedSearchAttributes: attributesOf(delivery),
    }),
  );
  // It goes on without this request, whose caller then reads the delivery again.
  await client.withDeadline(Date.now() + timeoutMs, () => handle.result()).catch(() => {});
}
