import { type EntityManager, query } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';

/** Keys are separate by organisation, mode and route. */
export interface IdempotencyKey {
  organizationId: string;
  livemode: boolean;
  route: string;
  key: string;
}

export interface StoredResponse {
  status: number;
  body: string;
}

/** Row returned by the database functions; `Claimed` is their outcome for a free key. */
export interface ClaimRow<Claimed extends string> {
  outcome: Claimed | 'replay' | 'in_progress' | 'key_reuse';
  response_status: number | null;
  response_body: string | null;
}

/** The stored response of an earlier request with the key; null when the key was free. @throws ServiceError */
export function replayOf(row: ClaimRow<string> | undefined): StoredResponse | null {
  switch (row?.outcome) {
    case undefined:
      throw new Error('a claim returned no row');
    case 'replay':
      return { status: row.response_status ?? 0, body: row.response_body ?? '' };
    case 'in_progress':
      throw requestInProgress();
    case 'key_reuse':
      throw new ServiceError(
        'idempotency_key_reuse',
        'This Idempotency-Key was used with another payload. Use a new key for a new request.',
      );
    default:
      return null;
  }
}

export const requestInProgress = () =>
  new ServiceError(
    'idempotency_request_in_progress',
    'A request with this Idempotency-Key is still in progress. Wait for its response, or repeat this one later.',
    { headers: { 'Retry-After': '1' } },
  );

/**
 * Claims a key within the transaction that does what the response says. Returns null, or the stored response of an earlier
 * request with the key.
 * @throws ServiceError `idempotency_key_reuse`, `idempotency_request_in_progress`
 */
export async function claimIdempotencyKey(
  em: EntityManager,
  { organizationId, livemode, route, key }: IdempotencyKey,
  fingerprint: Uint8Array,
  response: StoredResponse,
  inProgressUntil: Date | null = null,
): Promise<StoredResponse | null> {
  const [row] = await query<ClaimRow<'claimed'>>(
    em,
    'select * from claim_idempotency_key($1, $2, $3, $4, $5, $6, $7, $8)',
    [organizationId, livemode, route, key, fingerprint, response.status, response.body, inProgressUntil],
  );
  return replayOf(row);
}

/**
 * The stored response of an earlier request with the key, for a request that may not be carried out. Claims nothing. Null
 * when there was none.
 * @throws ServiceError `idempotency_key_reuse`, `idempotency_request_in_progress`
 */
export async function findReplay(
  em: EntityManager,
  { organizationId, livemode, route, key }: IdempotencyKey,
  fingerprint: Uint8Array,
): Promise<StoredResponse | null> {
  const [row] = await query<ClaimRow<never>>(
    em,
    `select response_status, response_body,
       case when fingerprint <> $5 then 'key_reuse' when in_progress_until > now() then 'in_progress' else 'replay' end
         as outcome
     from idempotency_claims
     where organization_id = $1 and livemode = $2 and route = $3 and key = $4 and expires_at > now()`,
    [organizationId, livemode, route, key, fingerprint],
  );
  if (!row) return null;
  // The earlier request may not be on disk yet, and its response is about to be sent again (ADR 0014).
  await query(em, `select pg_logical_emit_message(true, 'flush', '')`);
  return replayOf(row);
}

/**
 * Stores the final response of the first request for replays. Returns false when the claim is no longer open: the request
 * was considered dead, and another one took the claim.
 */
export async function storeResponse(
  em: EntityManager,
  claim: IdempotencyKey,
  response: StoredResponse,
): Promise<boolean> {
  const stored = await query(
    em,
    `update idempotency_claims set response_status = $5, response_body = $6, in_progress_until = null
     where organization_id = $1 and livemode = $2 and route = $3 and key = $4 and in_progress_until is not null
     returning key`,
    [claim.organizationId, claim.livemode, claim.route, claim.key, response.status, response.body],
  );
  return stored.length > 0;
}

/**
 * Stores the response of a request that held its connection, unless the claim has expired or holds one already. Returns
 * the response that every replay gets; null when the claim is gone. Safe to repeat when the connection to PostgreSQL was
 * lost and nobody knows whether it was stored.
 */
export async function storeWaitedResponse(
  em: EntityManager,
  claim: IdempotencyKey,
  response: StoredResponse,
): Promise<StoredResponse | null> {
  const key = [claim.organizationId, claim.livemode, claim.route, claim.key];
  const changed = await query(
    em,
    `update idempotency_claims set response_status = $5, response_body = $6, in_progress_until = null
     where organization_id = $1 and livemode = $2 and route = $3 and key = $4 and in_progress_until > clock_timestamp()
     returning key`,
    [...key, response.status, response.body],
  );
  if (changed.length > 0) return response;
  // A statement of its own: the first may have waited for a commit that its snapshot does not show.
  const [stored] = await query<StoredResponse>(
    em,
    `select response_status as status, response_body as body from idempotency_claims
     where organization_id = $1 and livemode = $2 and route = $3 and key = $4`,
    key,
  );
  return stored ?? null;
}

/** Frees a key whose request was refused after claiming it. */
export async function releaseIdempotencyKey(em: EntityManager, claim: IdempotencyKey): Promise<void> {
  await query(
    em,
    `delete from idempotency_claims
     where organization_id = $1 and livemode = $2 and route = $3 and key = $4 and in_progress_until is not null`,
    [claim.organizationId, claim.livemode, claim.route, claim.key],
  );
}

const BATCH = 1_000;

/** Deletes a batch of expired claims; skips those that another replica deletes or a request takes over. */
export async function deleteExpiredIdempotencyClaims(
  em: EntityManager,
): Promise<{ rows: number /** Whether there may be more; call again. */; hasMore: boolean }> {
  const rows = await query(
    em,
    // Locked, a row stays where it is.
    `delete from idempotency_claims where ctid = any (array(
       select ctid from idempotency_claims where expires_at <= now() order by expires_at limit $1 for update skip locked
     )) returning 1`,
    [BATCH],
  );
  return { rows: rows.length, hasMore: rows.length === BATCH };
}
