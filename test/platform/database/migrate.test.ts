import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fill } from '../../../bench/growth/fill.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { connectDatabase } from '../../../src/platform/database/orm.ts';
import { requiredVariable } from '../../support/environment.ts';
import { until } from '../../support/until.ts';

const MIGRATIONS = new URL('../../../migrations/', import.meta.url);
const files = readdirSync(MIGRATIONS).sort();
const name = `test_migrate_${randomBytes(8).toString('hex')}`;

let admin: pg.Client;
let url: string;

beforeAll(async () => {
  admin = new pg.Client({ connectionString: requiredVariable('TEST_DATABASE_ADMIN_URL') });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const address = new URL(requiredVariable('TEST_DATABASE_ADMIN_URL'));
  address.pathname = `/${name}`;
  url = address.href;
});
afterAll(async () => {
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

it('concurrent migrations of an empty database apply each migration once', async () => {
  await Promise.all([migrate(url), migrate(url), migrate(url)]);
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('select name from mikro_orm_migrations order by id');
  await client.end();
  expect(rows.map((row) => row.name)).toEqual(files.map((file) => file.replace(/\.ts$/, '')));
});

it('a migration whose lock is lost fails once it is through, and ends no process', async () => {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('begin; lock table mikro_orm_migrations in access exclusive mode');
  const migrated = migrate(url).catch((error: Error) => error.message);
  await until(async () => {
    const waiting = await admin.query(
      `select from pg_locks where not granted and relation is not null
       and database = (select oid from pg_database where datname = $1)`,
      [name],
    );
    return (waiting.rowCount ?? 0) > 0;
  });
  await admin.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
     and database = (select oid from pg_database where datname = $1)`,
    [name],
  );
  await other.query('rollback');
  await other.end();
  expect(await migrated).toContain('lock of the migration was lost');
});

it('a migration gives the events that are there the endpoint of their job', async () => {
  const jobs = { jobs: 100, organizations: 3, hotEvery: 5, now: new Date(), signal: new AbortController().signal };
  await fill(url, jobs);
  const orm = await connectDatabase({ url, poolSize: 2, statementTimeoutMs: null });
  try {
    await orm.migrator.down({ to: '0023-events-of-an-endpoint' });
    await orm.migrator.up();
  } finally {
    await orm.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select count(*) > 0 as "hasEvents", bool_and(events.endpoint = jobs.endpoint) as "areEqual"
     from events join jobs on jobs.id = job_id`,
  );
  await client.end();
  expect(rows).toEqual([{ hasEvents: true, areEqual: true }]);
});

describe('every migration', () => {
  it.each(files)('%s has a number and states in its header whether it is compatible', (file) => {
    expect(file).toMatch(/^\d{4}-[a-z0-9-]+\.ts$/);
    expect(readFileSync(new URL(file, MIGRATIONS), 'utf8')).toMatch(/^\/\*\*\s*\n? ?\*? ?(?:Compatible|Breaking)\b/);
  });

  it('every migration has a unique number', () => {
    const numbers = files.map((file) => file.slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});
