import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { JOB_STATUSES } from '../../contracts/job.ts';
import { Job } from '../../db/entities.ts';
import {
  claimIdempotencyKey,
  releaseIdempotencyKey,
  type StoredResponse,
  storeResponse,
} from '../../db/idempotency.ts';
import { settleJob } from '../../db/jobs/settle-job.ts';
import type { EntityManager } from '../../db/orm.ts';
import { createdWithin, findPage } from '../../db/pages.ts';
import { fingerprint } from '../../domain/idempotency.ts';
import { renderJob } from '../../domain/job-resource.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';
import { assertScope } from '../middleware/authenticate.ts';
import { createdParameters, createQueryReader, pageParameters } from '../requests/query.ts';
import { readIdempotencyKey, refuseUnknownQuery } from '../requests/request-options.ts';

/** A job of another organisation or mode is answered exactly as one that does not exist. */
export async function findOwnJob(context: ApiContext): Promise<Job> {
  refuseUnknownQuery(context, []);
  const { organizationId, livemode } = context.state.apiKey;
  const id = String(context.params.id);
  const job = await context.state.em.findOne(Job, { id, organizationId, livemode });
  if (!job) throw new ServiceError('resource_not_found', `There is no job ${id}.`, { param: 'id' });
  return job;
}

/** `GET /v1/jobs/{id}` */
export async function getJob(context: ApiContext): Promise<void> {
  context.body = renderJob(await findOwnJob(context));
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
    const { organizationId, livemode } = context.state.apiKey;
    const filter = readQuery(context);
    const where = {
      organizationId,
      livemode,
      ...(filter.status !== undefined && { status: filter.status }),
      ...(filter.endpoint !== undefined && { endpoint: filter.endpoint }),
      ...createdWithin(filter),
    };
    const page = await findPage<Job>(context.state.em, Job, where, filter);
    context.body = { object: 'list', data: page.rows.map(renderJob), has_more: page.hasMore };
  };
}

interface CancelDependencies {
  temporal: Client;
  clock: () => Date;
  logger: Logger;
}

/** A request that takes longer to cancel a job has died. */
const IN_PROGRESS_MS = 15_000;

/** What a claim holds until the job was canceled: if its request dies before, the next one cancels. */
const NO_ANSWER: StoredResponse = { status: 0, body: '' };

/** `POST /v1/jobs/{id}/cancel`: a queued job ends here, in one statement; one that was picked up goes on. */
export function createCancelJobRoute(
  endpoints: readonly EndpointContract[],
  { temporal, clock, logger }: CancelDependencies,
) {
  const families = new Map(endpoints.map(({ slug, family }) => [slug, family]));
  return async (context: ApiContext): Promise<void> => {
    const key = readIdempotencyKey(context);
    const { id, endpoint } = await findOwnJob(context);
    assertScope(context.state.apiKey, `${families.get(endpoint)}:write`);
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
    const replay = await claimIdempotencyKey(em, claim, fingerprint({ id }), NO_ANSWER, inProgressUntil);
    if (replay && replay.status !== NO_ANSWER.status) {
      context.set('Idempotent-Replayed', 'true');
      return replay;
    }
    try {
      const response = await cancel(em, id);
      await storeResponse(em, claim, response);
      return response;
    } catch (error) {
      // A refusal leaves the key free. After a lost connection the job may be canceled: the next request finds out.
      if (error instanceof ServiceError) await releaseIdempotencyKey(em, claim);
      throw error;
    }
  }

  /** Safe to repeat: a canceled job is answered as it was the first time. */
  async function cancel(em: EntityManager, id: string): Promise<StoredResponse> {
    const isCanceled = await settleJob(em, {
      jobId: id,
      from: ['queued'],
      to: 'canceled',
      result: null,
      error: null,
      stages: null,
      chargedCredits: 0,
      completedAt: clock(),
      event: null,
      deliveries: [],
    });
    if (isCanceled) {
      // The job has ended; its workflow would find that out by itself, later.
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
