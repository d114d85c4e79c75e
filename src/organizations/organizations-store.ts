import { type EntityManager, query } from '../platform/database/orm.ts';

/** Creates the row of an organisation on first contact. The identity provider decides which organisations exist. */
export async function ensureOrganization(em: EntityManager, id: string): Promise<void> {
  await query(em, 'insert into organizations (id, name) values ($1, $1) on conflict (id) do nothing', [id]);
}
