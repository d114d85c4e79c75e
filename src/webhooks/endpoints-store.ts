/** Webhook endpoints as the management API changes them. */
import { LockMode } from '@mikro-orm/core';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import type { SealedSecrets } from '../platform/sealed-secrets.ts';
import { assertModeExists, assertRoomForEndpoint, withoutDuplicates } from './endpoint-lifecycle.ts';
import { WebhookEndpoint } from './entities.ts';
import { newSealedSecret } from './signing-secrets.ts';

interface EndpointToCreate {
  organizationId: string;
  livemode: boolean;
  isStaging: boolean;
  url: string;
  events: readonly string[];
  description: string;
}

/**
 * Creates an endpoint and its signing secret, which is stored sealed.
 * @throws ServiceError `parameter_invalid`, `webhook_endpoint_limit_reached`
 */
export async function createWebhookEndpoint(
  em: EntityManager,
  { events, ...settings }: EndpointToCreate,
  sealedSecrets: SealedSecrets,
  now: Date,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { organizationId, livemode, isStaging } = settings;
  assertModeExists({ livemode, isStaging });
  assertRoomForEndpoint(await countWebhookEndpoints(em, { organizationId, livemode, isStaging }));
  const id = newId('webhookEndpoint');
  const { secret, sealed } = newSealedSecret(id, sealedSecrets);
  const endpoint = em.create(WebhookEndpoint, {
    ...settings,
    id,
    events: withoutDuplicates(events),
    status: 'enabled',
    secrets: [sealed],
    previousSecretExpiresAt: null,
    consecutiveFailures: 0,
    failingSince: null,
    lastSuccessAt: null,
    lastError: null,
    createdAt: now,
  });
  return { endpoint, secret };
}

/** Reads an endpoint and locks its row until the transaction ends. */
export function lockWebhookEndpoint(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<WebhookEndpoint | null> {
  return em.findOne(WebhookEndpoint, { id, organizationId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Counts the endpoints of a mode, and locks out other counts of the same organisation until the transaction ends. */
async function countWebhookEndpoints(
  em: EntityManager,
  mode: { organizationId: string; livemode: boolean; isStaging: boolean },
): Promise<number> {
  // `no key update` does not conflict with the foreign-key locks of job admission.
  await query(em, 'select id from organizations where id = $1 for no key update', [mode.organizationId]);
  return em.count(WebhookEndpoint, mode);
}
