import { type MikroORM, query } from './orm.ts';

/** Whether PostgreSQL responds to a query on a pooled connection. @throws when it cannot be reached. */
export async function answersQueries(orm: MikroORM): Promise<boolean> {
  return (await query(orm.em.fork(), 'select 1 as answer')).length === 1;
}
