/** A PostgreSQL back-end that stops responding (`kill -STOP`) delays requests and the shutdown by a bounded time only. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../src/database.ts';
import { findFreePort } from '../../../src/embedded/ports.ts';
import { type PostgresServer, preparePostgres } from '../../../src/embedded/postgres.ts';
import type { RunningProgram } from '../../../src/embedded/program.ts';
import { isConnectionLoss } from '../../../src/platform/database/connection-loss.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { type MikroORM, query } from '../../../src/platform/database/orm.ts';
import { type Customer, createCustomer } from '../../support/customers.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

// Without the bounds each of these waits would last until its test ends, before `stop` kills a program.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const processes = useProcesses();
const stopped = new Set<number>();
let directory: string;
let server: PostgresServer;
let program: RunningProgram;
let admin: pg.Client;
let orm: MikroORM;
let customer: Customer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stopped-backend-'));
  server = await preparePostgres({
    dataDirectory: join(directory, 'postgres'),
    port: await findFreePort(),
    logPath: join(directory, 'postgres.log'),
    database: 'service',
    throwAway: true,
  });
  program = await server.start();
  await migrate(server.databaseUrl);
  admin = new pg.Client({ connectionString: server.adminUrl });
  await admin.connect();
  orm = await openDatabase({ url: server.databaseUrl, poolSize: 2 });
  customer = await createCustomer(orm, { test: 1_000 });
});
afterEach(() => {
  for (const pid of stopped) resume(pid);
});
afterAll(async () => {
  await orm.close();
  await admin.end();
  await program.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Back-ends of the service's database, without those in `except`. */
async function backends(except: readonly number[] = []): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = 'service' and backend_type = 'client backend'",
  );
  return rows.map(({ pid }) => pid).filter((pid) => !except.includes(pid));
}

function halt(pids: readonly number[]): void {
  for (const pid of pids) {
    process.kill(pid, 'SIGSTOP');
    stopped.add(pid);
  }
}

function resume(pid: number): void {
  stopped.delete(pid);
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended.
  }
}

async function startApi() {
  const others = await backends();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const api = await processes.start({
    entry: 'src/api/main.ts',
    environment: {
      SERVICE_ENVIRONMENT: 'development',
      DATABASE_URL: server.databaseUrl,
      DATABASE_POOL_SIZE: '1',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      STORAGE_DIRECTORY: join(directory, 'storage'),
      API_HOST: '127.0.0.1',
      API_PORT: String(port),
    },
    ready: { url: `${url}/health/ready` },
  });
  const read = () => fetch(`${url}/v1/jobs`, { headers: { Authorization: `Bearer ${customer.keys.test}` } });
  expect((await read()).status).toBe(200);
  // The pool's one connection, and the listener's.
  await until(async () => (await backends(others)).length === 2);
  return { api, read, own: () => backends(others) };
}

describe('a statement', () => {
  const LIMIT_MS = 300;
  let bounded: MikroORM;
  beforeAll(async () => {
    bounded = await openDatabase({ url: server.databaseUrl, poolSize: 1, statementTimeoutMs: LIMIT_MS });
  });
  afterAll(async () => {
    await bounded.close();
  });
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it('a statement that takes too long is cancelled by the server', async () => {
    const failure = await failureOf(query(bounded.em.fork(), 'select pg_sleep(30)'));
    expect(failure).toMatchObject({ code: '57014' });
    expect(isConnectionLoss(failure)).toBe(true);
  });

  it('a statement of a transaction is given up when its back-end stops, and the connection is discarded', async () => {
    const transaction = bounded.em.fork().transactional(async (em) => {
      const [own] = await query<{ pid: number }>(em, 'select pg_backend_pid() as pid');
      halt([own?.pid ?? 0]);
      await query(em, 'select 1');
    });
    expect(isConnectionLoss(await failureOf(transaction))).toBe(true);
    expect(await query(bounded.em.fork(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('a transaction that loses its connection leaves the pool whole', async () => {
    const transaction = bounded.em.fork().transactional(async (em) => {
      const [own] = await query<{ pid: number }>(em, 'select pg_backend_pid() as pid');
      await admin.query('select pg_terminate_backend($1)', [own?.pid]);
      await query(em, 'select 1');
    });
    expect(isConnectionLoss(await failureOf(transaction))).toBe(true);
    expect(await query(bounded.em.fork(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('a statement does not wait for a connection of the pool for ever', async () => {
    const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = bounded.em.fork().transactional(async (em) => {
      await query(em, 'select 1');
      held.resolve();
      await release.promise;
    });
    await held.promise;
    expect(isConnectionLoss(await failureOf(query(bounded.em.fork(), 'select 1')))).toBe(true);
    release.resolve();
    await holding;
  });

  it('a statement has no bound where the process sets none, as migrations and the verification of the ledger do', async () => {
    const unbounded = await openDatabase({ url: server.databaseUrl, poolSize: 1, statementTimeoutMs: null });
    expect(await query(unbounded.em.fork(), 'show statement_timeout')).toEqual([{ statement_timeout: '0' }]);
    await unbounded.close();
    for (const path of ['src/platform/database/migrate.ts', 'src/credits/verify-ledger.ts']) {
      expect(readFileSync(PROJECT_DIRECTORY + path, 'utf8')).toContain('statementTimeoutMs: null');
    }
  });
});

it('requests on a stopped back-end fail with 503 within the bound, and succeed again on a new connection', async () => {
  const { api, read, own } = await startApi();
  halt(await own());
  const responses = await Promise.all([read(), read()]);
  expect(responses.map(({ status }) => status)).toEqual([503, 503]);
  expect(await responses[0]?.json()).toMatchObject({ error: { code: 'service_unavailable' } });
  expect((await read()).status).toBe(200);
  await api.kill();
});

it('the shutdown ends within its bound when the back-end has stopped', async () => {
  const { api, own } = await startApi();
  halt(await own());
  expect(await api.stop()).toMatchObject({ signal: null });
});

it('the shutdown ends within its bound while the listener connects to a server that does not respond', async () => {
  const { api, own } = await startApi();
  const pids = await own();
  halt([program.pid]);
  await admin.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [pids]);
  await api.waitForLine((line) => line.includes('settlement listener lost its connection'), 60_000);
  expect(await api.stop()).toMatchObject({ signal: null });
});
