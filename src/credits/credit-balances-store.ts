/** Balances as customers read them. */
import { type EntityManager, query } from '../platform/database/orm.ts';
import { type BalanceKey, FUNDED } from './credit-accounts-store.ts';
import { type Grant, leftOf, useGrants } from './credit-grants.ts';

export interface CreditBalance {
  livemode: boolean;
  /** Credits that new jobs can hold. */
  available: number;
  /** Credits held by open jobs. */
  held: number;
  /** Unused promotional credits, held ones included; earliest expiry first. */
  grants: Grant[];
  lowBalanceThreshold: number | null;
}

interface GrantRow extends Omit<Grant, 'expiresAt'> {
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Reads the live and the test balance of an organisation; a missing account is empty. Takes no lock. */
export async function readCreditBalances(em: EntityManager, organizationId: string): Promise<CreditBalance[]> {
  // One statement gives one snapshot of account, transfers and grants.
  const rows = await query<{
    livemode: boolean;
    available: string;
    held: string;
    captured_rolled: string;
    low_balance_threshold: string | null;
    funded: string;
    grants: GrantRow[];
  }>(
    em,
    `select livemode, available, held, captured_rolled, low_balance_threshold, ${FUNDED} as funded, (
       select coalesce(json_agg(json_build_object('id', id, 'amount', amount, 'consumed', consumed, 'expired', expired,
         'expiresAt', floor(extract(epoch from expires_at) * 1000))), '[]')
       from credit_grants as known
       where known.organization_id = account.organization_id and known.livemode = account.livemode
         and consumed + expired < amount
     ) as grants
     from credit_accounts as account where organization_id = $1`,
    [organizationId],
  );
  return [true, false].map((livemode) => {
    const row = rows.find((account) => account.livemode === livemode);
    if (!row) return { livemode, available: 0, held: 0, grants: [], lowBalanceThreshold: null };
    const [available, held] = [Number(row.available), Number(row.held)];
    const captured = Number(row.funded) - available - held;
    const grants = useGrants(
      row.grants.map((grant) => ({ ...grant, expiresAt: new Date(grant.expiresAt) })),
      { captured: captured - Number(row.captured_rolled), balance: available + held },
    );
    return {
      livemode,
      available,
      held,
      grants: grants.filter((grant) => leftOf(grant) > 0),
      lowBalanceThreshold: row.low_balance_threshold === null ? null : Number(row.low_balance_threshold),
    };
  });
}

/** Sets the threshold of `credits.low_balance`; null disables the event. */
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
  /** Credits that new jobs can hold. */
  available: number;
  openJobs: number;
}

/** Reads what admission of the next job checks; zeros when the balance does not exist yet. */
export async function readHeadroom(em: EntityManager, { organizationId, livemode }: BalanceKey): Promise<Headroom> {
  const [account] = await query<{ available: string; open_jobs: number }>(
    em,
    'select available, open_jobs from credit_accounts where organization_id = $1 and livemode = $2',
    [organizationId, livemode],
  );
  return { available: Number(account?.available ?? 0), openJobs: account?.open_jobs ?? 0 };
}
