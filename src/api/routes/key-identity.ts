import { Type } from 'typebox';
import { ApiKey } from '../../organizations/entities.ts';
import { permissionsOf } from '../../organizations/scopes.ts';
import { epochSeconds } from '../../platform/epoch-seconds.ts';
import type { ApiContext } from '../context.ts';
import { createQueryReader } from '../requests/query.ts';

const readQuery = createQueryReader(Type.Object({}, { additionalProperties: false }));

/** `GET /v1/api-keys/self`: identity and permissions of the calling key, whatever its scopes. */
export async function getKeyIdentity(context: ApiContext): Promise<void> {
  // Refuses parameters: a request that names another key or organisation is a mistake.
  readQuery(context);
  const { id, organizationId, livemode, isStaging, scopes } = context.state.apiKey;
  const { expiresAt, rotatesAt } = await context.state.em.findOneOrFail(ApiKey, { id, organizationId });
  context.body = {
    id,
    organization_id: organizationId,
    livemode,
    is_staging: isStaging,
    permissions: permissionsOf(scopes),
    scopes,
    expires_at: expiresAt && epochSeconds(expiresAt),
    rotates_at: rotatesAt && epochSeconds(rotatesAt),
  };
}
