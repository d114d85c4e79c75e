/**
 * Compatible: adds indexes, which the previous release uses too. While they are built, which reads jobs, events and deliveries
 * once each, their writers wait. Each job is entered in the two indexes of jobs three times: docs/scale.md says what that costs.
 */
import { Migration } from '@mikro-orm/migrations';

export class LargeTables extends Migration {
  override up(): void {
    this.addSql(`
      -- A list of one endpoint's jobs would read all jobs of its organisation where the endpoint is rare.
      create index jobs_by_endpoint on jobs (organization_id, livemode, endpoint, id desc);
      -- The same of a key's jobs. A key has one organisation and one mode.
      create index jobs_by_key on jobs (api_key_id, id desc);
      -- Most events are of successes, so a list of the others would read a month of them.
      create index events_unsuccessful on events (organization_id, livemode, type, created_at desc, id desc)
        where type <> 'job.succeeded';
      create index webhook_deliveries_failed on webhook_deliveries (webhook_endpoint_id, id desc) where status = 'failed';
    `);
  }

  override down(): void {
    this.addSql('drop index jobs_by_endpoint, jobs_by_key, events_unsuccessful, webhook_deliveries_failed;');
  }
}
