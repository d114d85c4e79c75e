/**
 * Temporal as in production: its server, not the development server, on a PostgreSQL with advanced visibility.
 *
 * `node scripts/temporal-server.ts COMMAND …` starts one, runs the command with its address in TEMPORAL_ADDRESS, and stops it:
 * `node scripts/temporal-server.ts npm start`. Without a command it serves until it is stopped.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findFreePort } from '../src/embedded/ports.ts';
import { type PostgresServer, preparePostgres } from '../src/embedded/postgres.ts';
import type { ProcessRecord } from '../src/embedded/process-record.ts';
import { type RunningProgram, startProgram } from '../src/embedded/program.ts';
import { DYNAMIC_CONFIG, waitUntilServing } from '../src/embedded/temporal.ts';
import { requireTemporalServer } from './install-temporal-server.ts';
import { type ServedCommand, type ServeOptions, serveCommand } from './serve-command.ts';

export interface TemporalServerOptions {
  /** Empty. */
  directory: string;
  /** Does not wait for the disk: a crash of the machine may lose data, a kill of its processes does not. */
  throwAway?: boolean;
  record?: ProcessRecord | undefined;
  /** Processes of the history service apart from the other services, which share the shards; 0 by default: one process has it all. */
  historyProcesses?: number | undefined;
}

export interface HistoryProcess {
  /** As the owner of a shard is named in the database. */
  identity: string;
  /** Starts or restarts it. It takes its share of the shards over once the others know of it. */
  start: () => Promise<RunningProgram>;
}

export interface TemporalServer {
  address: string;
  /** Of its PostgreSQL, with everything but visibility. */
  databaseUrl: string;
  histories: readonly HistoryProcess[];
  /** Of its PostgreSQL. */
  databasePid: number;
  /** Starts or restarts the server, and returns once it serves the namespace `default`. Start the histories apart first. */
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
export const HISTORY_SHARDS = 4;
const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
const STOP_TIMEOUT_MS = 15_000;

/** Starts its PostgreSQL with both schemas; `start` then starts the server. @throws when it is not installed. */
export async function prepareTemporalServer({
  directory,
  throwAway = false,
  record,
  historyProcesses = 0,
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
    const whole = await configuration(postgres, port, directory);
    const startServices = (name: string, config: object, services: readonly string[]) => {
      const configPath = join(directory, `${name}.json`);
      writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
      return startProgram({
        name: 'Temporal server',
        command: join(programs, 'temporal-server'),
        args: [
          '--config-file',
          configPath,
          '--allow-no-auth',
          'start',
          ...services.map((service) => `--service=${service}`),
        ],
        environment: { PATH: process.env.PATH, HOME: directory },
        logPath: join(directory, `${name}.log`),
        stopSignal: 'SIGTERM',
        stopTimeoutMs: STOP_TIMEOUT_MS,
        record,
      });
    };
    const histories = await Promise.all(
      Array.from({ length: historyProcesses }, async (_, index): Promise<HistoryProcess> => {
        const history = await servicePorts();
        const config = { ...whole, services: { ...whole.services, history } };
        return {
          identity: `${HOST}:${history.rpc.grpcPort}`,
          start: () => startServices(`temporal-history-${index}`, config, ['history']),
        };
      }),
    );
    const services = historyProcesses === 0 ? SERVICES : SERVICES.filter((service) => service !== 'history');
    return {
      address: `${HOST}:${port}`,
      databasePid: database.pid,
      databaseUrl: postgres.databaseUrl,
      histories,
      async start(signal) {
        const program = await startServices('temporal-server', whole, services);
        await waitUntilServing(program, { port, logPath: join(directory, 'temporal-server.log'), signal });
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
    SERVICES.map(async (service) => [service, await servicePorts(service === 'frontend' ? port : undefined)] as const),
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

async function servicePorts(grpcPort?: number) {
  return {
    rpc: {
      grpcPort: grpcPort ?? (await findFreePort()),
      membershipPort: await findFreePort(),
      bindOnLocalHost: true,
    },
  };
}

async function serve({ directory, record, signal }: ServeOptions): Promise<ServedCommand> {
  const server = await prepareTemporalServer({ directory, record });
  try {
    const program = await server.start(signal);
    return {
      announcement: `Temporal's server serves at ${server.address}`,
      environment: { TEMPORAL_ADDRESS: server.address, [OWN_TEMPORAL_VARIABLE]: 'server' },
      exited: program.exited,
      async stop() {
        await program.stop();
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

if (import.meta.main) process.exitCode = await serveCommand(serve, process.argv.slice(2));
