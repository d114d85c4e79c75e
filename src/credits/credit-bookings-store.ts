/** Bookings without a job: top-ups and adjustments, each booked once under its reference. */
import type { TransferKind } from '../contracts/credits.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';
import { type BalanceKey, book, type LockedAccount, lockAccount } from './credit-accounts-store.ts';
import { rollGrants } from './credit-grants-store.ts';

interface TopUp extends BalanceKey {
  /** Credits. */
  amount: number;
  reason: string;
  /** Id of the payment at its provider. It is booked once. */
  externalReference?: string | undefined;
}

/** Adds credits to a balance. The first top-up creates it. Returns false and books nothing for a known reference. */
export async function topUp(em: EntityManager, { amount, reason, externalReference, ...key }: TopUp): Promise<boolean> {
  // `book` would turn it into a transfer the other way.
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new Error(`a top-up of ${amount} credits is refused`);
  return em.transactional(async (em) => {
    const account = await lockAccount(em, key);
    return book(em, account, { kind: 'top_up', change: amount, reason, externalReference });
  });
}

interface Adjustment extends BalanceKey {
  /** Credits; below zero they are taken away. */
  change: number;
  reason: string;
  /** Identifies the correction. It is booked once. */
  externalReference?: string | undefined;
}

/**
 * Corrects a balance. A deduction takes paid credits first and promotional ones only when those do not suffice. Returns
 * false and books nothing for a known reference.
 * @throws ServiceError `insufficient_credits` when the deduction exceeds the available credits
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

/** A booking found by its reference. */
export interface ReferencedBooking extends BalanceKey {
  kind: TransferKind;
  /** Credits; below zero they left the balance. */
  change: number;
  /** Expiry of a promotion. */
  expiresAt: Date | null;
}

/** Returns the booking with this reference, or null. */
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

/** Books an adjustment that the account can cover. Returns false for a known reference. */
export async function bookAdjustment(
  em: EntityManager,
  account: LockedAccount,
  adjustment: Omit<Adjustment, keyof BalanceKey>,
): Promise<boolean> {
  // Earlier charges consume earlier grants first. Afterwards the grants must not exceed the new balance.
  await rollGrants(em, account);
  const isNew = await book(em, account, { kind: 'adjustment', ...adjustment });
  if (isNew) await rollGrants(em, account);
  return isNew;
}
