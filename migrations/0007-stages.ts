/**
 * Compatible: adds the table of what the stages of bundles found.
 */
import { Migration } from '@mikro-orm/migrations';

export class Stages extends Migration {
  override up(): void {
    this.addSql(`
      -- What the stages of a bundle found, in runs of units, until they are made into the job's one outcome. Invisible to
      -- customers; the job's workflow deletes them after the settlement.
      create table stage_outcomes (
        job_id text collate "C" not null references jobs on delete cascade,
        stage text not null,
        -- From 0; with the units in outcome it says which units these are.
        first_unit integer not null,
        outcome json not null,
        created_at timestamptz not null default now(),
        primary key (job_id, stage, first_unit)
      );
    `);
  }

  override down(): void {
    this.addSql('drop table stage_outcomes;');
  }
}
