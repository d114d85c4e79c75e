/** The account row of a balance, and transfers other than those of jobs. */
import type { TransferKind } from '../contracts/credits.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';

export interface BalanceKey {
  organizationId: string;
  livemode: boolean;
}

export interface LockedAccount extends BalanceKey {
  available: number;
  held: number;
  /** Credits charged to jobs of the account so far. */
  captured: number;
  /** `captured` at the time when the use of the grants was last computed. */
  capturedRolled: number;
}

/** SQL over a row `account`: the net credits booked by transfers without a job. */
export const FUNDED = `(
  select coalesce(sum(case to_account when 'available' then amount else -amount end), 0) from credit_transfers as rare
  where rare.organization_id = account.organization_id and rare.livemode = account.livemode and rare.job_id is null
)`;

/**
 * Locks an account until the transaction ends, creating it if missing. Every booking without a job takes this lock first,
 * so the ledger lists these bookings in their order.
 */
export async function lockAccount(em: EntityManager, { organizationId, livemode }: BalanceKey): Promise<LockedAccount> {
  const key = [organizationId, livemode];
  await query(
    em,
    `insert into credit_accounts (organization_id, livemode) values ($1, $2)
     on conflict (organization_id, livemode) do nothing`,
    key,
  );
  await query(em, 'select from credit_accounts where organization_id = $1 and livemode = $2 for update', key);
  // A separate statement, so that it sees what was committed while this one waited for the lock.
  const [row] = await query<Record<'available' | 'held' | 'captured_rolled' | 'funded', string>>(
    em,
    `select available, held, captured_rolled, ${FUNDED} as funded from credit_accounts as account
     where organization_id = $1 and livemode = $2`,
    key,
  );
  if (!row) throw new Error(`the account of ${organizationId} is missing`);
  const available = Number(row.available);
  const held = Number(row.held);
  const captured = Number(row.funded) - available - held;
  return { organizationId, livemode, available, held, captured, capturedRolled: Number(row.captured_rolled) };
}

export interface Booking {
  kind: Exclude<TransferKind, 'hold' | 'capture' | 'release'>;
  /** Credits; negative when they leave the balance. */
  change: number;
  reason: string | null;
  grantId?: string;
  /** Identifies the booking, such as a payment, so that it is booked once. */
  externalReference?: string | undefined;
}

/** Books a transfer and changes the balance. Returns false and books nothing for a known reference. */
export async function book(
  em: EntityManager,
  account: LockedAccount,
  { kind, change, reason, grantId, externalReference }: Booking,
): Promise<boolean> {
  const { organizationId, livemode } = account;
  const [fromAccount, toAccount] = change > 0 ? ['funding', 'available'] : ['available', 'funding'];
  const booked = await query(
    em,
    `insert into credit_transfers
       (organization_id, livemode, kind, from_account, to_account, amount, reason, grant_id, external_reference, captured)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (external_reference) where external_reference is not null do nothing
     returning id`,
    [
      organizationId,
      livemode,
      kind,
      fromAccount,
      toAccount,
      Math.abs(change),
      reason,
      grantId ?? null,
      externalReference ?? null,
      account.captured,
    ],
  );
  if (booked.length === 0) return false;
  await query(
    em,
    'update credit_accounts set available = available + $3 where organization_id = $1 and livemode = $2',
    [organizationId, livemode, change],
  );
  account.available += change;
  return true;
}
