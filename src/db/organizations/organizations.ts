import { type EntityManager, query } from '../orm.ts';

/**
 * Makes the row of an organisation that the identity provider knows and this service meets for the first time: who
 * exists is the provider's to say.
 */
export async function ensureOrganization(em: EntityManager, id: string): Promise<void> {
  await query(em, 'insert into organizations (id, name) values ($1, $1) on conflict (id) do nothing', [id]);
}
