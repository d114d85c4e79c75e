/**
 * Compatible: adds two tables. The previous release counts the usage of a period from its jobs, which are still there.
 */
import { Migration } from '@mikro-orm/migrations';

export class ClosedUsage extends Migration {
  override up(): void {
    this.addSql(`
      -- What the ended jobs of a day add up to. The jobs stay what counts: ledger:verify counts them again.
      create table closed_usage_days (
        organization_id text collate "C" not null,
        -- In UTC, of the admission.
        day date not null,
        livemode boolean not null,
        is_staging boolean not null,
        endpoint text not null,
        api_key_id text collate "C" not null,
        succeeded bigint not null,
        partial bigint not null,
        failed bigint not null,
        expired bigint not null,
        canceled bigint not null,
        charged_credits bigint not null,
        primary key (organization_id, day, livemode, is_staging, endpoint, api_key_id)
      );
      -- How far an organisation's jobs are counted.
      create table closed_usage (
        organization_id text collate "C" primary key,
        -- Every job admitted before it has ended and is counted.
        closed_until timestamptz not null,
        -- No job admitted from closed_until on has a smaller id.
        open_from_id text collate "C" not null
      );
    `);
  }

  override down(): void {
    this.addSql('drop table closed_usage_days, closed_usage;');
  }
}
