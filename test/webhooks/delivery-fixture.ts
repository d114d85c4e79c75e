/** Rows around a delivery, as admission and settlement leave them. */

import { Event, Job } from '../../src/jobs/entities.ts';
import { ApiKey, Organization } from '../../src/organizations/entities.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { WebhookDelivery, WebhookEndpoint } from '../../src/webhooks/entities.ts';
import { newWebhookSecret } from '../../src/webhooks/signing.ts';
import { sealWebhookSecret } from '../../src/webhooks/signing-secrets.ts';
import { testSealedSecrets } from '../support/sealed-secrets.ts';

export interface Mode {
  livemode: boolean;
  isStaging: boolean;
}

export const LIVE: Mode = { livemode: true, isStaging: false };

export interface Owner extends Mode {
  organizationId: string;
  apiKeyId: string;
}

export async function createOwner(orm: MikroORM, mode: Mode = LIVE): Promise<Owner> {
  const em = orm.em.fork();
  const organizationId = newId('organization');
  const apiKeyId = newId('apiKey');
  const createdAt = new Date();
  em.create(Organization, { id: organizationId, name: 'Test', createdAt });
  await em.flush();
  em.create(ApiKey, {
    id: apiKeyId,
    organizationId,
    name: 'test',
    prefix: 'chk_live_x',
    secretHash: Buffer.from(apiKeyId),
    previousSecretHash: null,
    ...mode,
    scopes: [],
    createdBy: newId('user'),
    createdAt,
    lastUsedAt: null,
    revokedAt: null,
    expiresAt: null,
    rotatesAt: null,
  });
  await em.flush();
  return { organizationId, apiKeyId, ...mode };
}

/** `secrets` are given as they are, and stored sealed; a second one is active for another hour. */
export async function createEndpoint(
  orm: MikroORM,
  owner: Owner,
  changes: Partial<
    Pick<
      WebhookEndpoint,
      | 'url'
      | 'secrets'
      | 'previousSecretExpiresAt'
      | 'status'
      | 'livemode'
      | 'isStaging'
      | 'consecutiveFailures'
      | 'failingSince'
    >
  > = {},
): Promise<string> {
  const em = orm.em.fork();
  const id = newId('webhookEndpoint');
  const { secrets = [newWebhookSecret()], ...others } = changes;
  em.create(WebhookEndpoint, {
    id,
    organizationId: owner.organizationId,
    url: 'https://receiver.example/hook',
    description: '',
    events: ['job.succeeded'],
    status: 'enabled',
    livemode: owner.livemode,
    isStaging: owner.isStaging,
    secrets: secrets.map((secret) => sealWebhookSecret(id, secret, testSealedSecrets)),
    previousSecretExpiresAt: secrets.length > 1 ? new Date(Date.now() + 3_600_000) : null,
    consecutiveFailures: 0,
    failingSince: null,
    lastSuccessAt: null,
    lastError: null,
    createdAt: new Date(),
    ...others,
  });
  await em.flush();
  return id;
}

/** A job's event and its delivery to the endpoint. */
export async function createDelivery(
  orm: MikroORM,
  owner: Owner,
  webhookEndpointId: string,
): Promise<{ deliveryId: string; eventId: string; payload: string }> {
  const em = orm.em.fork();
  const jobId = newId('job');
  const eventId = newId('event');
  const deliveryId = newId('webhookDelivery');
  const now = new Date();
  const { organizationId, apiKeyId, livemode, isStaging } = owner;
  em.create(Job, {
    id: jobId,
    organizationId,
    apiKeyId,
    endpoint: 'dashboard.read',
    status: 'succeeded',
    livemode,
    isStaging,
    testScenario: null,
    parameters: {},
    inputs: [],
    reservedCredits: 0,
    chargedCredits: 0,
    modelVersion: null,
    result: {},
    error: null,
    requestId: newId('request'),
    idempotencyKey: null,
    createdAt: now,
    startedAt: now,
    completedAt: now,
    workflowStartedAt: now,
    expiryMs: 600_000,
    dueAt: now,
  });
  await em.flush();
  const payload = JSON.stringify({ id: eventId, object: 'event', text: 'größer' });
  em.create(Event, {
    id: eventId,
    organizationId,
    livemode,
    isStaging,
    type: 'job.succeeded',
    jobId,
    payload,
    createdAt: now,
  });
  await em.flush();
  em.create(WebhookDelivery, {
    id: deliveryId,
    event: eventId,
    webhookEndpoint: webhookEndpointId,
    status: 'pending',
    createdAt: now,
    completedAt: null,
    workflowStartedAt: null,
    nextAttemptAt: null,
    replayOf: null,
  });
  await em.flush();
  return { deliveryId, eventId, payload };
}

export const readDelivery = (orm: MikroORM, id: string) => orm.em.fork().findOneOrFail(WebhookDelivery, { id });
export const readEndpoint = (orm: MikroORM, id: string) => orm.em.fork().findOneOrFail(WebhookEndpoint, { id });

export interface RecordedAttempt {
  attempt: number;
  attempted_at: string;
  status_code: number | null;
  error: string | null;
}

export const readAttempts = (orm: MikroORM, deliveryId: string) =>
  query<RecordedAttempt>(
    orm.em.fork(),
    'select attempt, attempted_at, status_code, error from webhook_attempts where delivery_id = $1 order by attempt',
    [deliveryId],
  );
