/** Replays the ledger and reports every balance and job that disagrees with it. */
import { IsolationLevel } from '@mikro-orm/core';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { findGrantDrift } from './ledger-grants-store.ts';
import { CHANGE, MOVES_BALANCE } from './statements-store.ts';
import { USAGE_DRIFT } from './usage-store.ts';

/** Each check selects the rows that violate it; `finding` describes the violation. */
const CHECKS = [
  // I1: every balance equals the replay of its transfers.
  `with entries as (
     select organization_id, livemode, to_account as account, amount from credit_transfers
     union all
     select organization_id, livemode, from_account, -amount from credit_transfers
   ),
   replay as (
     select organization_id, livemode,
       coalesce(sum(amount) filter (where account = 'available'), 0) as available,
       coalesce(sum(amount) filter (where account = 'held'), 0) as held
     from entries group by organization_id, livemode
   )
   select format('account %s %s: available %s, replayed %s; held %s, replayed %s', organization_id, livemode,
     account.available, replay.available, account.held, replay.held) as finding
   from credit_accounts as account full join replay using (organization_id, livemode)
   where account.available is distinct from coalesce(replay.available, 0)
     or account.held is distinct from coalesce(replay.held, 0)`,
  // I1: no balance is negative.
  `select format('account %s %s is negative', organization_id, livemode) as finding
   from credit_accounts where available < 0 or held < 0 or open_jobs < 0`,
  // The counter of open jobs equals the jobs that are open.
  `select format('account %s %s counts %s open jobs, there are %s', organization_id, livemode, open_jobs, found) as finding
   from (
     select organization_id, livemode, open_jobs,
       (select count(*) from jobs
        where jobs.organization_id = account.organization_id and jobs.livemode = account.livemode
          and completed_at is null) as found
     from credit_accounts as account
   ) as counted
   where open_jobs <> found`,
  // A transfer has the accounts and fields that its kind requires.
  `select format('transfer %s: %s from %s to %s, grant %s, reason %s', id, kind, from_account, to_account,
     coalesce(grant_id, 'none'), coalesce(reason, 'none')) as finding
   from credit_transfers
   where not case kind
     when 'hold' then from_account = 'available' and to_account = 'held'
     when 'capture' then from_account = 'held' and to_account = 'revenue'
     when 'release' then from_account = 'held' and to_account = 'available'
     when 'top_up' then from_account = 'funding' and to_account = 'available'
     when 'promotion' then from_account = 'funding' and to_account = 'available'
       and grant_id is not null and captured is not null
     when 'expiry' then from_account = 'available' and to_account = 'funding'
       and grant_id is not null and captured is not null
     else (from_account, to_account) in (('funding', 'available'), ('available', 'funding'))
       and reason is not null and captured is not null
   end`,
  // I2: a job has one hold of what it reserved; once ended, capture and release add up to it; while open, nothing left it.
  `select format('job %s (%s): reserved %s, held %s, captured %s, released %s, charged %s', id, status,
     reserved_credits, hold, capture, release, charged_credits) as finding
   from (
     select jobs.id, status, reserved_credits, charged_credits, completed_at,
       coalesce(sum(amount) filter (where kind = 'hold'), 0) as hold,
       coalesce(sum(amount) filter (where kind = 'capture'), 0) as capture,
       coalesce(sum(amount) filter (where kind = 'release'), 0) as release
     from jobs left join credit_transfers on credit_transfers.job_id = jobs.id
     group by jobs.id
   ) as moved
   where hold <> reserved_credits
     or capture <> charged_credits
     or capture + release <> case when completed_at is null then 0 else reserved_credits end`,
  // Statements: a closed month adds up to its transfers.
  `with replay as (
     select organization_id, livemode, to_char(created_at at time zone 'UTC', 'YYYY-MM') as month, kind, count(*) as transfers,
       sum(${CHANGE}) as credits
     from credit_transfers join closed_accounts using (organization_id, livemode)
     where created_at < closed_until and ${MOVES_BALANCE}
     group by 1, 2, 3, 4
   ),
   closed as (
     select organization_id, livemode, month, kind, sum(transfers) as transfers, sum(credits) as credits
     from closed_month_lines group by 1, 2, 3, 4
   )
   select format('account %s %s, %s, %s: closed at %s credits of %s transfers, replayed %s of %s', organization_id, livemode, month,
     kind, closed.credits, closed.transfers, replay.credits, replay.transfers) as finding
   from closed full join replay using (organization_id, livemode, month, kind)
   where (closed.transfers, closed.credits) is distinct from (replay.transfers, replay.credits)`,
  // Usage: a closed day adds up to its jobs.
  USAGE_DRIFT,
];

/** Describes every violation; empty when the ledger is consistent. Reads one snapshot. */
export function findLedgerDrift(em: EntityManager): Promise<string[]> {
  return em.transactional(
    async (snapshot) => {
      const findings: string[] = [];
      for (const check of CHECKS) {
        const rows = await query<{ finding: string }>(snapshot, check);
        findings.push(...rows.map((row) => row.finding));
      }
      findings.push(...(await findGrantDrift(snapshot)));
      return findings;
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}
