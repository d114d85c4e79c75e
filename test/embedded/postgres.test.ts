import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findFreePort } from '../../src/embedded/ports.ts';
import { type PostgresServer, preparePostgres } from '../../src/embedded/postgres.ts';
import { identifyProcess } from '../../src/embedded/process-identity.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';
import type { RunningProgram } from '../../src/embedded/program.ts';
import { Supervised } from '../../src/embedded/supervised.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let directory: string;
let running: RunningProgram[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((program) => program.stop()));
});

async function prepare(): Promise<PostgresServer> {
  return preparePostgres({
    dataDirectory: join(directory, 'postgres'),
    port: await findFreePort(),
    logPath: join(directory, 'postgres.log'),
    database: 'service',
    throwAway: true,
    record: new ProcessRecord(join(directory, 'processes.json')),
  });
}

async function start(server: PostgresServer): Promise<RunningProgram> {
  const program = await server.start();
  running.push(program);
  return program;
}

async function query(server: PostgresServer, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

it('PostgreSQL restarts after kill -9 and loses nothing acknowledged', async () => {
  const server = await prepare();
  const reports: string[] = [];
  let restarted: () => void = () => {};
  const back = new Promise<void>((resolve) => {
    restarted = resolve;
  });
  const supervised = await Supervised.start(
    {
      name: 'PostgreSQL',
      start: (signal) => server.start(signal),
      report: (line) => {
        reports.push(line);
        if (line.includes('runs again')) restarted();
      },
      onGivenUp: (error) => reports.push(error.message),
    },
    new AbortController().signal,
  );
  try {
    await query(server, 'create table kept (id int); insert into kept values (7)');
    const { pid } = supervised;
    process.kill(pid as number, 'SIGKILL');
    await back;
    expect(supervised.pid).not.toBe(pid);
    expect(await query(server, 'select * from kept')).toEqual([{ id: 7 }]);
  } finally {
    await supervised.stop();
  }
  expect(reports).toHaveLength(2);
});

it('PostgreSQL finds its data on another port, with the same password', async () => {
  const first = await prepare();
  const program = await start(first);
  await query(first, 'create table kept (id int)');
  await program.stop();
  const second = await prepare();
  await start(second);
  expect(await query(second, 'select * from kept')).toEqual([]);
});

it('a start stops the PostgreSQL of an earlier, killed start first', async () => {
  const orphan = await start(await prepare());
  const server = await prepare();
  await start(server);
  expect(identifyProcess(orphan.pid)).toBeNull();
  expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('a start ignores a stale postmaster.pid whose id belongs to another program, and leaves that program alone', async () => {
  const first = await start(await prepare());
  const pidPath = join(directory, 'postgres', 'postmaster.pid');
  const lines = readFileSync(pidPath, 'utf8').split('\n');
  first.signal('SIGKILL');
  await first.exited;
  writeFileSync(pidPath, [String(process.pid), ...lines.slice(1)].join('\n'));
  const server = await prepare();
  await start(server);
  expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('an interrupted first start of PostgreSQL leaves no partial database', async () => {
  mkdirSync(join(directory, 'postgres.new', 'base'), { recursive: true });
  const server = await prepare();
  await start(server);
  expect(existsSync(join(directory, 'postgres.new'))).toBe(false);
  expect(await query(server, 'show server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
});
