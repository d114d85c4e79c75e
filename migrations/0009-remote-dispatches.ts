/**
 * Compatible: adds the table of dispatches to other clusters.
 */
import { Migration } from '@mikro-orm/migrations';

export class RemoteDispatches extends Migration {
  override up(): void {
    this.addSql(`
      -- One attempt of a job's inference that was handed to another cluster, which calls back. Invisible to customers.
      create table remote_dispatches (
        id text collate "C" primary key,
        job_id text collate "C" not null references jobs on delete cascade,
        attempt integer not null,
        -- Which attempt of which activity of Temporal waits for it.
        task_token bytea not null,
        -- What the cluster uploaded for the result, as it stands there.
        artefacts json[] not null default '{}',
        created_at timestamptz not null default now(),
        -- A later attempt took its place, or nobody wants it any more.
        superseded_at timestamptz,
        ended_at timestamptz,
        ended_as text check (ended_as in ('completed', 'failed')),
        check ((ended_at is null) = (ended_as is null))
      );
      create index remote_dispatches_job on remote_dispatches (job_id);
    `);
  }

  override down(): void {
    this.addSql('drop table remote_dispatches;');
  }
}
