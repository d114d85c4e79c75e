/**
 * Compatible: adds books of repairs beside those of markets. The previous release takes every active book for one of a
 * market, so activate books of repairs once none of its processes runs.
 */
import { Migration } from '@mikro-orm/migrations';

export class RepairBooks extends Migration {
  override up(): void {
    this.addSql(`
      alter table price_book_versions
        add column kind text not null default 'market' check (kind in ('market', 'repairs')),
        -- Books of repairs have neither.
        alter column earliest_year drop not null,
        alter column evaluation drop not null,
        alter column model drop not null,
        add check (kind = 'repairs' or (earliest_year is not null and evaluation is not null and model is not null));

      create table repair_book_entries (
        -- Written before the row of the version, in one transaction with it.
        version_id bigint not null,
        -- Of what the entry is for, and of all its values: an entry that is given twice must be the same.
        digest bytea not null,
        content bytea not null,
        kind text not null check (kind in ('part', 'work', 'rate')),
        -- Folded names; empty for an entry of every make, or of every model of the make.
        make text not null,
        model text not null,
        year_from smallint,
        year_to smallint,
        part text,
        -- Work: a method of repair, or one of remove_and_refit, blend and paint_preparation.
        work text,
        severity text,
        quality text,
        -- Empty for the whole country.
        region text not null,
        part_number text,
        price_minor bigint,
        labour_hours double precision,
        paint_hours double precision,
        materials_minor bigint,
        -- Names of parts, separated by spaces.
        also_removes text not null,
        labour_rate_minor bigint,
        paint_rate_minor bigint,
        tax_percent double precision,
        primary key (version_id, digest)
      );
      create index repair_book_entries_vehicle on repair_book_entries (version_id, make, model);
    `);
  }

  override down(): void {
    this.addSql(`
      delete from price_book_versions where kind = 'repairs';
      alter table price_book_versions
        drop column kind cascade,
        alter column earliest_year set not null,
        alter column evaluation set not null,
        alter column model set not null;
      drop table repair_book_entries;
    `);
  }
}
