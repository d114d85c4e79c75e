/** Jobs of the organisation, in every mode, read-only. */
import { Type } from 'typebox';
import { JOB_STATUSES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { Event, Job } from '../../jobs/entities.ts';
import { renderJob } from '../../jobs/job-resource.ts';
import { ofStatus } from '../../jobs/readable-jobs-store.ts';
import { createdWithin, findPageOfParts } from '../../platform/database/pages.ts';
import { epochSeconds as toEpochSeconds } from '../../platform/epoch-seconds.ts';
import { readDeliveryLog } from '../../webhooks/deliveries-store.ts';
import { renderDelivery } from '../../webhooks/delivery-resource.ts';
import { WebhookDelivery } from '../../webhooks/entities.ts';
import { createdParameters, pageParameters } from '../requests/query.ts';
import { jobFilePath } from '../routes/job-files.ts';
import { epochSeconds, notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest } from './operation.ts';
import { deliveryResponse } from './webhook-deliveries.ts';

const TAG = 'Jobs of the organisation';
const response = { $ref: '#/components/schemas/Job' };

const listJobs = defineOperation({
  id: 'listOrganizationJobs',
  method: 'get',
  path: '/mgmt/v1/jobs',
  tag: TAG,
  summary: 'List jobs of every mode, newest first',
  permission: 'jobs:read',
  response: pageOf(response),
  query: Type.Object(
    {
      ...pageParameters,
      livemode: Type.Optional(Type.Boolean({ description: 'Jobs of one mode only.' })),
      status: Type.Optional(Type.Enum([...JOB_STATUSES])),
      endpoint: Type.Optional(Type.String({ description: 'Dotted slug.' })),
      api_key_id: Type.Optional(Type.String({ description: 'Id of the key that submitted them.' })),
      ...createdParameters,
    },
    { additionalProperties: false },
  ),
  async handle({ em, member: { organizationId }, query: filter }) {
    const where = {
      organizationId,
      ...ofStatus(filter.status),
      ...(filter.endpoint !== undefined && { endpoint: filter.endpoint }),
      ...(filter.api_key_id !== undefined && { apiKeyId: filter.api_key_id }),
      ...createdWithin(filter, 'job'),
    };
    const modes = filter.livemode === undefined ? [true, false] : [filter.livemode];
    const parts = modes.map((livemode) => ({ ...where, livemode }));
    return renderPage(await findPageOfParts<Job>(em, Job, 'job', parts, filter), renderJob);
  },
});

const getJob = defineOperation({
  id: 'getOrganizationJob',
  method: 'get',
  path: '/mgmt/v1/jobs/{id}',
  tag: TAG,
  summary: 'Read a job of any mode',
  permission: 'jobs:read',
  response,
  handle: async (request) => renderJob(await findJob(request)),
});

/** Long enough to look at a job, too short to pass on. */
const FILE_LINK_LIFETIME_MS = 15 * 60_000;

const listJobFiles = defineOperation({
  id: 'listOrganizationJobFiles',
  method: 'get',
  path: '/mgmt/v1/jobs/{id}/files',
  tag: TAG,
  summary: 'List the input files of a job, with links to look at them',
  description: `The links work for ${FILE_LINK_LIFETIME_MS / 60_000} minutes. The files are kept for some days after the job has ended.`,
  permission: 'jobs:read',
  response: closed({
    object: Type.Literal('list'),
    data: Type.Array(
      closed({
        object: Type.Literal('job_file'),
        field: Type.String({ description: 'The field of the request: `image`, `images`, `video`.' }),
        media_type: Type.String(),
        bytes: Type.Integer({ minimum: 0 }),
        sha256: Type.String({ description: 'Hex.' }),
        upload_id: nullable(Type.String({ description: 'The upload that the request named.' })),
        url: Type.String({ format: 'uri', description: 'Signed: works without a token until `expires_at`.' }),
        expires_at: epochSeconds,
      }),
      { description: 'In the order of the request.' },
    ),
    has_more: Type.Literal(false),
  }),
  async handle(request) {
    const { inputs, id } = await findJob(request);
    const expiresAt = new Date(request.now.getTime() + FILE_LINK_LIFETIME_MS);
    return {
      object: 'list',
      data: inputs.map(({ field, mediaType, bytes, sha256, uploadId }, index) => ({
        object: 'job_file',
        field,
        media_type: mediaType,
        bytes,
        sha256,
        upload_id: uploadId,
        url: request.services.signedUrls.sign(jobFilePath(id, index), expiresAt),
        expires_at: toEpochSeconds(expiresAt),
      })),
      has_more: false,
    };
  },
});

const listJobEvents = defineOperation({
  id: 'listOrganizationJobEvents',
  method: 'get',
  path: '/mgmt/v1/jobs/{id}/events',
  tag: TAG,
  summary: 'List the events of a job with their deliveries to webhooks',
  permission: 'jobs:read',
  response: closed({
    object: Type.Literal('list'),
    data: Type.Array(
      closed({
        object: Type.Literal('job_event'),
        event: { $ref: '#/components/schemas/Event' },
        deliveries: Type.Array(deliveryResponse, { description: 'Oldest first.' }),
      }),
    ),
    has_more: Type.Literal(false),
  }),
  async handle(request) {
    const { em } = request;
    const job = await findJob(request);
    const events = await em.find(Event, { jobId: job.id }, { orderBy: { createdAt: 'asc', id: 'asc' } });
    const deliveries = await em.find(
      WebhookDelivery,
      { event: { $in: events.map(({ id }) => id) } },
      { orderBy: { id: 'asc' } },
    );
    const logged = (await readDeliveryLog(em, deliveries)).map(renderDelivery);
    return {
      object: 'list',
      data: events.map(({ id, payload }) => ({
        object: 'job_event',
        event: JSON.parse(payload) as unknown,
        deliveries: logged.filter(({ event_id }) => event_id === id),
      })),
      has_more: false,
    };
  },
});

export const jobOperations = [listJobs, getJob, listJobFiles];
/** After the operations of deliveries, which give their types in the clients the names. */
export const jobEventOperations = [listJobEvents];

/** @throws ServiceError `resource_not_found` */
async function findJob(request: Pick<ManagementRequest, 'em' | 'member' | 'parameters'>): Promise<Job> {
  const id = pathId(request);
  const job = await request.em.findOne(Job, { id, organizationId: request.member.organizationId });
  if (!job) throw notFound('job', id);
  return job;
}
