/** Replays the use of promotional grants from the ledger. */
import type { TransferKind } from '../contracts/credits.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { type Grant, leftOf, useGrants } from './credit-grants.ts';

interface Booked {
  organization_id: string;
  livemode: boolean;
  kind: TransferKind;
  /** Credits; negative when they left the balance. */
  change: string;
  grant_id: string | null;
  captured: string | null;
}

interface Account {
  organization_id: string;
  livemode: boolean;
  captured: string;
  captured_rolled: string;
}

interface GrantRow {
  id: string;
  organization_id: string;
  livemode: boolean;
  amount: string;
  consumed: string;
  expired: string;
  expires_at: Date;
}

/** Describes each grant that disagrees with its replay. Reads all transfers of accounts with grants. */
export async function findGrantDrift(em: EntityManager): Promise<string[]> {
  const withGrants = '(organization_id, livemode) in (select organization_id, livemode from credit_grants)';
  const booked = await query<Booked>(
    em,
    `select organization_id, livemode, kind, grant_id, captured,
       case to_account when 'available' then amount else -amount end as change
     from credit_transfers
     where job_id is null and (grant_id is not null or ${withGrants})
     order by id`,
  );
  const accounts = await query<Account>(
    em,
    `select organization_id, livemode, captured_rolled, (
       select coalesce(sum(amount), 0) from credit_transfers as known
       where known.organization_id = account.organization_id and known.livemode = account.livemode
         and kind = 'capture'
     ) as captured
     from credit_accounts as account where ${withGrants}`,
  );
  const known = await query<GrantRow>(
    em,
    'select id, organization_id, livemode, amount, consumed, expired, expires_at from credit_grants',
  );

  const bookedOf = Map.groupBy(booked, keyOf);
  const knownOf = Map.groupBy(known, keyOf);
  const accountOf = new Map(accounts.map((account) => [keyOf(account), account]));
  return [...new Set([...bookedOf.keys(), ...knownOf.keys()])].flatMap((key) =>
    driftOf(key, bookedOf.get(key) ?? [], knownOf.get(key) ?? [], accountOf.get(key)),
  );
}

const keyOf = ({ organization_id, livemode }: { organization_id: string; livemode: boolean }) =>
  `${organization_id} ${livemode ? 'live' : 'test'}`;

function driftOf(
  key: string,
  booked: readonly Booked[],
  known: readonly GrantRow[],
  account: Account | undefined,
): string[] {
  const captured = Number(account?.captured ?? 0);
  const rolled = Number(account?.captured_rolled ?? 0);
  if (rolled > captured)
    return [`account ${key}: the use of grants counts ${rolled} captured credits, the ledger ${captured}`];
  const expiresAt = new Map(known.map((grant) => [grant.id, new Date(grant.expires_at)]));
  const replayed = replay(booked, expiresAt, rolled);
  const recorded = new Map(known.map((grant) => [grant.id, describe(grant)]));
  const found = new Map(replayed.map((grant) => [grant.id, describe(grant)]));
  return [
    ...[...new Set([...recorded.keys(), ...found.keys()])]
      .filter((id) => recorded.get(id) !== found.get(id))
      .map((id) => `grant ${id} of ${key}: ${recorded.get(id) ?? 'missing'}, replayed ${found.get(id) ?? 'missing'}`),
    ...replayed
      .filter((grant) => leftOf(grant) < 0)
      .map(({ id }) => `grant ${id} of ${key}: more credits expired than were left`),
  ];
}

function replay(booked: readonly Booked[], expiresAt: ReadonlyMap<string, Date>, rolled: number): Grant[] {
  let grants: Grant[] = [];
  let funded = 0;
  let used = 0;
  const useUpTo = (captured: number) => {
    grants = useGrants(grants, { captured: captured - used, balance: funded - captured });
    used = captured;
  };
  for (const row of booked) {
    const change = Number(row.change);
    const id = row.grant_id ?? '';
    if (row.kind !== 'top_up') useUpTo(Number(row.captured));
    funded += change;
    if (row.kind === 'promotion') {
      grants.push({ id, amount: change, consumed: 0, expired: 0, expiresAt: expiresAt.get(id) ?? new Date(0) });
    } else if (row.kind === 'expiry') {
      grants = grants.map((grant) => (grant.id === id ? { ...grant, expired: grant.expired - change } : grant));
    } else if (row.kind === 'adjustment') {
      // A deduction beyond the paid credits came from the grants.
      useUpTo(used);
    }
  }
  useUpTo(rolled);
  return grants;
}

const describe = ({ amount, consumed, expired }: Record<'amount' | 'consumed' | 'expired', number | string>) =>
  `${amount} given, ${consumed} used, ${expired} expired`;
