/**
 * Compatible: adds tables that the previous release neither reads nor writes.
 */
import { Migration } from '@mikro-orm/migrations';

export class Releases extends Migration {
  override up(): void {
    this.addSql(`
      -- An operator's choice of releases; without a row, the newest installed release serves the endpoint.
      create table release_choices (
        endpoint text primary key,
        serving text not null,
        -- Served before it; null when nothing was promoted.
        previous text,
        trial text check (trial <> serving),
        mode text check (mode in ('shadow', 'canary')),
        -- Of the jobs that pin no release.
        share_percent integer check (share_percent between 1 and 100),
        changed_at timestamptz not null default now(),
        check (num_nulls(trial, mode, share_percent) in (0, 3))
      );

      -- What a release in the shadow made of a job. Invisible to customers.
      create table shadow_runs (
        job_id text collate "C" primary key references jobs,
        endpoint text not null,
        served_version text not null,
        shadow_version text not null,
        outcome text not null check (outcome in ('compared', 'failed', 'not_run', 'inputs_gone')),
        -- Why it was not compared.
        reason text,
        -- Fields with the same value, and the others with both values: {"odometer.value": [served, shadow]}.
        agreed text[] not null default '{}',
        differing jsonb not null default '{}',
        ended_at timestamptz not null default now()
      );
      create index shadow_runs_by_release on shadow_runs (endpoint, shadow_version, job_id desc);
    `);
  }

  override down(): void {
    this.addSql('drop table shadow_runs, release_choices;');
  }
}
