import type { EntityManager } from '../platform/database/orm.ts';
import { Job } from './entities.ts';
import type { JobRecord } from './job-resource.ts';

/** What customers see of jobs, without the parameters and inputs, which may be large. */
const SHOWN = [
  'id',
  'endpoint',
  'status',
  'livemode',
  'isStaging',
  'createdAt',
  'startedAt',
  'completedAt',
  'modelVersion',
  'reservedCredits',
  'chargedCredits',
  'result',
  'error',
  'stages',
  'testScenario',
] as const;

export function readFollowedJobs(em: EntityManager, ids: readonly string[]): Promise<JobRecord[]> {
  return em.find(Job, { id: { $in: [...ids] } }, { fields: [...SHOWN] });
}
