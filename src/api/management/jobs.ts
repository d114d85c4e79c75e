/** Jobs of the organisation, in every mode, read-only. */
import { Type } from 'typebox';
import { JOB_STATUSES } from '../../contracts/job.ts';
import { Job } from '../../jobs/entities.ts';
import { renderJob } from '../../jobs/job-resource.ts';
import type { EntityManager } from '../../platform/database/orm.ts';
import { createdWithin, findPage, type Page, type PageRequest } from '../../platform/database/pages.ts';
import { createdParameters, pageParameters } from '../requests/query.ts';
import { notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation } from './operation.ts';

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
      ...(filter.status !== undefined && { status: filter.status }),
      ...(filter.endpoint !== undefined && { endpoint: filter.endpoint }),
      ...(filter.api_key_id !== undefined && { apiKeyId: filter.api_key_id }),
      ...createdWithin(filter),
    };
    const modes = filter.livemode === undefined ? [true, false] : [filter.livemode];
    return renderPage(await findPageOfModes(em, where, modes, filter), renderJob);
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
  async handle(request) {
    const id = pathId(request);
    const job = await request.em.findOne(Job, { id, organizationId: request.member.organizationId });
    if (!job) throw notFound('job', id);
    return renderJob(job);
  },
});

export const jobOperations = [listJobs, getJob];

/** The index of jobs begins with the mode, so a page of each mode is read and the two are merged. */
async function findPageOfModes(
  em: EntityManager,
  where: object,
  modes: readonly boolean[],
  request: PageRequest,
): Promise<Page<Job>> {
  const pages: Page<Job>[] = [];
  for (const livemode of modes) pages.push(await findPage<Job>(em, Job, 'job', { ...where, livemode }, request));
  const rows = pages.flatMap((page) => page.rows).sort((a, b) => (a.id < b.id ? 1 : -1));
  const { limit, ending_before: before } = request;
  return {
    rows: before === undefined ? rows.slice(0, limit) : rows.slice(-limit),
    hasMore: rows.length > limit || pages.some(({ hasMore }) => hasMore),
  };
}
