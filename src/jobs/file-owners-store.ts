/** Jobs and uploads as owners of stored files. */
import { type EntityManager, query } from '../platform/database/orm.ts';

/** Returns those of the given owners that have no row. */
export async function findUnknownOwners(
  em: EntityManager,
  table: 'jobs' | 'uploads',
  ids: string[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em,
    `select owner.id from unnest($1::text[]) as owner (id) where not exists (select from ${table} where ${table}.id = owner.id)`,
    [ids],
  );
  return rows.map((row) => row.id);
}
