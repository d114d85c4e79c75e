/** API keys as the management API changes them. */
import { LockMode } from '@mikro-orm/core';
import { ApiKey } from '../entities.ts';
import { type EntityManager, query } from '../orm.ts';

/** The key, held until the transaction ends, so that two changes of one key come one after the other. */
export function lockApiKey(em: EntityManager, organizationId: string, id: string): Promise<ApiKey | null> {
  return em.findOne(ApiKey, { id, organizationId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Counts the keys that work. Until the transaction ends nobody else counts those of the same organisation. */
export async function countActiveApiKeys(em: EntityManager, organizationId: string, now: Date): Promise<number> {
  // Weaker than the lock of an update of the id: jobs of the organisation go on being admitted.
  await query(em, 'select id from organizations where id = $1 for no key update', [organizationId]);
  return em.count(ApiKey, {
    organizationId,
    revokedAt: null,
    $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }],
  });
}

/** Notes when keys were last used. What is there stays when it is later. */
export async function recordKeyUse(em: EntityManager, uses: ReadonlyMap<string, Date>): Promise<void> {
  // In the order of the ids, so that the processes which note the same keys at once wait for each other in one direction.
  await query(
    em,
    `with used as (
       select known.id, use.at
       from unnest($1::text[], $2::timestamptz[]) as use (id, at) join api_keys as known on known.id = use.id
       where known.last_used_at is null or known.last_used_at < use.at
       order by known.id
       for no key update of known
     )
     update api_keys as known set last_used_at = used.at from used where known.id = used.id`,
    [[...uses.keys()], [...uses.values()].map((at) => at.toISOString())],
  );
}
