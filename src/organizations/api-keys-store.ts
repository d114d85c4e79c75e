/** API keys as the management API changes them. */
import { LockMode } from '@mikro-orm/core';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import { assertRoomForKey, keyModeOf } from './api-key-lifecycle.ts';
import { newApiKeySecret } from './api-keys.ts';
import { ApiKey } from './entities.ts';
import { normalizeScopes } from './scopes.ts';

interface KeyToCreate {
  organizationId: string;
  name: string;
  livemode: boolean;
  isStaging: boolean;
  scopes: readonly string[];
  /** Id of a user. */
  createdBy: string;
  expiresAt: Date | null;
  now: Date;
}

/** Creates a key and its secret, which is stored as a hash only. @throws ServiceError `api_key_limit_reached` */
export async function createApiKey(
  em: EntityManager,
  { scopes, now, ...key }: KeyToCreate,
): Promise<{ key: ApiKey; secret: string }> {
  const { secret, prefix, hash } = newApiKeySecret(keyModeOf(key));
  assertRoomForKey(await countActiveApiKeys(em, key.organizationId, now));
  const created = em.create(ApiKey, {
    ...key,
    id: newId('apiKey'),
    prefix,
    secretHash: hash,
    previousSecretHash: null,
    scopes: normalizeScopes(scopes),
    createdAt: now,
    lastUsedAt: null,
    revokedAt: null,
    rotatesAt: null,
  });
  return { key: created, secret };
}

/** Reads a key and locks its row until the transaction ends. */
export function lockApiKey(em: EntityManager, organizationId: string, id: string): Promise<ApiKey | null> {
  return em.findOne(ApiKey, { id, organizationId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Counts the active keys, and locks out other counts of the same organisation until the transaction ends. */
async function countActiveApiKeys(em: EntityManager, organizationId: string, now: Date): Promise<number> {
  // `no key update` does not conflict with the foreign-key locks of job admission.
  await query(em, 'select id from organizations where id = $1 for no key update', [organizationId]);
  return em.count(ApiKey, {
    organizationId,
    revokedAt: null,
    $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }],
  });
}

/** Records when keys were last used, never moving a time backwards. */
export async function recordKeyUse(em: EntityManager, uses: ReadonlyMap<string, Date>): Promise<void> {
  // Locked in id order, so that concurrent writers cannot deadlock.
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
