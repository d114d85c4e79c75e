/**
 * Compatible: promotional credits that expire, references of payments, thresholds of a low balance, and events that
 * belong to no job.
 *
 * What moves the credits of jobs stays as it is, and pays for all of this with the condition of one trigger.
 */
import { Migration } from '@mikro-orm/migrations';

export class Credits extends Migration {
  override up(): void {
    this.addSql(`
      alter table credit_transfers
        -- The promotional grant that a promotion or an expiry is about. No foreign key: its trigger would run for every
        -- hold and capture, which have none.
        add column grant_id text collate "C",
        -- Names a payment or refund at its provider, so that it is booked once.
        add column external_reference text,
        -- Of transfers without a job: what the account's jobs had been charged in all when this was booked. It puts the
        -- transfer in its place among the captures, so that the use of grants can be replayed.
        add column captured bigint,
        -- What else must hold of a kind, the verifier checks (src/credits/ledger-store.ts): a longer condition here would cost every
        -- hold and every capture the time in which PostgreSQL reads it.
        drop constraint credit_transfers_kind_check,
        add constraint credit_transfers_kind_check check (
          kind in ('top_up', 'hold', 'capture', 'release', 'adjustment', 'promotion', 'expiry')
        );
      create unique index credit_transfers_external_reference on credit_transfers (external_reference)
        where external_reference is not null;
      -- The few transfers that are not of jobs: what an account was given, and what was taken from it.
      create index credit_transfers_without_job on credit_transfers (organization_id, livemode, id)
        where job_id is null;

      alter table credit_accounts
        -- What had been charged to the account's jobs when the use of its grants was last worked out.
        add column captured_rolled bigint not null default 0 check (captured_rolled >= 0),
        add column low_balance_threshold bigint check (low_balance_threshold > 0);

      -- Promotional credits. They are used before all others, the earliest expiry first. Who used them is not recorded
      -- as jobs are charged, but worked out from the sum of the charges when it matters: see src/credits/credit-grants.ts.
      create table credit_grants (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        livemode boolean not null,
        amount bigint not null check (amount > 0),
        consumed bigint not null default 0 check (consumed >= 0),
        expired bigint not null default 0 check (expired >= 0),
        reason text not null,
        expires_at timestamptz not null,
        created_at timestamptz not null,
        check (consumed + expired <= amount)
      );
      create index credit_grants_by_account on credit_grants (organization_id, livemode, expires_at)
        where consumed + expired < amount;
      create index credit_grants_due on credit_grants (expires_at) where consumed + expired < amount;
    `);

    this.addSql(`
      -- Balances that fell below their threshold, until the sweeper has made events of them.
      create table low_balance_crossings (
        id bigint generated always as identity primary key,
        organization_id text collate "C" not null,
        livemode boolean not null,
        balance bigint not null,
        threshold bigint not null,
        crossed_at timestamptz not null default now()
      );

      create function record_low_balance() returns trigger language plpgsql as $$
      begin
        insert into low_balance_crossings (organization_id, livemode, balance, threshold)
        values (new.organization_id, new.livemode, new.available + new.held, new.low_balance_threshold);
        return null;
      end $$;

      -- The balance with what is held: a hold and its release do not cross the threshold, only what is spent does. An
      -- account without a threshold never calls the function.
      create trigger low_balance after update on credit_accounts for each row
        when (
          new.low_balance_threshold is not null
          and new.available + new.held < new.low_balance_threshold
          and old.available + old.held >= new.low_balance_threshold
        )
        execute function record_low_balance();

      -- Events of credits belong to no job.
      alter table events alter column job_id drop not null;
    `);
  }

  override down(): void {
    throw new Error('transfers of the new kinds cannot be told in the old ones: restore a backup instead');
  }
}
