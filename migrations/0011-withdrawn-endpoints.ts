/**
 * Compatible: adds the table of the endpoints whose last worker is gone.
 */
import { Migration } from '@mikro-orm/migrations';

export class WithdrawnEndpoints extends Migration {
  override up(): void {
    this.addSql(`
      -- Endpoints that live mode offered until their last inference worker fell silent, so that a refusal can tell "no worker
      -- runs" from "no model is installed". Emptied by the next worker that says what it can run.
      create table withdrawn_endpoints (
        endpoint text primary key,
        withdrawn_at timestamptz not null default now()
      );
    `);
  }

  override down(): void {
    this.addSql('drop table withdrawn_endpoints;');
  }
}
