/**
 * Compatible: adds two tables. Statements of the previous release read the whole ledger, which is still there.
 */
import { Migration } from '@mikro-orm/migrations';

export class ClosedMonths extends Migration {
  override up(): void {
    this.addSql(`
      -- What the transfers of a month add up to, once it is over. The ledger stays what counts: ledger:verify replays it.
      create table closed_month_lines (
        organization_id text collate "C" not null,
        livemode boolean not null,
        -- In UTC, '2026-11'.
        month text collate "C" not null,
        kind text not null,
        endpoint text,
        transfers bigint not null,
        credits bigint not null,
        unique nulls not distinct (organization_id, livemode, month, kind, endpoint)
      );
      -- How far an account's months are summed.
      create table closed_accounts (
        organization_id text collate "C" not null,
        livemode boolean not null,
        closed_until timestamptz not null,
        -- No transfer from closed_until on has a smaller id.
        open_from_id bigint not null,
        primary key (organization_id, livemode)
      );
    `);
  }

  override down(): void {
    this.addSql('drop table closed_month_lines, closed_accounts;');
  }
}
