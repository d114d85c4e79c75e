/**
 * Compatible: adds the tables of price books and of exchange rates. The previous release reads none of them.
 */
import { Migration } from '@mikro-orm/migrations';

export class PriceBooks extends Migration {
  override up(): void {
    this.addSql(`
      -- One import of a book. Its rows and its model are written in the same transaction, and never change.
      create table price_book_versions (
        id bigint generated always as identity primary key,
        book text not null,
        version integer not null,
        country text not null,
        currency text not null,
        -- An active version answers requests that name its book. Another one answers those that name the version, until it
        -- is retired.
        status text not null default 'ready' check (status in ('ready', 'active', 'retired')),
        -- True: requests must name the book. It is never the default of its country.
        named_only boolean not null,
        file_sha256 bytea not null,
        observed_from date not null,
        observed_to date not null,
        earliest_year smallint not null,
        observations integer not null,
        duplicates integer not null,
        rejected integer not null,
        evaluation jsonb not null,
        model bytea not null,
        imported_at timestamptz not null default now(),
        activated_at timestamptz,
        unique (book, version)
      );
      create unique index price_book_versions_active on price_book_versions (book) where status = 'active';

      create table price_book_models (
        version_id bigint not null references price_book_versions,
        -- Folded names, by which requests find them.
        make text not null,
        model text not null,
        make_name text not null,
        model_name text not null,
        observations integer not null,
        primary key (version_id, make, model)
      );

      create table price_observations (
        -- Written before the row of the version, in one transaction with it.
        version_id bigint not null,
        -- Of the row's values: equal rows are one observation.
        digest bytea not null,
        observed_on date not null,
        make text not null,
        model text not null,
        year smallint not null,
        month smallint,
        mileage_km integer,
        price_minor bigint not null,
        fuel text,
        transmission text,
        power_kw real,
        engine_litres real,
        seller text,
        unrepaired_damage boolean,
        primary key (version_id, digest)
      );
      -- For comparables: of one model and year, the nearest mileages.
      create index price_observations_nearest on price_observations (version_id, make, model, year, mileage_km);

      create table currency_rates (
        base text not null,
        quote text not null,
        rated_on date not null,
        -- Units of the quote for one unit of the base.
        rate numeric not null check (rate > 0),
        primary key (base, quote, rated_on)
      );
    `);
  }

  override down(): void {
    this.addSql('drop table currency_rates, price_observations, price_book_models, price_book_versions;');
  }
}
