/** Promotional credits: granted, used before all others, and removed when they expire. */

import { type EntityManager, query } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import { type BalanceKey, book, type LockedAccount, lockAccount } from './credit-accounts-store.ts';
import { expiriesOf, type Grant, useGrants } from './credit-grants.ts';

const BATCH = 200;

export interface Promotion extends BalanceKey {
  /** Credits. */
  amount: number;
  reason: string;
  expiresAt: Date;
  now: Date;
  /** Identifies the promotion, so that it is granted once. */
  externalReference?: string | undefined;
}

/** Grants promotional credits. Returns the id of the grant, or null for a known reference. */
export function grantPromotion(
  em: EntityManager,
  { amount, reason, expiresAt, now, externalReference, ...key }: Promotion,
): Promise<string | null> {
  return em.transactional(async (em) => {
    const account = await lockAccount(em, key);
    // Earlier charges consume earlier grants first.
    await rollGrants(em, account);
    const grantId = newId('creditGrant');
    const isNew = await book(em, account, { kind: 'promotion', change: amount, reason, grantId, externalReference });
    if (!isNew) return null;
    await query(
      em,
      `insert into credit_grants (id, organization_id, livemode, amount, reason, expires_at, created_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [grantId, key.organizationId, key.livemode, amount, reason, expiresAt, now],
    );
    return grantId;
  });
}

/**
 * Removes what is left of expired grants and returns the number of credits. The part covered by open holds stays until a
 * later call finds it used or removes it.
 */
export function expireGrants(em: EntityManager, key: BalanceKey, now: Date): Promise<number> {
  return em.transactional(async (em) => {
    const account = await lockAccount(em, key);
    const grants = await rollGrants(em, account);
    const expiries = expiriesOf(grants, { held: account.held, now });
    for (const { grantId, amount } of expiries) {
      await book(em, account, { kind: 'expiry', change: -amount, reason: null, grantId });
      await query(em, 'update credit_grants set expired = expired + $2 where id = $1', [grantId, amount]);
    }
    return expiries.reduce((sum, { amount }) => sum + amount, 0);
  });
}

/** Finds balances with expired grants that may have credits left. */
export function findBalancesWithExpiredGrants(em: EntityManager, now: Date): Promise<BalanceKey[]> {
  return query<BalanceKey>(
    em,
    `select distinct organization_id as "organizationId", livemode from credit_grants
     where consumed + expired < amount and expires_at <= $1 limit $2`,
    [now, BATCH],
  );
}

/** Computes and records how the charges since the last call consumed the account's grants. Returns the grants. */
export async function rollGrants(em: EntityManager, account: LockedAccount): Promise<Grant[]> {
  const { organizationId, livemode, captured } = account;
  const grants = await readOpenGrants(em, account);
  const used = useGrants(grants, {
    captured: captured - account.capturedRolled,
    balance: account.available + account.held,
  });
  await query(
    em,
    `update credit_grants set consumed = used.consumed
     from unnest($1::text[], $2::bigint[]) as used (id, consumed)
     where credit_grants.id = used.id and credit_grants.consumed <> used.consumed`,
    [used.map(({ id }) => id), used.map(({ consumed }) => consumed)],
  );
  await query(
    em,
    `update credit_accounts set captured_rolled = $3
     where organization_id = $1 and livemode = $2 and captured_rolled <> $3`,
    [organizationId, livemode, captured],
  );
  account.capturedRolled = captured;
  return used;
}

async function readOpenGrants(em: EntityManager, { organizationId, livemode }: BalanceKey): Promise<Grant[]> {
  const rows = await query<{ id: string; amount: string; consumed: string; expired: string; expires_at: Date }>(
    em,
    `select id, amount, consumed, expired, expires_at from credit_grants
     where organization_id = $1 and livemode = $2 and consumed + expired < amount`,
    [organizationId, livemode],
  );
  return rows.map((row) => ({
    id: row.id,
    amount: Number(row.amount),
    consumed: Number(row.consumed),
    expired: Number(row.expired),
    expiresAt: new Date(row.expires_at),
  }));
}
