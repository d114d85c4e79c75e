/** Every process of the service, each behind its own proxies, on its own PostgreSQL, for tests that break them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { type HistoryProcess, OWN_TEMPORAL_VARIABLE, prepareTemporalServer } from '../../scripts/temporal-server.ts';
import { VehicleInferenceClient } from '../../src/client/index.ts';
import { openDatabase } from '../../src/database.ts';
import { findTemporal } from '../../src/embedded/find-temporal.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { type PostgresServer, preparePostgres } from '../../src/embedded/postgres.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';
import type { RunningProgram } from '../../src/embedded/program.ts';
import { createDevelopmentWebhookEndpoint, type DevelopmentSeed, seedDevelopment } from '../../src/embedded/seed.ts';
import { ensureNamespace, startTemporal } from '../../src/embedded/temporal.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { copyModels, OF_DASHBOARD_READ } from '../support/models.ts';
import { preparePgBouncer } from '../support/pgbouncer.ts';
import type { TestProcess, TestProcesses } from '../support/processes.ts';
import { startTcpBalancer } from '../support/tcp-balancer.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { type StatementProxy, startStatementProxy } from './statement-proxy.ts';

const PARTS = {
  api: 'src/api/main.ts',
  orchestration: 'src/workers/orchestration.ts',
  inference: 'src/workers/inference.ts',
  webhooks: 'src/workers/webhooks.ts',
} as const;
export type PartName = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as PartName[];

/** One process, and the proxies between it and the servers. */
export class Part {
  readonly name: PartName;
  readonly postgres: StatementProxy;
  readonly temporal: TcpProxy;
  readonly #start: () => Promise<TestProcess>;
  #process: TestProcess | null = null;

  constructor(name: PartName, postgres: StatementProxy, temporal: TcpProxy, start: () => Promise<TestProcess>) {
    this.name = name;
    this.postgres = postgres;
    this.temporal = temporal;
    this.#start = start;
  }

  get process(): TestProcess {
    if (!this.#process) throw new Error(`${this.name} does not run`);
    return this.#process;
  }

  async start(): Promise<void> {
    this.#process = await this.#start();
  }

  /** SIGTERM, as a deploy does; resolves when it has ended by itself. */
  async stop(): Promise<void> {
    const { code, signal } = await this.process.stop();
    if (code !== 0) throw new Error(`${this.name} ended with code ${code}, signal ${signal}`);
    this.#process = null;
  }

  /** kill -9; drops what a proxy still held for the process. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = null;
    this.postgres.cutOff();
    this.temporal.cutOff();
  }
}

/** A process of Temporal's history service, one of several that share the shards. */
export interface History {
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Shards that it owns. */
  countShards(): Promise<number>;
}

export interface FaultStack {
  /** One of each. */
  parts: Record<PartName, Part>;
  /** All of them, where there are several of each. */
  replicas: readonly Part[];
  /** In front of PostgreSQL, if there is one. */
  pooler: { kill(): Promise<void>; start(): Promise<void> } | null;
  /** Straight to the database: what the test itself reads is never in the way of a fault. */
  orm: MikroORM;
  databaseUrl: string;
  postgres: { server: PostgresServer; program: RunningProgram };
  temporal: { client: Client; kill(): Promise<void>; start(): Promise<void>; histories: readonly History[] };
  apiUrl: string;
  modelsDirectory: string;
  seed: DevelopmentSeed;
  /** A test key of another organisation. */
  strangerKey: string;
  receiver: WebhookReceiver;
  /** A customer who retries until a response arrives. */
  client(mode: keyof DevelopmentSeed['keys']): VehicleInferenceClient;
  close(): Promise<void>;
}

export interface FaultStackOptions {
  /** Processes of each kind; one by default. API processes stand behind a load balancer. */
  counts?: Partial<Record<PartName, number>>;
  /** The program of a PgBouncer to put in front of PostgreSQL. */
  pgBouncer?: string | undefined;
  /** Added to the environment of each process. */
  environment?: (name: PartName, index: number) => NodeJS.ProcessEnv;
  /** Processes of Temporal's history service, apart from its other services. Only its production server has them. */
  historyProcesses?: number;
}

const NAMESPACE = 'default';
/** A time-out means a hang: several processes load models at once, on a machine that does much else. */
const READY_TIMEOUT_MS = 300_000;
const RETRY_PAUSE_MS = 100;
const ATTEMPTS = 600;

/**
 * Starts everything. Call `close` in `afterAll`.
 * @param modelNames of the shipped models, those that the inference worker has
 */
export async function startFaultStack(
  processes: TestProcesses,
  modelNames: readonly string[] = OF_DASHBOARD_READ,
  { counts = {}, pgBouncer, environment: added, historyProcesses = 0 }: FaultStackOptions = {},
): Promise<FaultStack> {
  const directory = mkdtempSync(join(tmpdir(), 'faults-'));
  // `npm test` finds the remains of a killed test run in it.
  const record = new ProcessRecord(join(directory, 'processes.json'));
  // A start that fails half-way leaves nothing running either. What was begun last ends first.
  await using begun = new AsyncDisposableStack();
  begun.defer(() => rmSync(directory, { recursive: true, force: true }));
  const postgresPort = await findFreePort();
  const temporal = await startOwnTemporal(directory, record, historyProcesses);
  begun.defer(() => temporal.stop());
  const receiver = await startWebhookReceiver();
  begun.defer(() => receiver.close());
  const server = await preparePostgres({
    dataDirectory: join(tmpdir(), `faults-postgres-${postgresPort}`),
    port: postgresPort,
    logPath: join(directory, 'postgres.log'),
    database: 'service',
    throwAway: true,
    record,
  });
  const postgres = { server, program: await server.start() };
  // A test may have started another in its place.
  begun.defer(async () => void (await postgres.program.stop()));
  await migrate(server.databaseUrl);
  const seed = await seedDevelopment(server.databaseUrl);
  const stranger = await seedDevelopment(server.databaseUrl);
  const { organizationId } = seed;
  for (const livemode of [true, false]) {
    await createDevelopmentWebhookEndpoint(server.databaseUrl, {
      organizationId,
      url: receiver.url,
      livemode,
      sealedSecrets: createSealedSecrets(['development']),
    });
  }
  const orm = await openDatabase({ url: server.databaseUrl, poolSize: 4 });
  begun.defer(() => orm.close());
  const models = copyModels(directory, modelNames);
  const apiPorts = await Promise.all(Array.from({ length: counts.api ?? 1 }, () => findFreePort()));
  const [onlyApiPort] = apiPorts;
  const balancer = apiPorts.length > 1 ? await startTcpBalancer(apiPorts) : null;
  if (balancer) begun.defer(() => balancer.close());
  const apiUrl = `http://127.0.0.1:${balancer?.port ?? onlyApiPort}`;
  const pooler = pgBouncer === undefined ? null : await startPooler(pgBouncer, server.databaseUrl, directory, record);
  if (pooler) begun.defer(() => pooler.kill());

  const makePart = async (name: PartName, index: number): Promise<Part> => {
    const statements = await startStatementProxy({ host: '127.0.0.1', port: pooler?.port ?? postgresPort });
    begun.defer(() => statements.close());
    const temporalProxy = await startTcpProxy({ host: '127.0.0.1', port: temporal.port });
    begun.defer(() => temporalProxy.close());
    const databaseUrl = new URL(server.databaseUrl);
    databaseUrl.port = String(statements.port);
    const environment = {
      SERVICE_ENVIRONMENT: 'development',
      DATABASE_URL: databaseUrl.href,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalProxy.port}`,
      TEMPORAL_NAMESPACE: NAMESPACE,
      STORAGE_DIRECTORY: join(directory, 'storage'),
      MODELS_DIRECTORY: models,
      PUBLIC_BASE_URL: apiUrl,
      API_HOST: '127.0.0.1',
      API_PORT: String(apiPorts[index] ?? onlyApiPort),
      ...(pooler && { DATABASE_LISTEN_URL: server.databaseUrl }),
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      ...added?.(name, index),
    };
    const ready = { line: (line: string) => /"msg":"(?:worker|api) ready"/.test(line) };
    return new Part(name, statements, temporalProxy, () =>
      processes.start({ entry: PARTS[name], environment, ready, readyTimeoutMs: READY_TIMEOUT_MS }),
    );
  };
  const replicasOf = (name: PartName) =>
    Promise.all(Array.from({ length: counts[name] ?? 1 }, (_, index) => makePart(name, index)));
  const made = await Promise.all(PART_NAMES.map(async (name) => ({ name, replicas: await replicasOf(name) })));
  const replicas = made.flatMap((each) => each.replicas);
  const parts = Object.fromEntries(made.map((each) => [each.name, each.replicas[0]])) as Record<PartName, Part>;
  begun.defer(async () => void (await Promise.all(replicas.map((part) => part.kill()))));
  await Promise.all(replicas.map((part) => part.start()));
  const connection = Connection.lazy({ address: `127.0.0.1:${temporal.port}` });
  begun.defer(() => connection.close());
  const running = begun.move();

  return {
    parts,
    replicas,
    pooler,
    orm,
    databaseUrl: server.databaseUrl,
    postgres,
    temporal: { ...temporal, client: new Client({ connection, namespace: NAMESPACE }) },
    apiUrl,
    modelsDirectory: models,
    seed,
    strangerKey: stranger.keys.test,
    receiver,
    client: (mode) =>
      new VehicleInferenceClient({
        apiKey: seed.keys[mode],
        baseUrl: apiUrl,
        attempts: ATTEMPTS,
        attemptTimeoutMs: 40_000,
        sleep: () => new Promise((resolve) => void setTimeout(resolve, RETRY_PAUSE_MS)),
      }),
    close: () => running.disposeAsync(),
  };
}

async function startPooler(executable: string, databaseUrl: string, directory: string, record: ProcessRecord) {
  const pooler = await preparePgBouncer(executable, { databaseUrl, directory, record });
  let program = await pooler.start();
  return {
    port: pooler.port,
    async kill() {
      program.signal('SIGKILL');
      await program.exited;
    },
    async start() {
      program = await pooler.start();
    },
  };
}

/** A server of its own, whose state outlives a kill -9. */
async function startOwnTemporal(directory: string, record: ProcessRecord, historyProcesses: number) {
  const isProduction = process.env[OWN_TEMPORAL_VARIABLE] === 'server' || historyProcesses > 0;
  const { port, start, histories, close } = isProduction
    ? await prepareProductionTemporal(directory, record, historyProcesses)
    : await prepareDevelopmentTemporal(directory, record);
  await Promise.all(histories.map((history) => history.start()));
  let program = await start();
  await ensureNamespace(`127.0.0.1:${port}`, NAMESPACE);
  return {
    port,
    histories,
    async kill() {
      program.signal('SIGKILL');
      await program.exited;
    },
    async start() {
      program = await start();
    },
    async stop() {
      await program.stop();
      await Promise.all(histories.map((history) => history.kill()));
      await close();
    },
  };
}

async function prepareDevelopmentTemporal(directory: string, record: ProcessRecord) {
  const found = await findTemporal({ environment: { ...process.env, TEMPORAL_ADDRESS: '' }, report: () => {} });
  if (found.kind === 'external') throw new Error('a Temporal server that is killed must be the test’s own');
  const port = await findFreePort();
  const start = () =>
    startTemporal({
      executable: found.executable,
      port,
      webPort: null,
      databasePath: join(directory, 'temporal.sqlite'),
      logPath: join(directory, 'temporal.log'),
      environment: { HOME: directory, XDG_CONFIG_HOME: directory },
      record,
    });
  return { port, start, histories: [] as History[], close: async () => {} };
}

async function prepareProductionTemporal(directory: string, record: ProcessRecord, historyProcesses: number) {
  const server = await prepareTemporalServer({ directory, throwAway: true, record, historyProcesses });
  const histories = server.histories.map((history) => controlHistory(history, server.databaseUrl));
  const port = Number(new URL(`http://${server.address}`).port);
  return { port, start: () => server.start(), histories, close: server.close };
}

function controlHistory({ identity, start }: HistoryProcess, databaseUrl: string): History {
  let program: RunningProgram | null = null;
  return {
    async kill() {
      program?.signal('SIGKILL');
      await program?.exited;
    },
    async start() {
      program = await start();
    },
    async countShards() {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      try {
        // The owner is a string within a message of Protocol Buffers.
        const { rows } = await client.query<{ owned: number }>(
          `select count(*)::int as owned from shards where position(convert_to($1, 'UTF8') in data) > 0`,
          [`${identity}-`],
        );
        return rows[0]?.owned ?? 0;
      } finally {
        await client.end();
      }
    },
  };
}
