import { Job } from '../db/entities.ts';
import type { MikroORM } from '../db/orm.ts';

/** Reads results of other jobs of the same organization and mode; null where there is none, or it is no longer kept. */
export function resultReader(
  orm: MikroORM,
  { organizationId, livemode }: Pick<Job, 'organizationId' | 'livemode'>,
): (jobId: string) => Promise<unknown> {
  return async (id) => {
    const job = await orm.em.fork().findOne(Job, { id, organizationId, livemode });
    return job?.result ?? null;
  };
}
