/** Webhook endpoints as the management API changes them. */
import { LockMode } from '@mikro-orm/core';
import { WebhookEndpoint } from '../entities.ts';
import { type EntityManager, query } from '../orm.ts';

/** The endpoint, held until the transaction ends, so that two changes of it come one after the other. */
export function lockWebhookEndpoint(
  em: EntityManager,
  organizationId: string,
  id: string,
): Promise<WebhookEndpoint | null> {
  return em.findOne(WebhookEndpoint, { id, organizationId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Counts the endpoints of a mode. Until the transaction ends nobody else counts those of the same organisation. */
export async function countWebhookEndpoints(
  em: EntityManager,
  mode: { organizationId: string; livemode: boolean; isStaging: boolean },
): Promise<number> {
  // Weaker than the lock of an update of the id: jobs of the organisation go on being admitted.
  await query(em, 'select id from organizations where id = $1 for no key update', [mode.organizationId]);
  return em.count(WebhookEndpoint, mode);
}
