import { type Grant, leftOf, useGrants } from '../../domain/credit-grants.ts';
import { type EntityManager, query } from '../orm.ts';
import { FUNDED } from './credit-accounts.ts';

export interface CreditBalance {
  livemode: boolean;
  /** What can be held by new jobs. */
  available: number;
  /** What open jobs have set aside. */
  held: number;
  /** Promotional credits that are not used, those that are held included; the earliest expiry first. */
  grants: Grant[];
  lowBalanceThreshold: number | null;
}

interface GrantRow extends Omit<Grant, 'expiresAt'> {
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Both balances of an organisation; an account that does not exist yet is empty. Writes and locks nothing. */
export async function readCreditBalances(em: EntityManager, organizationId: string): Promise<CreditBalance[]> {
  // One statement, so that account, transfers and grants are of one moment.
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
