import { epochSeconds } from '../platform/epoch-seconds.ts';
import type { ApiKey } from './entities.ts';

/** The resource "API key" of the management API. */
export function renderApiKey(key: ApiKey) {
  return {
    id: key.id,
    object: 'api_key',
    name: key.name,
    prefix: key.prefix,
    livemode: key.livemode,
    is_staging: key.isStaging,
    scopes: key.scopes,
    created: epochSeconds(key.createdAt),
    created_by: key.createdBy,
    last_used_at: key.lastUsedAt && epochSeconds(key.lastUsedAt),
    revoked_at: key.revokedAt && epochSeconds(key.revokedAt),
    expires_at: key.expiresAt && epochSeconds(key.expiresAt),
    rotates_at: key.rotatesAt && epochSeconds(key.rotatesAt),
  };
}
