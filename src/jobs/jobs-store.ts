import { columnsOf, type EntityManager, type MikroORM, query } from '../platform/database/orm.ts';
import { Job } from './entities.ts';

/**
 * Reads a job by its id alone, as a prepared statement, for the code that runs it. Customers' requests look a job
 * up within its organisation and mode instead. @throws Error when there is none
 */
export async function readJob(em: EntityManager, jobId: string): Promise<Job> {
  const [row] = await query<Record<string, unknown>>(em, `select ${columnsOf(em, Job)} from jobs where id = $1`, [
    jobId,
  ]);
  if (!row) throw new Error(`there is no job ${jobId}`);
  return em.map(Job, row);
}

/** What metrics tell jobs apart by; null when there is no such job. */
export async function findJobLabels(
  em: EntityManager,
  jobId: string,
): Promise<{ endpoint: string; livemode: boolean } | null> {
  const [labels] = await query<{ endpoint: string; livemode: boolean }>(
    em,
    'select endpoint, livemode from jobs where id = $1',
    [jobId],
  );
  return labels ?? null;
}

/** Reads results of other jobs of the same organisation and mode; null when there is none, or it is no longer kept. */
export function createResultReader(
  orm: MikroORM,
  { organizationId, livemode }: Pick<Job, 'organizationId' | 'livemode'>,
): (jobId: string) => Promise<unknown> {
  return async (id) => {
    const job = await orm.em.fork().findOne(Job, { id, organizationId, livemode });
    return job?.result ?? null;
  };
}
