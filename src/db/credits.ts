import { type EntityManager, query } from './orm.ts';

interface TopUp {
  organizationId: string;
  livemode: boolean;
  amount: number;
  reason: string;
}

/** Adds credits to a balance, and creates the balance with its first top-up. */
export async function topUp(em: EntityManager, { organizationId, livemode, amount, reason }: TopUp): Promise<void> {
  await query(
    em,
    `with transfer as (
       insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount, reason)
       values ($1, $2, 'top_up', 'funding', 'available', $3, $4)
     )
     insert into credit_accounts (organization_id, livemode, available) values ($1, $2, $3)
     on conflict (organization_id, livemode) do update
       set available = credit_accounts.available + excluded.available`,
    [organizationId, livemode, amount, reason],
  );
}

/** What may still be held of a balance; 0 where there is none. */
export async function readAvailableCredits(
  em: EntityManager,
  organizationId: string,
  livemode: boolean,
): Promise<number> {
  const [account] = await query<{ available: string }>(
    em,
    'select available from credit_accounts where organization_id = $1 and livemode = $2',
    [organizationId, livemode],
  );
  return Number(account?.available ?? 0);
}
