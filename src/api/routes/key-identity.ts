import { Type } from 'typebox';
import { ApiKey } from '../../db/entities.ts';
import { epochSeconds } from '../../domain/job-resource.ts';
import { permissionsOf } from '../../domain/scopes.ts';
import type { ApiContext } from '../context.ts';
import { createQueryReader } from '../requests/query.ts';

const readQuery = createQueryReader(Type.Object({}, { additionalProperties: false }));

/** `GET /v1/api-keys/self`: whose key it is and what it may do, for every valid key. */
export async function getKeyIdentity(context: ApiContext): Promise<void> {
  // A key asks about itself; a request that names another one is a mistake.
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
