/**
 * Compatible: events are listed by their time, because the id of a job's event is now the job's, which sorts by admission.
 * Until the last process of the release before has ended, its lists of events sort in memory. Also adds when a job's
 * workflow may be started next, and why it could not be started; and where a part of an upload begins that broke off.
 */
import { Migration } from '@mikro-orm/migrations';

export class EventOrderSetAsideJobsAndBrokenParts extends Migration {
  override up(): void {
    this.addSql(`
      drop index events_by_organization;
      create index events_by_organization on events (organization_id, livemode, created_at desc, id desc);
    `);
    this.addSql(`
      alter table jobs
        -- The sweeper leaves the job alone until then: a process has claimed it, or it is set aside. Null: at once.
        add column start_after timestamptz,
        -- Why the sweeper could not start the workflow; null once it has.
        add column start_error text;
    `);
    this.addSql(`
      -- First byte of the last part when its request broke off: the same request, sent again, supersedes it.
      alter table uploads add column broken_part_start bigint;
    `);
  }

  override down(): void {
    this.addSql('alter table uploads drop column broken_part_start;');
    this.addSql('alter table jobs drop column start_after, drop column start_error;');
    this.addSql(`
      drop index events_by_organization;
      create index events_by_organization on events (organization_id, livemode, id desc);
    `);
  }
}
