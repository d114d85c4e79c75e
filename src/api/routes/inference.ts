/** `POST /v1/<endpoint>`: validate → admit → start the workflow → answer the job, at once or when it has settled. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { readAvailableCredits } from '../../db/credits/credits.ts';
import type { Job } from '../../db/entities.ts';
import { type StoredResponse, storeResponse } from '../../db/idempotency.ts';
import { type Admission, admitJob } from '../../db/jobs/admit-job.ts';
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
import { readModelVersion } from '../requests/model-version.ts';
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
    refuseUnknownQuery(context);
    const dryRun = readDryRun(context);
    const asked = {
      waitMs: readWaitMs(context, endpoint, waitCeilingMs),
      testScenario: readTestScenario(context, endpoint),
      idempotencyKey: readIdempotencyKey(context),
      expiryMs: readExpiryMs(context, endpoint),
    };
    refuseWithoutModel(context, endpoint);
    const options = { ...asked, modelVersion: await readModelVersion(context, endpoint) };

    const jobId = newId('job');
    const request = await readRequest(context, jobId);
    const admission = planAdmission(context, endpoint, { jobId, request, options, openJobsLimit, now: clock() });
    if (dryRun) {
      await request.discard();
      return answerDryRun(context, admission);
    }
    const replay = await admit(context, admission, request);
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

function refuseWithoutModel(context: ApiContext, { slug }: EndpointContract): void {
  if (!context.state.apiKey.livemode || context.state.isEndpointInstalled) return;
  throw new ServiceError(
    'endpoint_unavailable',
    `No model is installed for ${slug} in live mode. GET /v1/endpoints tells what is available.`,
    { headers: { 'Retry-After': '60' } },
  );
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

/** Answers the stored response when this request repeats an earlier one. */
async function admit(
  context: ApiContext,
  admission: Admission,
  request: InferenceRequest,
): Promise<StoredResponse | null> {
  try {
    if (admission.job.testScenario === 'insufficient_credits') {
      throw new ServiceError('insufficient_credits', 'The test scenario "insufficient_credits" refuses every request.');
    }
    const replay = await admitJob(context.state.em, admission);
    if (replay) await request.discard();
    return replay;
  } catch (error) {
    // After any other error, such as a lost connection, the job may exist: its files stay, and the sweeper removes
    // them if it does not.
    if (error instanceof ServiceError) await request.discard();
    throw error;
  }
}

/** What the request would cost. That it came this far says that it is acceptable. */
async function answerDryRun(context: ApiContext, { job }: Admission): Promise<void> {
  const available = await readAvailableCredits(context.state.em, job.organizationId, job.livemode);
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
