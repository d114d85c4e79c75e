/** The organisations that generate the load: many, because each may send 600 requests a minute to an endpoint. */
import pg from 'pg';
import { newApiKeySecret } from '../src/organizations/api-keys.ts';
import { SCOPE_CATALOGUE } from '../src/organizations/scopes.ts';

export interface Organization {
  id: string;
  apiKeyId: string;
  /** Secret of its one live key. */
  secret: string;
  secretHash: Uint8Array;
}

/** More than any run spends. */
const CREDITS = 1_000_000_000_000;

/** Id of the n-th organisation, from 1; pgbench computes the same from a random number. */
export function organizationId(number: number): string {
  return `org_${digits(number)}`;
}

export function apiKeyId(number: number): string {
  return `key_${digits(number)}`;
}

/**
 * Gives each of the first `count` organisations a second key whose id and hash follow from its number, so that pgbench can compute
 * them. No secret has such a hash.
 */
export async function createKeysForPgbench(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `insert into api_keys (id, organization_id, name, prefix, secret_hash, livemode, scopes, created_by)
       select '${PGBENCH_KEY_PREFIX}' || lpad(n::text, ${ID_DIGITS}, '0'), 'org_' || lpad(n::text, ${ID_DIGITS}, '0'),
         'pgbench', 'chk_live_none', ${pgbenchSecretHash('n')}, true, $2, 'usr_benchmark'
       from generate_series(1, $1) as n`,
      [count, SCOPE_CATALOGUE],
    );
    await client.query('analyze api_keys');
  } finally {
    await client.end();
  }
}

export const PGBENCH_KEY_PREFIX = 'kpg_';
/** SQL of the hash of the n-th such key. */
export const pgbenchSecretHash = (number: string): string => `decode(lpad((${number})::text, 64, '0'), 'hex')`;

/** Width of the number in an id: that of the real ids. */
export const ID_DIGITS = 22;

function digits(number: number): string {
  return String(number).padStart(ID_DIGITS, '0');
}

/** Creates `count` organisations, each with credits and a live key. */
export async function createOrganizations(databaseUrl: string, count: number): Promise<Organization[]> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const keys = numbers.map(() => newApiKeySecret('live'));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const ids = numbers.map(organizationId);
    await client.query('insert into organizations (id, name) select id, id from unnest($1::text[]) as t (id)', [ids]);
    await client.query(
      `insert into api_keys (id, organization_id, name, prefix, secret_hash, livemode, scopes, created_by)
       select id, organization_id, 'Benchmark', prefix, secret_hash, true, $5, 'usr_benchmark'
       from unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) as t (id, organization_id, prefix, secret_hash)`,
      [numbers.map(apiKeyId), ids, keys.map(({ prefix }) => prefix), keys.map(({ hash }) => hash), SCOPE_CATALOGUE],
    );
    await giveCredits(client, ids, CREDITS);
    // Otherwise autovacuum would collect statistics at some time during the measurement.
    await client.query('analyze');
  } finally {
    await client.end();
  }
  return keys.map(({ secret, hash: secretHash }, index) => ({
    id: organizationId(index + 1),
    apiKeyId: apiKeyId(index + 1),
    secret,
    secretHash,
  }));
}

/** Creates one organisation beyond the others, with exactly these credits. */
export async function createOrganizationWithCredits(
  databaseUrl: string,
  number: number,
  credits: number,
): Promise<Pick<Organization, 'id' | 'apiKeyId' | 'secretHash'>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const id = organizationId(number);
    const key = newApiKeySecret('live');
    await client.query('insert into organizations (id, name) values ($1, $1)', [id]);
    await client.query(
      `insert into api_keys (id, organization_id, name, prefix, secret_hash, livemode, scopes, created_by)
       values ($1, $2, 'Benchmark', $3, $4, true, $5, 'usr_benchmark')`,
      [apiKeyId(number), id, key.prefix, key.hash, SCOPE_CATALOGUE],
    );
    await giveCredits(client, [id], credits);
    return { id, apiKeyId: apiKeyId(number), secretHash: key.hash };
  } finally {
    await client.end();
  }
}

async function giveCredits(client: pg.Client, ids: readonly string[], credits: number): Promise<void> {
  await client.query(
    `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason)
     select id, true, 'top_up', 'funding', 'available', $2, 'benchmark' from unnest($1::text[]) as t (id)`,
    [ids, credits],
  );
  await client.query(
    `insert into credit_accounts (organization_id, livemode, available)
     select id, true, $2 from unnest($1::text[]) as t (id)`,
    [ids, credits],
  );
}
