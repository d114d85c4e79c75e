/** Finds the caller of a request and counts the request, in one statement. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import type { ApiKey } from './entities.ts';

/** The properties of a key that decide about a request. */
export type CallerKey = Pick<ApiKey, 'id' | 'organizationId' | 'livemode' | 'isStaging' | 'scopes'>;

export interface Caller extends CallerKey {
  /** `rotated`: the key is usable, but the presented secret was replaced and its grace period is over. */
  state: 'usable' | 'revoked' | 'expired' | 'rotated';
  /** Null for an unusable key: its request is not counted. */
  rate: CountedRate | null;
  /** Whether the called endpoint has a model in live mode. */
  isEndpointInstalled: boolean;
}

export interface CountedRate {
  /** Requests in the window, this one included. */
  requests: number;
  /** Seconds until the next window, from 0 to `RATE_WINDOW_SECONDS`. */
  resetSeconds: number;
}

export interface CallerLookup {
  /** Hash of the presented secret. */
  secretHash: Uint8Array;
  now: Date;
  /** Name of the rate limit; requests are counted by organisation, mode and name. */
  rateName: string;
  /** Slug; null when no endpoint is called. */
  endpoint: string | null;
}

export const RATE_WINDOW_SECONDS = 60;

const FIND_CALLER = `
  select (caller).id, (caller).organization_id as "organizationId", (caller).livemode,
    (caller).is_staging as "isStaging", (caller).scopes, requests, reset_seconds as "resetSeconds",
    is_endpoint_installed as "isEndpointInstalled",
    -- The function calls a replaced secret expired, too; then the key itself is not.
    case when state = 'expired' and ((caller).expires_at <= $2) is not true then 'rotated' else state end as state
  from find_caller($1, $2, $3, interval '${RATE_WINDOW_SECONDS} seconds', $4)
  where (caller).id is not null`;

type CallerRow = Omit<Caller, 'rate'> & { [Field in keyof CountedRate]: number | null };

/**
 * Finds the key with the secret and counts the request if the key is usable. Nothing is cached, so revocations and the
 * counts of other replicas take effect at once. Returns null for an unknown secret.
 */
export async function findCaller(em: EntityManager, lookup: CallerLookup): Promise<Caller | null> {
  const { secretHash, now, rateName, endpoint } = lookup;
  const [row] = await query<CallerRow>(em, FIND_CALLER, [secretHash, now, rateName, endpoint]);
  if (!row) return null;
  const { requests, resetSeconds, ...caller } = row;
  return { ...caller, rate: requests === null || resetSeconds === null ? null : { requests, resetSeconds } };
}

/**
 * The scopes of the presented secrets that can be used now, in any order; a secret that cannot is left out. Counts no
 * request.
 */
export function readUsableScopes(
  em: EntityManager,
  secretHashes: readonly Uint8Array[],
  now: Date,
): Promise<{ secretHash: Uint8Array; scopes: string[] }[]> {
  return query(
    em,
    `select presented.hash as "secretHash", (found.caller).scopes
     from unnest($1::bytea[]) as presented (hash),
       lateral find_caller(presented.hash, $2, null, interval '0 seconds', null) as found
     where found.state = 'usable'`,
    [secretHashes.map((hash) => Buffer.from(hash)), now],
  );
}

const COUNT_REQUEST = `
  select requests, reset_seconds as "resetSeconds"
  from count_request($1, interval '${RATE_WINDOW_SECONDS} seconds')`;

/** Counts a request that is authenticated without an API key. */
export async function countRequest(em: EntityManager, rateKey: string): Promise<CountedRate> {
  const [counted] = await query<CountedRate>(em, COUNT_REQUEST, [rateKey]);
  if (!counted) throw new Error('count_request returned no row');
  return counted;
}
