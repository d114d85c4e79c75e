/** Organisations with credits and keys. A test with its own customer has its own limits. */
import { topUp } from '../../src/credits/credit-bookings-store.ts';
import { type KeyMode, newApiKeySecret } from '../../src/organizations/api-keys.ts';
import { ApiKey, Organization } from '../../src/organizations/entities.ts';
import { SCOPE_CATALOGUE } from '../../src/organizations/scopes.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { WebhookEndpoint } from '../../src/webhooks/entities.ts';
import { newSealedSecret } from '../../src/webhooks/signing-secrets.ts';
import { testSealedSecrets } from './sealed-secrets.ts';

export interface Customer {
  organizationId: string;
  /** Secrets of one key of each mode, with every scope. */
  keys: Record<KeyMode, string>;
  keyIds: Record<KeyMode, string>;
}

const KEY_MODES: readonly KeyMode[] = ['live', 'staging', 'test'];

export async function createCustomer(orm: MikroORM, { live = 10_000, test = 10_000 } = {}): Promise<Customer> {
  const em = orm.em.fork();
  const organizationId = newId('organization');
  await em.persist(em.create(Organization, { id: organizationId, name: 'Test', createdAt: new Date() })).flush();
  const keys = await Promise.all(KEY_MODES.map((mode) => createKey(orm, organizationId, mode)));
  for (const [livemode, amount] of [
    [true, live],
    [false, test],
  ] as const) {
    if (amount > 0) await topUp(em, { organizationId, livemode, amount, reason: 'test' });
  }
  const [liveKey, stagingKey, testKey] = keys;
  if (!liveKey || !stagingKey || !testKey) throw new Error('there is a key of each mode');
  return {
    organizationId,
    keys: { live: liveKey.secret, staging: stagingKey.secret, test: testKey.secret },
    keyIds: { live: liveKey.id, staging: stagingKey.id, test: testKey.id },
  };
}

export async function createKey(
  orm: MikroORM,
  organizationId: string,
  mode: KeyMode,
  changes: Partial<Pick<ApiKey, 'scopes' | 'revokedAt' | 'expiresAt' | 'rotatesAt' | 'previousSecretHash'>> = {},
): Promise<{ id: string; secret: string }> {
  const em = orm.em.fork();
  const { secret, prefix, hash } = newApiKeySecret(mode);
  const id = newId('apiKey');
  em.create(ApiKey, {
    id,
    organizationId,
    name: `test ${mode}`,
    prefix,
    secretHash: hash,
    previousSecretHash: null,
    livemode: mode !== 'test',
    isStaging: mode === 'staging',
    scopes: [...SCOPE_CATALOGUE],
    createdBy: newId('user'),
    createdAt: new Date(),
    lastUsedAt: null,
    revokedAt: null,
    expiresAt: null,
    rotatesAt: null,
    ...changes,
  });
  await em.flush();
  return { id, secret };
}

export async function createWebhookEndpoint(
  orm: MikroORM,
  organizationId: string,
  changes: Partial<Pick<WebhookEndpoint, 'url' | 'events' | 'status' | 'livemode' | 'isStaging'>> = {},
): Promise<{ id: string; secret: string }> {
  const em = orm.em.fork();
  const id = newId('webhookEndpoint');
  const { secret, sealed } = newSealedSecret(id, testSealedSecrets);
  em.create(WebhookEndpoint, {
    id,
    organizationId,
    url: 'https://receiver.example/hook',
    description: '',
    events: ['job.succeeded', 'job.partial', 'job.failed'],
    status: 'enabled',
    livemode: false,
    isStaging: false,
    secrets: [sealed],
    previousSecretExpiresAt: null,
    consecutiveFailures: 0,
    failingSince: null,
    lastSuccessAt: null,
    lastError: null,
    createdAt: new Date(),
    ...changes,
  });
  await em.flush();
  return { id, secret };
}

export interface Account {
  available: number;
  held: number;
  openJobs: number;
}

export async function readAccount(orm: MikroORM, organizationId: string, livemode: boolean): Promise<Account> {
  const [row] = await query<Record<keyof Account, string>>(
    orm.em.fork(),
    `select available, held, open_jobs as "openJobs" from credit_accounts
     where organization_id = $1 and livemode = $2`,
    [organizationId, livemode],
  );
  if (!row) throw new Error(`${organizationId} has no such account`);
  return { available: Number(row.available), held: Number(row.held), openJobs: Number(row.openJobs) };
}
