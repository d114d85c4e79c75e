import type { TransferKind } from '../../contracts/credits.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type EntityManager, query } from '../orm.ts';
import { type BalanceKey, book, type LockedAccount, lockAccount } from './credit-accounts.ts';
import { rollGrants } from './credit-grants.ts';

interface TopUp extends BalanceKey {
  /** Credits. */
  amount: number;
  reason: string;
  /** Names the payment at its provider: it is booked once. */
  externalReference?: string | undefined;
}

/**
 * Adds credits to a balance, and creates the balance with its first top-up. Answers false, and does nothing, where the
 * payment was booked before.
 */
export function topUp(em: EntityManager, { amount, reason, externalReference, ...key }: TopUp): Promise<boolean> {
  return em.transactional(async (em) => {
    const account = await lockAccount(em, key);
    return book(em, account, { kind: 'top_up', change: amount, reason, externalReference });
  });
}

interface Adjustment extends BalanceKey {
  /** Credits; below zero they are taken away. */
  change: number;
  reason: string;
  /** Names what is corrected, so that it is booked once. */
  externalReference?: string | undefined;
}

/**
 * Corrects a balance. What is taken away comes from the credits that were paid for; from promotional ones only where
 * the others do not suffice. Answers false, and does nothing, where the reference was booked before.
 * @throws ServiceError `insufficient_credits` when more would be taken than is available
 */
export function adjustCredits(
  em: EntityManager,
  { change, reason, externalReference, ...key }: Adjustment,
): Promise<boolean> {
  return em.transactional(async (em) => {
    const account = await lockAccount(em, key);
    if (account.available + change < 0) {
      if (externalReference !== undefined && (await findBooking(em, externalReference))) return false;
      throw new ServiceError(
        'insufficient_credits',
        `${-change} credits cannot be taken: ${account.available} are available in ` +
          `${key.livemode ? 'live' : 'test'} mode.`,
      );
    }
    return bookAdjustment(em, account, { change, reason, externalReference });
  });
}

/** What was booked under a reference. */
export interface ReferencedBooking extends BalanceKey {
  kind: TransferKind;
  /** Credits; below zero they left the balance. */
  change: number;
  /** Of a promotion. */
  expiresAt: Date | null;
}

/** Null where nothing was. */
export async function findBooking(em: EntityManager, externalReference: string): Promise<ReferencedBooking | null> {
  const [row] = await query<{
    organization_id: string;
    livemode: boolean;
    kind: TransferKind;
    change: string;
    expires_at: string | Date | null;
  }>(
    em,
    `select transfer.organization_id, transfer.livemode, kind, expires_at,
            case to_account when 'available' then transfer.amount else -transfer.amount end as change
     from credit_transfers as transfer left join credit_grants as given on given.id = transfer.grant_id
     where external_reference = $1`,
    [externalReference],
  );
  if (!row) return null;
  return {
    organizationId: row.organization_id,
    livemode: row.livemode,
    kind: row.kind,
    change: Number(row.change),
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
  };
}

/** Books an adjustment of an account that has enough for it. Answers false where its reference was booked before. */
export async function bookAdjustment(
  em: EntityManager,
  account: LockedAccount,
  adjustment: Omit<Adjustment, keyof BalanceKey>,
): Promise<boolean> {
  // What was charged before uses the grants of before; then no more may be promotional than the balance has.
  await rollGrants(em, account);
  const isNew = await book(em, account, { kind: 'adjustment', ...adjustment });
  if (isNew) await rollGrants(em, account);
  return isNew;
}

/** Sets the balance below which `credits.low_balance` is told; null tells nothing. */
export async function setLowBalanceThreshold(
  em: EntityManager,
  { organizationId, livemode }: BalanceKey,
  threshold: number | null,
): Promise<void> {
  await query(
    em,
    `insert into credit_accounts (organization_id, livemode, low_balance_threshold) values ($1, $2, $3)
     on conflict (organization_id, livemode) do update set low_balance_threshold = excluded.low_balance_threshold`,
    [organizationId, livemode, threshold],
  );
}

export interface Headroom {
  /** Credits that may still be held. */
  available: number;
  openJobs: number;
}

/** What the next job finds; of a balance that there is not, nothing. */
export async function readHeadroom(em: EntityManager, { organizationId, livemode }: BalanceKey): Promise<Headroom> {
  const [account] = await query<{ available: string; open_jobs: number }>(
    em,
    'select available, open_jobs from credit_accounts where organization_id = $1 and livemode = $2',
    [organizationId, livemode],
  );
  return { available: Number(account?.available ?? 0), openJobs: account?.open_jobs ?? 0 };
}
