/**
 * Compatible: adds a column of events, which the database fills in itself, also for what the previous release inserts, and an index.
 * While the events that are there are given their endpoint, and the index is built, settlements wait.
 */
import { Migration } from '@mikro-orm/migrations';

export class EventsOfAnEndpoint extends Migration {
  override up(): void {
    this.addSql(`
      -- That of its job; null for an event without a job. A list for a key that reads other endpoints' jobs would otherwise look at
      -- all events of a month.
      alter table events add column endpoint text;
      create function set_event_endpoint() returns trigger language plpgsql as $$
      begin
        select jobs.endpoint into new.endpoint from jobs where jobs.id = new.job_id;
        return new;
      end $$;
      create trigger set_event_endpoint before insert on events
        for each row when (new.job_id is not null) execute function set_event_endpoint();
    `);
    this.addSql(`
      update events set endpoint = jobs.endpoint from jobs where jobs.id = events.job_id;
      create index events_by_endpoint on events (organization_id, livemode, endpoint, created_at desc, id desc);
    `);
  }

  override down(): void {
    this.addSql(`
      drop index events_by_endpoint;
      drop trigger set_event_endpoint on events;
      drop function set_event_endpoint();
      alter table events drop column endpoint;
    `);
  }
}
