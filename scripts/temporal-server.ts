/**
 * Temporal as in production: its server, not the development server, on a PostgreSQL with advanced visibility.
 *
 * `node scripts/temporal-server.ts COMMAND …` starts one, runs the command with its address in TEMPORAL_ADDRESS, and stops it:
 * `node scripts/temporal-server.ts npm start`. Without a command it serves until it is stopped.
 */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findFreePort } from '../src/embedded/ports.ts';
import { type PostgresServer, preparePostgres } from '../src/embedded/postgres.ts';
import { ProcessRecord } from '../src/embedded/process-record.ts';
import { type RunningProgram, startProgram } from '../src/embedded/program.ts';
import { listenForStop } from '../src/embedded/stop-signals.ts';
import { DYNAMIC_CONFIG, waitUntilServing } from '../src/embedded/temporal.ts';
import { requireTemporalServer } from './install-temporal-server.ts';

export interface TemporalServerOptions {
  /** Empty. */
  directory: string;
  /** Does not wait for the disk: a crash of the machine may lose data, a kill of its processes does not. */
  throwAway?: boolean;
  record?: ProcessRecord | undefined;
}

export interface TemporalServer {
  address: string;
  /** Of its PostgreSQL. */
  databasePid: number;
  /** Starts or restarts the server, and returns once it serves the namespace `default`. */
  start: (signal?: AbortSignal) => Promise<RunningProgram>;
  /** Stops its PostgreSQL; stop the server first. */
  close: () => Promise<void>;
}

/** Tests that need a Temporal of their own, to kill it, then also start this server (test/faults/fault-stack.ts). */
export const OWN_TEMPORAL_VARIABLE = 'TEST_OWN_TEMPORAL';

const HOST = '127.0.0.1';
const SCHEMAS = { temporal: 'postgresql/v12/temporal', temporal_visibility: 'postgresql/v12/visibility' } as const;
type Database = keyof typeof SCHEMAS;
/** As in docker-compose.yml. Fixed when the database is made. */
const HISTORY_SHARDS = 4;
const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
const STOP_TIMEOUT_MS = 15_000;

/** Starts its PostgreSQL with both schemas; `start` then starts the server. @throws when it is not installed. */
export async function prepareTemporalServer({
  directory,
  throwAway = false,
  record,
}: TemporalServerOptions): Promise<TemporalServer> {
  const programs = requireTemporalServer();
  const postgres = await preparePostgres({
    dataDirectory: join(directory, 'temporal-postgres'),
    port: await findFreePort(),
    logPath: join(directory, 'temporal-postgres.log'),
    database: 'temporal' satisfies Database,
    throwAway,
    record,
  });
  const database = await postgres.start();
  try {
    await createSchemas(postgres, join(programs, 'temporal-sql-tool'));
    const port = await findFreePort();
    const configPath = join(directory, 'temporal-server.json');
    writeFileSync(configPath, JSON.stringify(await configuration(postgres, port, directory)), { mode: 0o600 });
    const logPath = join(directory, 'temporal-server.log');
    const address = `${HOST}:${port}`;
    return {
      address,
      databasePid: database.pid,
      async start(signal) {
        const program = await startProgram({
          name: 'Temporal server',
          command: join(programs, 'temporal-server'),
          args: ['--config-file', configPath, '--allow-no-auth', 'start'],
          environment: { PATH: process.env.PATH, HOME: directory },
          logPath,
          stopSignal: 'SIGTERM',
          stopTimeoutMs: STOP_TIMEOUT_MS,
          record,
        });
        await waitUntilServing(program, { port, logPath, signal });
        return program;
      },
      close: async () => void (await database.stop()),
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

async function createSchemas(postgres: PostgresServer, sqlTool: string): Promise<void> {
  await createVisibilityDatabase(postgres);
  const { hostname, port, username, password } = new URL(postgres.adminUrl);
  for (const [database, schemaName] of Object.entries(SCHEMAS)) {
    const run = (...args: string[]) =>
      promisify(execFile)(sqlTool, ['--ep', hostname, '-p', port, '-u', username, '--db', database, ...args], {
        env: { SQL_PLUGIN: 'postgres12', SQL_PASSWORD: password },
      });
    await run('setup-schema', '-v', '0.0');
    await run('update-schema', '--schema-name', schemaName);
  }
}

async function createVisibilityDatabase({ adminUrl }: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query('create database temporal_visibility');
  } finally {
    await client.end();
  }
}

/** @see https://docs.temporal.io/references/configuration */
async function configuration({ adminUrl }: PostgresServer, port: number, directory: string) {
  const { host, username, password } = new URL(adminUrl);
  const datastore = (databaseName: Database, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user: username,
      password,
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  });
  const dynamicConfigPath = join(directory, 'temporal-dynamic-config.yaml');
  const dynamicConfig = Object.entries(DYNAMIC_CONFIG).map(([key, value]) => `${key}:\n  - value: ${value}\n`);
  writeFileSync(dynamicConfigPath, dynamicConfig.join(''));
  const services = await Promise.all(
    SERVICES.map(async (service) => {
      const grpcPort = service === 'frontend' ? port : await findFreePort();
      return [service, { rpc: { grpcPort, membershipPort: await findFreePort(), bindOnLocalHost: true } }];
    }),
  );
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: HISTORY_SHARDS,
      datastores: { default: datastore('temporal', 20), visibility: datastore('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services: Object.fromEntries(services),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `${HOST}:${port}` },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicConfigPath, pollInterval: '60s' },
  };
}

/** Runs the command, or waits for a stop. Returns the exit code. */
async function serve([command, ...args]: string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'temporal-server-'));
  // PostgreSQL may run under another account (postgres-user.ts), which has to pass through here.
  chmodSync(directory, 0o755);
  const record = new ProcessRecord(join(directory, 'processes.json'));
  const stopping = listenForStop({ onFirst: () => {}, onSecond: () => record.killAll() });
  try {
    const server = await prepareTemporalServer({ directory, record });
    try {
      const program = await server.start(stopping);
      console.log(`Temporal's server serves at ${server.address}`);
      try {
        if (command !== undefined) return await run(command, args, server.address, stopping);
        await Promise.race([program.exited, new Promise((resolve) => stopping.addEventListener('abort', resolve))]);
        return stopping.aborted ? 0 : 1;
      } finally {
        await program.stop();
      }
    } finally {
      await server.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function run(command: string, args: string[], address: string, stopping: AbortSignal): Promise<number> {
  const environment = { ...process.env, TEMPORAL_ADDRESS: address, [OWN_TEMPORAL_VARIABLE]: 'server' };
  const child = spawn(command, args, { stdio: 'inherit', env: environment });
  // A terminal delivers Ctrl-C to both; everything else reaches this process alone.
  stopping.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

if (import.meta.main) process.exitCode = await serve(process.argv.slice(2));
