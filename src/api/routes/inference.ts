/** `POST /v1/<endpoint>`: validate → admit → start the workflow → return the job, at once or when it has settled. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { readHeadroom } from '../../credits/credit-balances-store.ts';
import { type Admission, admitJob, admitJobOfKnownCaller, refuseGoneUploads } from '../../jobs/admission-store.ts';
import type { Job } from '../../jobs/entities.ts';
import { findReplay, type StoredResponse, storeWaitedResponse } from '../../jobs/idempotency-claims-store.ts';
import { renderJob } from '../../jobs/job-resource.ts';
import { startRunJob } from '../../jobs/job-starter.ts';
import { isTerminal } from '../../jobs/job-states.ts';
import { planAdmission, RESPONSE_MARGIN_MS } from '../../jobs/plan-admission.ts';
import type { SettlementListener } from '../../jobs/settlement-listener.ts';
import { isConnectionLoss } from '../../platform/database/connection-loss.ts';
import { newId } from '../../platform/ids.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import type { ApiContext } from '../context.ts';
import { findTruncatedInput } from '../requests/find-truncated-input.ts';
import { createRequestReader, type InferenceRequest, referenceName } from '../requests/inference-request.ts';
import { readModelVersion, refuseUninstalled, refuseUnservedFiles } from '../requests/model-version.ts';
import { refuseUnpriced } from '../requests/priced-by-books.ts';
import {
  readDryRun,
  readExpiryMs,
  readIdempotencyKey,
  readTestScenario,
  readWaitMs,
  refuseUnknownQuery,
} from '../requests/request-options.ts';
import { refuseUnserved } from '../requests/served-values.ts';
import { waitForJob } from './wait-for-job.ts';

export interface InferenceDependencies {
  /** All of the service. */
  endpoints: readonly EndpointContract[];
  store: ObjectStore;
  temporal: Client;
  settlements: SettlementListener;
  openJobsLimit: number;
  waitCeilingMs: number;
  clock: () => Date;
  logger: Logger;
}

const STORE_RETRY_DELAY_MS = 200;

export function createInferenceRoute(endpoint: EndpointContract, dependencies: InferenceDependencies) {
  const { store, temporal, settlements, openJobsLimit, waitCeilingMs, clock, logger } = dependencies;
  const readRequest = createRequestReader(endpoint, dependencies);

  return async (context: ApiContext): Promise<void> => {
    context.set('Concurrency-Limit', String(openJobsLimit));
    refuseUnknownQuery(context);
    const dryRun = readDryRun(context);
    // A dry run admits nothing, so no later statement would check a known caller.
    if (dryRun && context.state.knownCaller?.rate) await context.state.knownCaller.lookUp();
    const options = {
      waitMs: readWaitMs(context, endpoint, waitCeilingMs),
      testScenario: readTestScenario(context, endpoint),
      idempotencyKey: readIdempotencyKey(context),
      expiryMs: readExpiryMs(context, endpoint),
      modelVersion: readModelVersion(context),
    };
    const uninstalled = await refuseUninstalled(context, endpoint, options.modelVersion);
    // With a key it may be a replay of a request from before the model was removed; the body decides.
    if (uninstalled && (dryRun || options.idempotencyKey === null)) throw uninstalled;

    const jobId = newId('job');
    const request = await readRequest(context, jobId);
    const { parameters, inputs } = request;
    const { modelVersion } = options;
    const refusal =
      uninstalled ??
      (await refuseUnservedFiles(context, endpoint, { parameters, files: inputs })) ??
      (await refuseUnserved(context, endpoint, { parameters, modelVersion })) ??
      (await refuseUnpriced(context, endpoint, parameters));
    const { apiKey: caller, requestId } = context.state;
    const uploadsParam = referenceName(endpoint.files.maximum);
    const planned = {
      jobId,
      requestId,
      caller,
      parameters,
      inputs,
      uploadsParam,
      options,
      openJobsLimit,
      now: clock(),
    };
    const admission = planAdmission(endpoint, planned);
    if (dryRun) {
      const unusable = await discarding(
        request,
        async () =>
          (await refuseGoneUploads(context.state.em, admission)) ?? findTruncatedInput(store, endpoint, request),
      );
      const problem = refusal ?? unusable;
      if (problem) throw problem;
      return respondDryRun(context, admission);
    }
    const replay = refusal
      ? await replayOrRefuse(context, admission, request, refusal)
      : await admit(context, endpoint, admission, request);
    if (replay) {
      context.set('Idempotent-Replayed', 'true');
      return respond(context, replay);
    }
    context.state.admitted = admission.job;
    const { waitMs } = options;
    const waited = waitMs === null ? null : waitForJob(context, { jobId, settlements, ceilingMs: waitMs, logger });
    await start(admission.job);
    respond(
      context,
      waited ? await responseAfterWait(context, admission, await waited) : admission.idempotency.response,
    );
  };

  /** The job is committed, so a failure here must not fail the request: the sweeper starts the workflow. */
  async function start(job: Admission['job']): Promise<void> {
    try {
      await startRunJob(temporal, job, endpoint);
    } catch (err) {
      logger.warn({ jobId: job.id, err }, 'workflow not started; the sweeper will');
    }
  }

  /** The response to a request that waited, stored for its replays. `waited` is the job at the end of the wait, if known. */
  async function responseAfterWait(
    context: ApiContext,
    { job, idempotency }: Admission,
    waited: Job | null,
  ): Promise<StoredResponse> {
    const response = waited
      ? { status: isTerminal(waited.status) ? 200 : 202, body: JSON.stringify(renderJob(waited)) }
      : idempotency.response;
    if (job.idempotencyKey === null) return response;
    const { organizationId, livemode } = job;
    const claim = { organizationId, livemode, route: idempotency.route, key: job.idempotencyKey };
    const deadlineMs = performance.now() + RESPONSE_MARGIN_MS;
    for (;;) {
      try {
        return (await storeWaitedResponse(context.state.em.fork(), claim, response)) ?? response;
      } catch (err) {
        logger.warn({ jobId: job.id, err }, 'response not stored');
        // Nothing was stored, or the same: replays get this one.
        if (waited === null || !isConnectionLoss(err)) return idempotency.response;
        // The commit may be lost with its reply only, and then decides what replays get.
        if (performance.now() > deadlineMs) throw err;
      }
      await delay(STORE_RETRY_DELAY_MS);
    }
  }
}

/** Returns the stored response of an earlier identical request. @throws the refusal when there is none */
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

/** Admits the job. Returns the stored response when the request is a replay, or null. */
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
    // After any other error, such as a lost connection, the job may exist: keep its files. The sweeper removes them if it
    // does not.
    if (error instanceof ServiceError) await request.discard();
    if (error instanceof ServiceError && error.code === 'concurrency_limit_exceeded') setRemaining(context, 0);
    throw error;
  }
}

/** Discards the request after the work, also when that fails. */
async function discarding<Result>(request: InferenceRequest, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } finally {
    await request.discard();
  }
}

/** Reports how many more jobs may be opened. */
function setRemaining(context: ApiContext, jobs: number): void {
  context.set('Concurrency-Remaining', String(Math.max(0, jobs)));
}

/** Admits and checks a known caller in one statement, unless something about the caller has changed. */
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

/** Returns the cost. The request has already passed validation. */
async function respondDryRun(context: ApiContext, { job, openJobsLimit }: Admission): Promise<void> {
  const { available, openJobs } = await readHeadroom(context.state.em, job);
  setRemaining(context, openJobsLimit - openJobs);
  context.body = {
    object: 'dry_run',
    endpoint: job.endpoint,
    livemode: job.livemode,
    credits: { reserved: job.reservedCredits, available },
    sufficient: available >= job.reservedCredits && job.testScenario !== 'insufficient_credits',
  };
}

function respond(context: ApiContext, { status, body }: StoredResponse): void {
  context.status = status;
  context.type = 'application/json';
  context.body = body;
}
