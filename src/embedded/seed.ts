/** Seeds a development database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVENT_TYPES } from '../contracts/job.ts';
import { topUp } from '../credits/credit-bookings-store.ts';
import { openDatabase } from '../database.ts';
import { newApiKeySecret } from '../organizations/api-keys.ts';
import { ApiKey, Organization } from '../organizations/entities.ts';
import { SCOPE_CATALOGUE } from '../organizations/scopes.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import type { SealedSecrets } from '../platform/sealed-secrets.ts';
import { importPriceBook } from '../price-books/import-price-book.ts';
import { invented } from '../price-books/invented-market.ts';
import { COLUMNS } from '../price-books/observation.ts';
import { activateVersion } from '../price-books/price-books-store.ts';
import { importRepairBook } from '../price-books/repairs/import-repair-book.ts';
import { inventedRepairs } from '../price-books/repairs/invented-repairs.ts';
import { REPAIR_COLUMNS } from '../price-books/repairs/repair-entry.ts';
import type { Market } from '../price-books/row-fields.ts';
import { setPaidPeriod } from '../sdk-licenses/sdk-subscriptions-store.ts';
import { WebhookEndpoint } from '../webhooks/entities.ts';
import { newSealedSecret } from '../webhooks/signing-secrets.ts';

const CREDITS = 1_000_000;
const PAID_PERIOD_MS = 365 * 24 * 60 * 60_000;
const PAID_SDKS = 2;

export interface DevelopmentSeed {
  organizationId: string;
  keys: { live: string; staging: string; test: string };
}

/**
 * Creates an organisation with credits, a subscription of two SDKs and a key for each mode. Returns the secrets, which are
 * stored nowhere.
 */
export function seedDevelopment(databaseUrl: string): Promise<DevelopmentSeed> {
  return withDatabase(databaseUrl, (root) =>
    root.transactional(async (em) => {
      const organizationId = newId('organization');
      await em
        .persist(em.create(Organization, { id: organizationId, name: 'Development', createdAt: new Date() }))
        .flush();
      const keys = {
        live: createKey(em, organizationId, 'live'),
        staging: createKey(em, organizationId, 'staging'),
        test: createKey(em, organizationId, 'test'),
      };
      await em.flush();
      await topUp(em, { organizationId, livemode: true, amount: CREDITS, reason: 'development seed' });
      await topUp(em, { organizationId, livemode: false, amount: CREDITS, reason: 'development seed' });
      const now = Date.now();
      const paid = { paidFrom: new Date(now), paidUntil: new Date(now + PAID_PERIOD_MS), maxSdks: PAID_SDKS };
      await setPaidPeriod(em, organizationId, paid);
      return { organizationId, keys };
    }),
  );
}

function createKey(em: EntityManager, organizationId: string, mode: 'live' | 'staging' | 'test'): string {
  const { secret, prefix, hash } = newApiKeySecret(mode);
  em.persist(
    em.create(ApiKey, {
      id: newId('apiKey'),
      organizationId,
      name: `Development ${mode}`,
      prefix,
      secretHash: hash,
      livemode: mode !== 'test',
      isStaging: mode === 'staging',
      scopes: [...SCOPE_CATALOGUE],
      createdBy: newId('user'),
      createdAt: new Date(),
      previousSecretHash: null,
      lastUsedAt: null,
      revokedAt: null,
      expiresAt: null,
      rotatesAt: null,
    }),
  );
  return secret;
}

/** Their names say that nothing in them is real. Requests must name them. */
const DEMONSTRATION_BOOKS = [
  {
    book: 'demonstration-invented',
    importBook: importPriceBook,
    columns: COLUMNS,
    rows: (market: Market) => invented({ count: 600, ...market }),
  },
  {
    book: 'demonstration-repairs-invented',
    importBook: importRepairBook,
    columns: REPAIR_COLUMNS,
    rows: inventedRepairs,
  },
] as const;

/** Imports and activates the invented price books, unless the database has them. */
export function importDemonstrationBooks(databaseUrl: string): Promise<void> {
  return withDatabase(databaseUrl, async (em) => {
    const folder = await mkdtemp(join(tmpdir(), 'price-book-'));
    try {
      for (const { book, importBook, columns, rows } of DEMONSTRATION_BOOKS) {
        const path = join(folder, `${book}.csv`);
        const market = { country: 'GB', currency: 'GBP' };
        await writeFile(path, `${[columns.join(','), ...rows(market)].join('\n')}\n`);
        const { isNew } = await importBook(em, { path, book, ...market, namedOnly: true });
        // Later starts leave it as the operator has set it.
        if (isNew) await em.transactional((one) => activateVersion(one, { book, version: null }));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

interface DevelopmentWebhookEndpoint {
  organizationId: string;
  url: string;
  livemode: boolean;
  /** With the keys of the delivering process. */
  sealedSecrets: SealedSecrets;
}

/** Registers a receiver for every event of a mode. */
export function createDevelopmentWebhookEndpoint(
  databaseUrl: string,
  { organizationId, url, livemode, sealedSecrets }: DevelopmentWebhookEndpoint,
): Promise<{ id: string; secret: string }> {
  return withDatabase(databaseUrl, async (em) => {
    const id = newId('webhookEndpoint');
    const { secret, sealed } = newSealedSecret(id, sealedSecrets);
    const endpoint = em.create(WebhookEndpoint, {
      id,
      organizationId,
      url,
      description: 'Development',
      events: [...EVENT_TYPES],
      status: 'enabled',
      livemode,
      isStaging: false,
      secrets: [sealed],
      previousSecretExpiresAt: null,
      consecutiveFailures: 0,
      failingSince: null,
      lastSuccessAt: null,
      lastError: null,
      createdAt: new Date(),
    });
    await em.persist(endpoint).flush();
    return { id: endpoint.id, secret };
  });
}

/** Stops deliveries to a receiver that has gone. */
export function disableDevelopmentWebhookEndpoint(databaseUrl: string, id: string): Promise<void> {
  return withDatabase(databaseUrl, async (em) => {
    await em.nativeUpdate(WebhookEndpoint, { id }, { status: 'disabled' });
  });
}

async function withDatabase<Result>(url: string, work: (em: EntityManager) => Promise<Result>): Promise<Result> {
  const orm = await openDatabase({ url, poolSize: 2 });
  try {
    return await work(orm.em.fork());
  } finally {
    await orm.close();
  }
}
