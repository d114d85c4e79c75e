/** Examples for the reference: a request to each endpoint, its queued job and its settled job. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { FIXTURE_VERSION } from '../../contracts/model-versions.ts';
import { exampleRequest, exampleResult } from '../../endpoints/shared/examples.ts';
import { type JobRecord, type JobResource, renderJob } from '../../jobs/job-resource.ts';
import { queuedStages } from '../../jobs/job-stages.ts';

const uploadId = (index: number) => `upl_1CoTsd5kMvWzrNbUoFgrY${index + 1}`;
const CREATED = new Date('2026-11-21T10:34:31Z');
const STARTED = new Date('2026-11-21T10:34:31Z');
const COMPLETED = new Date('2026-11-21T10:34:33Z');

/** The JSON encoding of the example request. */
export function exampleBody(endpoint: EndpointContract): object {
  const { parameters, files } = exampleRequest(endpoint);
  if (files.length === 0) return parameters;
  return {
    ...(endpoint.files.maximum === 1
      ? { input_ref: uploadId(0) }
      : { input_refs: files.map((_, index) => uploadId(index)) }),
    ...parameters,
  };
}

export function exampleQueuedJob(endpoint: EndpointContract): JobResource {
  return renderJob(queued(endpoint));
}

/** Null when the endpoint has no fixture. */
export function exampleSettledJob(endpoint: EndpointContract): JobResource | null {
  const result = exampleResult(endpoint.slug);
  if (result === undefined) return null;
  const job = queued(endpoint);
  return renderJob({
    ...job,
    status: 'succeeded',
    startedAt: STARTED,
    completedAt: COMPLETED,
    modelVersion: FIXTURE_VERSION,
    chargedCredits: job.reservedCredits,
    result,
    stages: job.stages?.map((stage) => (stage.status === 'skipped' ? stage : succeeded(stage))) ?? null,
  });
}

export function exampleDryRun(endpoint: EndpointContract) {
  const { endpoint: slug, livemode, reservedCredits: reserved } = queued(endpoint);
  return { object: 'dry_run', endpoint: slug, livemode, credits: { reserved, available: 50_000 }, sufficient: true };
}

function queued(endpoint: EndpointContract): JobRecord {
  const request = exampleRequest(endpoint);
  return {
    id: 'job_1CoTsd5kMvWzrNbUoFgrYo',
    endpoint: endpoint.slug,
    status: 'queued',
    livemode: false,
    isStaging: false,
    createdAt: CREATED,
    startedAt: null,
    completedAt: null,
    modelVersion: null,
    reservedCredits: endpoint.price?.(request) ?? endpoint.priceCredits,
    chargedCredits: 0,
    stages: queuedStages(endpoint, request),
    testScenario: null,
  };
}

type Stage = NonNullable<JobRecord['stages']>[number];

function succeeded(stage: Stage): Stage {
  const [started_at, completed_at] = [STARTED.getTime() / 1000, COMPLETED.getTime() / 1000];
  const credits = { ...stage.credits, charged: stage.credits.reserved };
  return { ...stage, status: 'succeeded', progress: 1, started_at, completed_at, credits };
}
