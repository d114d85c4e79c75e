/**
 * Compatible: adds the audit log of the management API.
 */
import { Migration } from '@mikro-orm/migrations';

export class Management extends Migration {
  override up(): void {
    this.addSql(`
      create table audit_log_entries (
        id text collate "C" primary key,
        organization_id text collate "C" not null references organizations,
        user_id text collate "C" not null,
        role text not null,
        action text not null,
        target_id text collate "C" not null,
        details jsonb not null,
        request_id text not null,
        created_at timestamptz not null
      );
      create index audit_log_entries_organization on audit_log_entries (organization_id, id desc);
    `);
  }

  override down(): void {
    this.addSql('drop table audit_log_entries;');
  }
}
