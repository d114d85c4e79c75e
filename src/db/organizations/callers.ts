/** Who sends a request, and how often: the one statement that every request with an API key begins with. */
import type { ApiKey } from '../entities.ts';
import { type EntityManager, query } from '../orm.ts';

/** What a request may go by of its key. */
export type CallerKey = Pick<ApiKey, 'id' | 'organizationId' | 'livemode' | 'isStaging' | 'scopes'>;

export interface Caller extends CallerKey {
  state: 'usable' | 'revoked' | 'expired';
  /** Null when the request was not counted: its key cannot be used. */
  rate: CountedRate | null;
  /** Whether the endpoint that is called has a model in live mode. */
  isEndpointInstalled: boolean;
}

export interface CountedRate {
  /** Requests of the window, this one included. */
  requests: number;
  /** Until the next window, from 0 to `RATE_WINDOW_SECONDS`. */
  resetSeconds: number;
}

export interface CallerLookup {
  /** Of the presented secret. */
  secretHash: Uint8Array;
  now: Date;
  /** What the organisation's requests are counted under, by mode. */
  rateName: string;
  /** Slug; null where no endpoint is called. */
  endpoint: string | null;
}

export const RATE_WINDOW_SECONDS = 60;

const FIND_CALLER = `
  select (caller).id, (caller).organization_id as "organizationId", (caller).livemode,
    (caller).is_staging as "isStaging", (caller).scopes, state, requests, reset_seconds as "resetSeconds",
    is_endpoint_installed as "isEndpointInstalled"
  from find_caller($1, $2, $3, interval '${RATE_WINDOW_SECONDS} seconds', $4)
  where (caller).id is not null`;

type CallerRow = Omit<Caller, 'rate'> & { [Field in keyof CountedRate]: number | null };

/**
 * Finds the key with the secret, and counts the request if the key can be used. Nothing is remembered between requests:
 * revocation, and the count of other replicas, hold at once. Answers null when nobody has the secret.
 */
export async function findCaller(em: EntityManager, lookup: CallerLookup): Promise<Caller | null> {
  const { secretHash, now, rateName, endpoint } = lookup;
  const [row] = await query<CallerRow>(em, FIND_CALLER, [secretHash, now, rateName, endpoint]);
  if (!row) return null;
  const { requests, resetSeconds, ...caller } = row;
  return { ...caller, rate: requests === null || resetSeconds === null ? null : { requests, resetSeconds } };
}

const COUNT_REQUEST = `
  select requests, reset_seconds as "resetSeconds"
  from count_request($1, interval '${RATE_WINDOW_SECONDS} seconds')`;

/** Counts a request whose sender is known by other means than a key. */
export async function countRequest(em: EntityManager, rateKey: string): Promise<CountedRate> {
  const [counted] = await query<CountedRate>(em, COUNT_REQUEST, [rateKey]);
  if (!counted) throw new Error('the count of a request answered no row');
  return counted;
}
