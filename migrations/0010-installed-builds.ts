/**
 * Compatible: adds the table of the builds that requests may pin, beside the one that answers each endpoint by default.
 */
import { Migration } from '@mikro-orm/migrations';

export class InstalledBuilds extends Migration {
  override up(): void {
    this.addSql(`
      -- Every build that some inference worker can answer an endpoint with: installed_endpoints says which one does where a
      -- request names none.
      create table installed_builds (
        endpoint text not null,
        model_version text not null,
        announced_at timestamptz not null default now(),
        primary key (endpoint, model_version)
      );
    `);
  }
}
