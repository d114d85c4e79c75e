/**
 * Breaking: signing secrets are sealed from now on (src/platform/sealed-secrets.ts), which SQL cannot do for those in plain
 * text, so webhook endpoints of before have to be made again. Also test events, rotation of secrets, replays, and the
 * time of the next attempt.
 */
import { Migration } from '@mikro-orm/migrations';

export class Webhooks extends Migration {
  override up(): void {
    this.addSql(`
      delete from webhook_endpoints;
      alter table webhook_endpoints
        -- When the second of the secrets stops signing; null while there is one, or since it stopped.
        add column previous_secret_expires_at timestamptz;

      -- A test event tells of an example, so it has no job.
      alter table events
        add column is_test boolean not null default false,
        add check (not is_test or job_id is null);

      alter table webhook_deliveries
        -- About; the workflow is exact. Null when the first attempt is still to come, and when none will.
        add column next_attempt_at timestamptz,
        -- The delivery that this one repeats. It may be gone.
        add column replay_of text collate "C";
      create index webhook_deliveries_by_event on webhook_deliveries (event_id);
    `);
  }

  override down(): void {
    this.addSql(`
      drop index webhook_deliveries_by_event;
      alter table webhook_deliveries drop column replay_of, drop column next_attempt_at;
      delete from webhook_deliveries where event_id in (select id from events where is_test);
      delete from events where is_test;
      alter table events drop column is_test;
      alter table webhook_endpoints drop column previous_secret_expires_at;
    `);
  }
}
