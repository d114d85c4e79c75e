/**
 * Compatible: adds an index, which the lists of the previous release use too. Jobs wait to be admitted while it is built,
 * which reads all jobs once.
 */
import { Migration } from '@mikro-orm/migrations';

export class JobsThatDidNotSucceed extends Migration {
  override up(): void {
    this.addSql(`
      -- Most jobs succeed, so a list of the others would read nearly all jobs of its organisation.
      create index jobs_unsuccessful on jobs (organization_id, livemode, status, id desc)
        where status in ('partial', 'failed', 'expired', 'canceled');
    `);
  }

  override down(): void {
    this.addSql('drop index jobs_unsuccessful;');
  }
}
