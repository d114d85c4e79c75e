/**
 * Compatible: adds which stored parts an announced upload consists of. The release before writes parts without entering
 * them; an upload that came to it in part begins again when it is to be joined.
 */
import { Migration } from '@mikro-orm/migrations';

export class PartsOfUploads extends Migration {
  override up(): void {
    this.addSql(`
      -- Keys of the stored parts, in order, while the upload is pending: together they have received_bytes.
      alter table uploads add column part_keys text[] not null default '{}';
    `);
  }

  override down(): void {
    this.addSql('alter table uploads drop column part_keys;');
  }
}
