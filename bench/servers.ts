/** The benchmark's own PostgreSQL and Temporal, as `npm start` runs them, in a folder that is removed afterwards. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { prepareTemporalServer } from '../scripts/temporal-server.ts';
import { findTemporal } from '../src/embedded/find-temporal.ts';
import { findFreePort } from '../src/embedded/ports.ts';
import { preparePostgres } from '../src/embedded/postgres.ts';
import type { ProcessRecord } from '../src/embedded/process-record.ts';
import { startTemporal } from '../src/embedded/temporal.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import type { Cleanup } from './cleanup.ts';

export interface BenchContext {
  directory: string;
  /** Every running process, for an immediate stop. */
  record: ProcessRecord;
  cleanup: Cleanup;
  signal: AbortSignal;
  say: (line: string) => void;
}

export interface Postgres {
  pid: number;
  version: string;
  /** Creates a database with the service's schema, and returns its address. */
  createDatabase(name: string): Promise<string>;
}

/** Durable, as in production: an admission waits for the disk, and so does its yardstick. */
export async function startBenchPostgres({ directory, record, cleanup, signal }: BenchContext): Promise<Postgres> {
  const server = await preparePostgres({
    dataDirectory: join(directory, 'postgres'),
    port: await findFreePort(),
    logPath: join(directory, 'postgres.log'),
    database: 'unused',
    record,
  });
  const program = await server.start(signal);
  cleanup.add(() => program.stop());
  return {
    pid: program.pid,
    version: await administer(server.adminUrl, 'show server_version'),
    async createDatabase(name) {
      await administer(server.adminUrl, `create database ${name}`);
      const url = new URL(server.adminUrl);
      url.pathname = `/${name}`;
      await migrate(url.href);
      return url.href;
    },
  };
}

export interface BenchTemporal {
  address: string;
  /** Of its processes, by name. */
  pids: Record<string, number>;
}

/** The settings and the kind of database file of `npm start`. Temporal of the caller's own is not used: its load and its
 * settings would be unknown. */
export async function startBenchTemporal(context: BenchContext): Promise<BenchTemporal> {
  const { directory, record, cleanup, signal, say } = context;
  const { TEMPORAL_ADDRESS: _, ...environment } = process.env;
  const found = await findTemporal({ environment, report: say, signal });
  if (found.kind === 'external') throw new Error('the benchmark starts a Temporal of its own');
  const port = await findFreePort();
  const program = await startTemporal(
    {
      executable: found.executable,
      port,
      webPort: null,
      databasePath: join(directory, 'temporal', 'temporal.db'),
      logPath: join(directory, 'temporal.log'),
      environment: { HOME: directory, XDG_CONFIG_HOME: directory },
      record,
    },
    signal,
  );
  cleanup.add(() => program.stop());
  return { address: `127.0.0.1:${port}`, pids: { Temporal: program.pid } };
}

/** As in production, on a durable PostgreSQL of its own. */
export async function startProductionTemporal(context: BenchContext): Promise<BenchTemporal> {
  const directory = join(context.directory, 'production-temporal');
  mkdirSync(directory);
  const server = await prepareTemporalServer({ directory, record: context.record });
  context.cleanup.add(() => server.close());
  const program = await server.start(context.signal);
  context.cleanup.add(() => program.stop());
  return { address: server.address, pids: { Temporal: program.pid, 'PostgreSQL of Temporal': server.databasePid } };
}

/** Runs one statement; returns the first column, a text, of its first row. */
async function administer(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<[string]>({ text: statement, rowMode: 'array' });
    return rows[0]?.[0] ?? '';
  } finally {
    await client.end();
  }
}
