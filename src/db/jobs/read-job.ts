import { Job } from '../entities.ts';
import { columnsOf, type EntityManager, query } from '../orm.ts';

/**
 * Reads a job that is known to exist, by its id alone, as a prepared statement: for whoever carries it to its end. A
 * request for a job looks for it within its organisation and mode.
 */
export async function readJob(em: EntityManager, jobId: string): Promise<Job> {
  const [row] = await query<Record<string, unknown>>(em, `select ${columnsOf(em, Job)} from jobs where id = $1`, [
    jobId,
  ]);
  if (!row) throw new Error(`there is no job ${jobId}`);
  return em.map(Job, row);
}
