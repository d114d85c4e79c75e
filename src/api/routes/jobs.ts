import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { JOB_STATUSES } from '../../contracts/job.ts';
import { cancelQueuedJob } from '../../jobs/cancellation-store.ts';
import { Job } from '../../jobs/entities.ts';
import { fingerprint } from '../../jobs/idempotency.ts';
import {
  claimIdempotencyKey,
  releaseIdempotencyKey,
  type StoredResponse,
  storeResponse,
} from '../../jobs/idempotency-claims-store.ts';
import { renderJob } from '../../jobs/job-resource.ts';
import { findReadableJob, findReadableJobs } from '../../jobs/readable-jobs-store.ts';
import type { EntityManager } from '../../platform/database/orm.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';
import { jobReaderOf } from '../job-reader.ts';
import { createdParameters, createQueryReader, pageParameters } from '../requests/query.ts';
import { readIdempotencyKey, refuseUnknownQuery } from '../requests/request-options.ts';

/** The job in the path. A job that the key may not read is reported as not found. */
export async function findJobInPath(context: ApiContext, endpoints: readonly EndpointContract[]): Promise<Job> {
  refuseUnknownQuery(context, []);
  const id = String(context.params.id);
  const job = await findReadableJob(context.state.em, jobReaderOf(context.state.apiKey, endpoints), id);
  if (!job) throw new ServiceError('resource_not_found', `There is no job ${id}.`, { param: 'id' });
  return job;
}

/** `GET /v1/jobs/{id}` */
export function createGetJobRoute(endpoints: readonly EndpointContract[]) {
  return async (context: ApiContext): Promise<void> => {
    context.body = renderJob(await findJobInPath(context, endpoints));
  };
}

/** Query parameters of `GET /v1/jobs`. */
export function listJobsParameters(endpoints: readonly EndpointContract[]) {
  return Type.Object(
    {
      ...pageParameters,
      status: Type.Optional(Type.Enum([...JOB_STATUSES])),
      endpoint: Type.Optional(Type.Enum(endpoints.map(({ slug }) => slug))),
      ...createdParameters,
    },
    { additionalProperties: false },
  );
}

/** `GET /v1/jobs` */
export function createListJobsRoute(endpoints: readonly EndpointContract[]) {
  const readQuery = createQueryReader(listJobsParameters(endpoints));
  return async (context: ApiContext): Promise<void> => {
    const reader = jobReaderOf(context.state.apiKey, endpoints);
    const page = await findReadableJobs(context.state.em, reader, readQuery(context));
    context.body = { object: 'list', data: page.rows.map(renderJob), has_more: page.hasMore };
  };
}

interface CancelDependencies {
  temporal: Client;
  clock: () => Date;
  logger: Logger;
}

/** A cancellation that takes longer has died. */
const IN_PROGRESS_MS = 15_000;

/** Placeholder of a claim until the job is canceled. If its request dies first, the next one cancels. */
const NO_RESPONSE: StoredResponse = { status: 0, body: '' };

/** `POST /v1/jobs/{id}/cancel`: cancels a queued job in one statement. A job that was picked up continues. */
export function createCancelJobRoute(
  endpoints: readonly EndpointContract[],
  { temporal, clock, logger }: CancelDependencies,
) {
  return async (context: ApiContext): Promise<void> => {
    const key = readIdempotencyKey(context);
    const { id } = await findJobInPath(context, endpoints);
    const { status, body } = key === null ? await cancel(context.state.em, id) : await cancelOnce(context, id, key);
    context.status = status;
    context.type = 'application/json';
    context.body = body;
  };

  async function cancelOnce(context: ApiContext, id: string, key: string): Promise<StoredResponse> {
    const { em, apiKey } = context.state;
    const { organizationId, livemode } = apiKey;
    const claim = { organizationId, livemode, route: 'jobs/cancel', key };
    const inProgressUntil = new Date(clock().getTime() + IN_PROGRESS_MS);
    const replay = await claimIdempotencyKey(em, claim, fingerprint({ id }), NO_RESPONSE, inProgressUntil);
    if (replay && replay.status !== NO_RESPONSE.status) {
      context.set('Idempotent-Replayed', 'true');
      return replay;
    }
    try {
      const response = await cancel(em, id);
      await storeResponse(em, claim, response);
      return response;
    } catch (error) {
      // A refusal frees the key. After a lost connection the job may be canceled; the next request finds out.
      if (error instanceof ServiceError) await releaseIdempotencyKey(em, claim);
      throw error;
    }
  }

  /** Idempotent: canceling a canceled job returns the same response. */
  async function cancel(em: EntityManager, id: string): Promise<StoredResponse> {
    const isCanceled = await cancelQueuedJob(em, id, clock());
    if (isCanceled) {
      // Best effort: the workflow would notice the canceled job by itself, later.
      temporal.workflow
        .getHandle(id)
        .cancel()
        .catch((err: unknown) => logger.debug({ jobId: id, err }, 'workflow not cancelled'));
    }
    const job = await em.fork().findOneOrFail(Job, { id });
    if (job.status !== 'canceled') {
      throw new ServiceError('job_not_cancelable', `The job is ${job.status}. Only a queued job can be canceled.`);
    }
    return { status: 200, body: JSON.stringify(renderJob(job)) };
  }
}
