/** Starts job workflows by name and id. */
import { type Client, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import { RUN_JOB_WORKFLOW, type RunJobInput } from '../contracts/run-job.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import { START_TIMEOUT_MS } from '../platform/temporal/start-timeout.ts';

/** Most attempts of an inference, after lost workers and transient failures. */
const INFERENCE_ATTEMPTS = 3;

interface JobToStart {
  id: string;
  organizationId: string;
  livemode: boolean;
  /** Longest time in the queue. */
  expiryMs: number;
}

/**
 * Starts the workflow of a job. Changes nothing when it runs already. A workflow that was terminated with its job open runs
 * again: PostgreSQL guards every step, so repeating it is safe.
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

/** Time after admission by which any job should have ended. */
export function jobBoundMs({ inferenceTimeoutMs }: EndpointContract, expiryMs: number): number {
  return expiryMs + INFERENCE_ATTEMPTS * (inferenceTimeoutMs + 30_000);
}
