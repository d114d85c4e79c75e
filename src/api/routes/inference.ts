/** `POST /v1/<endpoint>`: validate → admit → start the workflow → answer the job, at once or when it has settled. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { readHeadroom } from '../../db/credits/credits.ts';
import type { Job } from '../../db/entities.ts';
import { findReplay, type StoredResponse, storeResponse } from '../../db/idempotency.ts';
import { type Admission, admitJob, admitJobOfKnownCaller } from '../../db/jobs/admit-job.ts';
import type { JobSettlements } from '../../db/jobs/job-settlements.ts';
import { fingerprint } from '../../domain/idempotency.ts';
import { newId } from '../../domain/ids.ts';
import { renderJob } from '../../domain/job-resource.ts';
import { queuedStages } from '../../domain/job-stages.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { jobBoundMs, startRunJob } from '../../temporal/client.ts';
import type { ApiContext } from '../context.ts';
import { createRequestReader, type InferenceRequest } from '../requests/inference-request.ts';
import { readModelVersion, refuseUninstalled } from '../requests/model-version.ts';
import {
  readDryRun,
  readExpiryMs,
  readIdempotencyKey,
  readTestScenario,
  readWaitMs,
  refuseUnknownQuery,
} from '../requests/request-options.ts';
import { waitForJob } from './wait-for-job.ts';

export interface InferenceDependencies {
  store: ObjectStore;
  temporal: Client;
  settlements: JobSettlements;
  openJobsLimit: number;
  waitCeilingMs: number;
  clock: () => Date;
  logger: Logger;
}

/** What a request asks for beside its body. */
interface RequestOptions {
  /** How long the connection is held; null answers at once. */
  waitMs: number | null;
  testScenario: string | null;
  idempotencyKey: string | null;
  expiryMs: number;
  /** The build that must answer; null for whichever is installed. */
  modelVersion: string | null;
}

/** Time beside the wait, for the start of the workflow and the answer, after which a request surely has died. */
const ANSWER_MARGIN_MS = 15_000;

export function createInferenceRoute(endpoint: EndpointContract, dependencies: InferenceDependencies) {
  const { store, temporal, settlements, openJobsLimit, waitCeilingMs, clock, logger } = dependencies;
  const readRequest = createRequestReader(endpoint, store);

  return async (context: ApiContext): Promise<void> => {
    context.set('Concurrency-Limit', String(openJobsLimit));
    refuseUnknownQuery(context);
    const dryRun = readDryRun(context);
    // It admits nothing, so nothing else would check a caller who is known from before.
    if (dryRun && context.state.knownCaller?.rate) await context.state.knownCaller.lookUp();
    const asked = {
      waitMs: readWaitMs(context, endpoint, waitCeilingMs),
      testScenario: readTestScenario(context, endpoint),
      idempotencyKey: readIdempotencyKey(context),
      expiryMs: readExpiryMs(context, endpoint),
    };
    const options = { ...asked, modelVersion: readModelVersion(context) };
    const refusal = await refuseUninstalled(context, endpoint, options.modelVersion);
    // With a key it may repeat a request from before the model went: its body tells.
    if (refusal && (dryRun || options.idempotencyKey === null)) throw refusal;

    const jobId = newId('job');
    const request = await readRequest(context, jobId);
    const admission = planAdmission(context, endpoint, { jobId, request, options, openJobsLimit, now: clock() });
    if (dryRun) {
      await request.discard();
      return answerDryRun(context, admission);
    }
    const replay = refusal
      ? await replayOrRefuse(context, admission, request, refusal)
      : await admit(context, endpoint, admission, request);
    if (replay) {
      context.set('Idempotent-Replayed', 'true');
      return answer(context, replay);
    }
    context.state.admitted = admission.job;
    const { waitMs } = options;
    const settled = waitMs === null ? null : waitForJob(context, { jobId, settlements, ceilingMs: waitMs, logger });
    await start(admission.job);
    answer(
      context,
      settled ? await settledResponse(context, admission, await settled) : admission.idempotency.response,
    );
  };

  /** The job is committed, so nothing here may refuse the request: the sweeper starts what this could not. */
  async function start(job: Admission['job']): Promise<void> {
    try {
      await startRunJob(temporal, job, endpoint);
    } catch (err) {
      logger.warn({ jobId: job.id, err }, 'workflow not started; the sweeper will');
    }
  }

  /** What a request that waited is answered, and whoever repeats it: null when the job had not settled in time. */
  async function settledResponse(
    context: ApiContext,
    { job, idempotency }: Admission,
    settled: Job | null,
  ): Promise<StoredResponse> {
    const response = settled ? { status: 200, body: JSON.stringify(renderJob(settled)) } : idempotency.response;
    if (job.idempotencyKey !== null) {
      const { organizationId, livemode } = job;
      const claim = { organizationId, livemode, route: idempotency.route, key: job.idempotencyKey };
      try {
        await storeResponse(context.state.em, claim, response);
      } catch (err) {
        // The job is committed, and a replay will answer this.
        logger.warn({ jobId: job.id, err }, 'response not stored');
        return idempotency.response;
      }
    }
    return response;
  }
}

interface AdmissionPlan {
  jobId: string;
  request: InferenceRequest;
  options: RequestOptions;
  openJobsLimit: number;
  now: Date;
}

/** Everything the job will be, before any of it exists. */
function planAdmission(
  context: ApiContext,
  endpoint: EndpointContract,
  { jobId, request, options, openJobsLimit, now }: AdmissionPlan,
): Admission {
  const { apiKey, requestId } = context.state;
  const { parameters, inputs } = request;
  const { waitMs, testScenario, idempotencyKey, expiryMs, modelVersion } = options;
  const job: Admission['job'] = {
    id: jobId,
    organizationId: apiKey.organizationId,
    apiKeyId: apiKey.id,
    endpoint: endpoint.slug,
    livemode: apiKey.livemode,
    isStaging: apiKey.isStaging,
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
      inProgressUntil: waitMs === null ? null : new Date(now.getTime() + waitMs + ANSWER_MARGIN_MS),
    },
  };
}

/** Answers the stored response when this request repeats one from before no model could answer it. */
async function replayOrRefuse(
  context: ApiContext,
  { job, idempotency }: Admission,
  request: InferenceRequest,
  refusal: ServiceError,
): Promise<StoredResponse> {
  await request.discard();
  const { organizationId, livemode, idempotencyKey: key } = job;
  const claim = { organizationId, livemode, route: idempotency.route, key: key ?? '' };
  const replay = await findReplay(context.state.em, claim, idempotency.fingerprint);
  if (replay) return replay;
  throw refusal;
}

/** Answers the stored response when this request repeats an earlier one. */
async function admit(
  context: ApiContext,
  endpoint: EndpointContract,
  admission: Admission,
  request: InferenceRequest,
): Promise<StoredResponse | null> {
  try {
    if (admission.job.testScenario === 'insufficient_credits') {
      throw new ServiceError('insufficient_credits', 'The test scenario "insufficient_credits" refuses every request.');
    }
    const replay = await admitChecked(context, endpoint, admission, request);
    if (replay) await request.discard();
    return replay;
  } catch (error) {
    // After any other error, such as a lost connection, the job may exist: its files stay, and the sweeper removes
    // them if it does not.
    if (error instanceof ServiceError) await request.discard();
    if (error instanceof ServiceError && error.code === 'concurrency_limit_exceeded') tellRemaining(context, 0);
    throw error;
  }
}

/** How many more jobs may be open. */
function tellRemaining(context: ApiContext, jobs: number): void {
  context.set('Concurrency-Remaining', String(Math.max(0, jobs)));
}

/** In one statement with the check of the caller, unless something has changed about it. */
async function admitChecked(
  context: ApiContext,
  endpoint: EndpointContract,
  admission: Admission,
  request: InferenceRequest,
): Promise<StoredResponse | null> {
  const { em, knownCaller } = context.state;
  if (knownCaller) {
    const admitted = await admitJobOfKnownCaller(em, admission, knownCaller);
    if (admitted) return admitted.replay;
    await knownCaller.lookUp();
    const refusal = await refuseUninstalled(context, endpoint, admission.job.pinnedModelVersion ?? null);
    if (refusal) return replayOrRefuse(context, admission, request, refusal);
  }
  return admitJob(em, admission);
}

/** What the request would cost. That it came this far says that it is acceptable. */
async function answerDryRun(context: ApiContext, { job, openJobsLimit }: Admission): Promise<void> {
  const { available, openJobs } = await readHeadroom(context.state.em, job);
  tellRemaining(context, openJobsLimit - openJobs);
  context.body = {
    object: 'dry_run',
    endpoint: job.endpoint,
    livemode: job.livemode,
    credits: { reserved: job.reservedCredits, available },
    sufficient: available >= job.reservedCredits && job.testScenario !== 'insufficient_credits',
  };
}

function answer(context: ApiContext, { status, body }: StoredResponse): void {
  context.status = status;
  context.type = 'application/json';
  context.body = body;
}
