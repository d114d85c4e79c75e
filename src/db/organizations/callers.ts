/** Who sends a request, and how often: the one statement that every request with an API key begins with. */
import type { ApiKey } from '../entities.ts';
import { type EntityManager, query } from '../orm.ts';

/** What a request may go by of its key. */
export type CallerKey = Pick<ApiKey, 'id' | 'organizationId' | 'livemode' | 'isStaging' | 'scopes'>;

export interface Caller extends CallerKey {
  state: 'usable' | 'revoked' | 'expired';
  /** Null when the request was not counted: its key cannot be used, or does not have the scope. */
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
  /** One of them is needed; null where any key will do. */
  grantingScopes: readonly string[] | null;
  /** What the organisation's requests are counted under, by mode. */
  rateName: string;
  /** Slug; null where no endpoint is called. */
  endpoint: string | null;
}

export const RATE_WINDOW_SECONDS = 60;

const NEXT_WINDOW = `clock_timestamp() + interval '${RATE_WINDOW_SECONDS} seconds'`;
const COUNT_ON = `
  on conflict (key) do update set
    requests = case when known.resets_at <= clock_timestamp() then 1 else known.requests + 1 end,
    resets_at = case when known.resets_at <= clock_timestamp() then excluded.resets_at else known.resets_at end
  returning requests, greatest(ceil(extract(epoch from resets_at - clock_timestamp())), 0)::integer as reset_seconds`;

// The secret from before a rotation works until rotates_at, and never past expires_at; each boundary instant itself is
// already too late. Two index look-ups: an "or" over both columns would read the whole table.
const FIND_CALLER = `
  with presented as (
    select id, organization_id, livemode, is_staging, scopes,
      case when revoked_at is not null then 'revoked' when expires_at <= $2 then 'expired' else 'usable' end as state
    from api_keys where secret_hash = $1
    union all
    select id, organization_id, livemode, is_staging, scopes,
      case when revoked_at is not null then 'revoked' when expires_at <= $2 then 'expired'
        when rotates_at > $2 then 'usable' else 'expired' end
    from api_keys where previous_secret_hash = $1
  ), counted as (
    insert into rate_limits as known (key, requests, resets_at)
    select organization_id || ':' || $4 || case when livemode then ':live' else ':test' end, 1, ${NEXT_WINDOW}
    from presented where state = 'usable' and ($3::text[] is null or scopes && $3)
    ${COUNT_ON}
  )
  select id, organization_id as "organizationId", livemode, is_staging as "isStaging", scopes, state,
    requests, reset_seconds as "resetSeconds",
    exists (select from installed_endpoints where endpoint = $5) as "isEndpointInstalled"
  from presented left join counted on true`;

type CallerRow = Omit<Caller, 'rate'> & { [Field in keyof CountedRate]: number | null };

/**
 * Finds the key with the secret, and counts the request if it may go on. Nothing is remembered between requests:
 * revocation, and the count of other replicas, hold at once. Answers null when nobody has the secret.
 */
export async function findCaller(em: EntityManager, lookup: CallerLookup): Promise<Caller | null> {
  const { secretHash, now, grantingScopes, rateName, endpoint } = lookup;
  const [row] = await query<CallerRow>(em, FIND_CALLER, [secretHash, now, grantingScopes, rateName, endpoint]);
  if (!row) return null;
  const { requests, resetSeconds, ...caller } = row;
  return { ...caller, rate: requests === null || resetSeconds === null ? null : { requests, resetSeconds } };
}

/** Counts a request whose sender is known by other means than a key. */
export async function countRequest(em: EntityManager, rateKey: string): Promise<CountedRate> {
  const [row] = await query<{ requests: number; reset_seconds: number }>(
    em,
    `insert into rate_limits as known (key, requests, resets_at) values ($1, 1, ${NEXT_WINDOW}) ${COUNT_ON}`,
    [rateKey],
  );
  if (!row) throw new Error('the count of a request answered no row');
  return { requests: row.requests, resetSeconds: row.reset_seconds };
}
