/** Starts delivery workflows, by name and id. */
import { type Client, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { DELIVER_WEBHOOK_WORKFLOW, type DeliverWebhookInput } from '../contracts/deliver-webhook.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { START_TIMEOUT_MS } from '../platform/temporal/start-timeout.ts';
import { DELIVERY_BACKOFF_MS, type MadeAttempts, resumeAfter, TEST_EVENT_BACKOFF_MS } from './backoff-schedule.ts';

interface DeliveryToStart {
  id: string;
  organizationId: string;
  livemode: boolean;
}

/** Starts the workflow of a delivery, or the rest of it when attempts were made. Leaves one that runs alone. */
export async function startDeliverWebhook(
  client: Client,
  delivery: DeliveryToStart & { isTest?: boolean; made?: MadeAttempts | null },
): Promise<void> {
  const ladderMs = delivery.isTest ? TEST_EVENT_BACKOFF_MS : DELIVERY_BACKOFF_MS;
  const input: DeliverWebhookInput = {
    deliveryId: delivery.id,
    ladderMs,
    ...(delivery.made && { resumed: resumeAfter(delivery.made, { ladderMs, nowMs: Date.now() }) }),
  };
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

/** Starts in flight at once: enough to start 500 replays within a second. */
const STARTS_AT_ONCE = 20;

/** Starts the workflows of many deliveries. @throws after the first failed start, leaving the rest to the sweeper */
export async function startDeliverWebhooks(client: Client, deliveries: readonly DeliveryToStart[]): Promise<void> {
  const waiting = deliveries.values();
  let hasFailed = false;
  const startWaiting = async () => {
    for (const delivery of waiting) {
      if (hasFailed) return;
      try {
        await startDeliverWebhook(client, delivery);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: STARTS_AT_ONCE }, startWaiting));
}

/** The same attributes as for deliveries started by a job's workflow. */
function attributesOf({ organizationId, livemode }: DeliveryToStart): SearchAttributePair[] {
  return [
    { key: SEARCH_ATTRIBUTES.organizationId, value: organizationId },
    { key: SEARCH_ATTRIBUTES.livemode, value: livemode },
  ];
}

/**
 * Starts the one attempt of a test event and waits for its end, at most `timeoutMs`. The delivery's row holds the
 * outcome. @throws when Temporal does not accept the start
 */
export async function deliverTestWebhook(client: Client, delivery: DeliveryToStart, timeoutMs: number): Promise<void> {
  const input: DeliverWebhookInput = { deliveryId: delivery.id, ladderMs: TEST_EVENT_BACKOFF_MS };
  const handle = await client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
    client.workflow.start(DELIVER_WEBHOOK_WORKFLOW, {
      workflowId: delivery.id,
      taskQueue: TASK_QUEUES.webhooks,
      args: [input],
      staticSummary: `Webhook delivery ${delivery.id}, a test event`,
      typedSearchAttributes: attributesOf(delivery),
    }),
  );
  // The workflow outlives this wait; the caller reads the delivery's row afterwards.
  await client.withDeadline(Date.now() + timeoutMs, () => handle.result()).catch(() => {});
}
