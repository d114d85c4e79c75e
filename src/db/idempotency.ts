import { ServiceError } from '../domain/service-error.ts';
import { type EntityManager, query } from './orm.ts';

/** Keys are apart by organisation, mode and route. */
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

/** As the functions of the database answer it; `Claimed` is their word for a key that was free. */
export interface ClaimRow<Claimed extends string> {
  outcome: Claimed | 'replay' | 'in_progress' | 'key_reuse';
  response_status: number | null;
  response_body: string | null;
}

/** The response an earlier request with the key left, or null when the key was free. @throws ServiceError */
export function replayOf(row: ClaimRow<string> | undefined): StoredResponse | null {
  switch (row?.outcome) {
    case undefined:
      throw new Error('a claim answered no row');
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
    'A request with this Idempotency-Key is still in progress. Wait for its answer, or repeat this one later.',
    { headers: { 'Retry-After': '1' } },
  );

/**
 * Claims a key inside the transaction that does what the response says. Answers null, or the response of the request
 * that had the key before.
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
 * The response of an earlier request with the key, for a request that may make nothing itself: claims nothing. Null when
 * there was none.
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
  // What the earlier request did may still be on its way to the disk, and is answered for a second time here.
  await query(em, `select pg_logical_emit_message(true, 'flush', '')`);
  return replayOf(row);
}

/**
 * Stores what the first request was answered in the end, and lets replays have it. Answers false where the claim is no
 * longer open: it was taken for dead, and another request answered it.
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

/** Frees a key whose request was refused after it had claimed it. */
export async function releaseIdempotencyKey(em: EntityManager, claim: IdempotencyKey): Promise<void> {
  await query(
    em,
    `delete from idempotency_claims
     where organization_id = $1 and livemode = $2 and route = $3 and key = $4 and in_progress_until is not null`,
    [claim.organizationId, claim.livemode, claim.route, claim.key],
  );
}
