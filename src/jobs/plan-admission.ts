/** The complete job of a request, before anything is written. */
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobInput } from '../contracts/job.ts';
import type { CallerKey } from '../organizations/callers-store.ts';
import type { Admission } from './admission-store.ts';
import { fingerprint } from './idempotency.ts';
import { renderJob } from './job-resource.ts';
import { queuedStages } from './job-stages.ts';
import { jobBoundMs } from './job-starter.ts';

/** Added to the wait for starting the workflow and responding. A request that takes longer has died. */
export const RESPONSE_MARGIN_MS = 15_000;

/** Options of a request besides its body. */
export interface RequestOptions {
  /** How long to hold the connection; null responds at once. */
  waitMs: number | null;
  testScenario: string | null;
  idempotencyKey: string | null;
  /** Longest time in the queue. */
  expiryMs: number;
  /** The pinned build; null for the default. */
  modelVersion: string | null;
}

export interface JobRequest {
  jobId: string;
  requestId: string;
  caller: CallerKey;
  parameters: Record<string, unknown>;
  inputs: readonly JobInput[];
  /** The field of the request that names uploads, for a refusal. */
  uploadsParam: string;
  options: RequestOptions;
  openJobsLimit: number;
  now: Date;
}

export function planAdmission(
  endpoint: EndpointContract,
  { jobId, requestId, caller, parameters, inputs, uploadsParam, options, openJobsLimit, now }: JobRequest,
): Admission {
  const { waitMs, testScenario, idempotencyKey, expiryMs, modelVersion } = options;
  const job: Admission['job'] = {
    id: jobId,
    organizationId: caller.organizationId,
    apiKeyId: caller.id,
    endpoint: endpoint.slug,
    livemode: caller.livemode,
    isStaging: caller.isStaging,
    testScenario,
    pinnedModelVersion: modelVersion,
    parameters,
    inputs,
    reservedCredits: endpoint.price?.({ parameters, files: inputs }) ?? endpoint.priceCredits,
    stages: queuedStages(endpoint, { parameters, files: inputs }),
    requestId,
    idempotencyKey,
    createdAt: now,
    expiryMs,
    dueAt: new Date(now.getTime() + jobBoundMs(endpoint, expiryMs)),
  };
  const queued = renderJob({
    ...job,
    status: 'queued',
    startedAt: null,
    completedAt: null,
    modelVersion: null,
    chargedCredits: 0,
  });
  return {
    job,
    uploadsParam,
    openJobsLimit,
    idempotency: {
      route: endpoint.slug,
      fingerprint: fingerprint({
        parameters,
        files: inputs.map((input) => input.sha256),
        testScenario,
        modelVersion: modelVersion ?? undefined,
      }),
      response: { status: 202, body: JSON.stringify(queued) },
      inProgressUntil: waitMs === null ? null : new Date(now.getTime() + waitMs + RESPONSE_MARGIN_MS),
    },
  };
}
