/**
 * Compatible: adds SDK licences: what an organisation has paid for, and the licences it was issued.
 *
 * All of it belongs to production and staging together, so no row has a mode. Periods are whole seconds, as in the proofs.
 */
import { Migration } from '@mikro-orm/migrations';

export class SdkLicences extends Migration {
  override up(): void {
    this.addSql(`
      -- One row an organisation that ever paid. It is never changed while licences are issued, only locked: whoever
      -- waits for the lock gets it in the order of asking.
      create table sdk_subscriptions (
        organization_id text collate "C" primary key references organizations,
        -- Since when nothing follows the periods that are paid; they stay paid.
        canceled_at timestamptz
      );

      create table sdk_paid_periods (
        organization_id text collate "C" not null references sdk_subscriptions,
        paid_from timestamptz(0) not null,
        paid_until timestamptz(0) not null,
        -- How many different SDKs may be licensed in the period.
        max_sdks integer not null check (max_sdks >= 0),
        primary key (organization_id, paid_from),
        check (paid_from < paid_until)
      );

      -- The SDKs that were licensed in a period: its consumed quota.
      create table sdk_license_slots (
        organization_id text collate "C" not null,
        paid_from timestamptz(0) not null,
        sdk text not null,
        allocated_at timestamptz not null,
        primary key (organization_id, paid_from, sdk),
        foreign key (organization_id, paid_from) references sdk_paid_periods
      );

      create table sdk_licenses (
        id uuid primary key,
        organization_id text collate "C" not null references organizations,
        sdk text not null,
        created_at timestamptz not null,
        -- When the proof was signed.
        issued_at timestamptz not null,
        valid_from timestamptz(0) not null,
        expires_at timestamptz(0) not null,
        -- A signed JWT, sent as it is until the licence is renewed or signed again.
        proof text not null,
        unique (organization_id, sdk),
        check (valid_from < expires_at)
      );
    `);
  }

  override down(): void {
    this.addSql('drop table sdk_licenses, sdk_license_slots, sdk_paid_periods, sdk_subscriptions;');
  }
}
