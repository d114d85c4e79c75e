/** Runs Temporal's development server with Temporal Web, as one process on one SQLite file. */
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { registerSearchAttributes } from '../platform/temporal/search-attributes.ts';
import type { ProcessRecord } from './process-record.ts';
import { type RunningProgram, startProgram, waitUntilReady } from './program.ts';

/**
 * A write-ahead log, flushed at checkpoints, instead of a flush for every write: several times the jobs per second. A killed
 * server loses nothing; a power cut may lose its last commits, which is acceptable on a laptop only.
 */
const SQLITE_PRAGMAS = ['--sqlite-pragma=journal_mode=WAL', '--sqlite-pragma=synchronous=NORMAL'];

/**
 * By default a history shard polls at most 20 times a second, which adds 50 ms to every hop between queues, and a task queue
 * has four partitions, which forward tasks to each other. All are still read: an older server may have left tasks in them. It also
 * keeps 128,000 workflows in memory, at some 50 kB each, and drops none sooner; a job needs to be there while it runs.
 */
export const DYNAMIC_CONFIG: Record<string, number> = {
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'history.visibilityProcessorMaxPollRPS': 500,
  'history.hostLevelCacheMaxSize': 4096,
  'matching.numTaskqueueWritePartitions': 1,
};

const RETENTION_SECONDS = 7 * 24 * 3600;

export interface TemporalServerOptions {
  /** The `temporal` program (find-temporal.ts). */
  executable: string;
  port: number;
  /** Null runs it without Temporal Web. */
  webPort: number | null;
  /** Null keeps everything in memory. */
  databasePath: string | null;
  logPath: string;
  environment?: NodeJS.ProcessEnv;
  record?: ProcessRecord | undefined;
}

/** Names every search attribute, and finds nothing by an index: refused while the server does not know one of them. */
const ANY_SEARCH_ATTRIBUTE = [
  "WorkflowId = 'none'",
  ...Object.values(SEARCH_ATTRIBUTES).map(({ name }) => `${name} is null`),
].join(' and ');

const GRPC_INVALID_ARGUMENT = 3;
const GRPC_NOT_FOUND = 5;
const GRPC_ALREADY_EXISTS = 6;
const HOST = '127.0.0.1';
const READY_TIMEOUT_MS = 60_000;
const NAMESPACE_TIMEOUT_MS = 15_000;

/** Starts the server and returns once it serves its default namespace with the search attributes. */
export async function startTemporal(options: TemporalServerOptions, signal?: AbortSignal): Promise<RunningProgram> {
  const { executable, port, webPort, databasePath, logPath, environment, record } = options;
  if (databasePath) mkdirSync(dirname(databasePath), { recursive: true });
  const program = await startProgram({
    name: 'Temporal',
    command: executable,
    args: [
      'server',
      'start-dev',
      `--ip=${HOST}`,
      `--port=${port}`,
      webPort === null ? '--headless' : `--ui-port=${webPort}`,
      ...(databasePath ? [`--db-filename=${databasePath}`, ...SQLITE_PRAGMAS] : []),
      '--log-level=warn',
      '--log-format=json',
      ...Object.entries(DYNAMIC_CONFIG).map(([key, value]) => `--dynamic-config-value=${key}=${value}`),
    ],
    environment: { ...process.env, ...environment },
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 15_000,
    record,
  });
  await waitUntilServing(program, { port, logPath, signal });
  return program;
}

/** Returns once a server that just started serves its default namespace with the search attributes. */
export async function waitUntilServing(
  program: RunningProgram,
  { port, logPath, signal }: { port: number; logPath: string; signal?: AbortSignal | undefined },
): Promise<void> {
  // gRPC waits a full second after a refused connection, so we use it only once the port accepts connections.
  await waitUntilReady(
    program,
    async () => (await accepts(port)) && (await succeeds(() => ensureNamespace(`${HOST}:${port}`, 'default'))),
    { timeoutMs: READY_TIMEOUT_MS, logPath, signal },
  );
}

/** Creates the namespace if missing, registers missing search attributes, and waits until both are usable. */
export async function ensureNamespace(address: string, namespace: string): Promise<void> {
  const deadlineMs = performance.now() + NAMESPACE_TIMEOUT_MS;
  const connection = await Connection.connect({ address, connectTimeout: NAMESPACE_TIMEOUT_MS });
  try {
    await ensureRegistered(connection, namespace);
    for (;;) {
      try {
        await registerSearchAttributes(address, namespace);
        await connection.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: 'none' },
          taskQueueType: 1,
        });
        await connection.workflowService.countWorkflowExecutions({ namespace, query: ANY_SEARCH_ATTRIBUTE });
        return;
      } catch (error) {
        // Each part of the server learns of a new namespace and its search attributes at its own time: those of the development
        // server within milliseconds, those of a production server within seconds.
        const isNew = hasCode(error, GRPC_NOT_FOUND) || hasCode(error, GRPC_INVALID_ARGUMENT);
        if (!isNew || performance.now() > deadlineMs) throw error;
        await delay(10);
      }
    }
  } finally {
    await connection.close();
  }
}

async function ensureRegistered({ workflowService }: Connection, namespace: string): Promise<void> {
  const workflowExecutionRetentionPeriod = { seconds: RETENTION_SECONDS as never };
  try {
    // Registered without a look-up first: the server would cache the missing namespace for a second.
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  } catch (error) {
    if (hasCode(error, GRPC_ALREADY_EXISTS)) return;
    // An operator's server may refuse this, which does not matter if the namespace exists.
    await workflowService.describeNamespace({ namespace });
  }
}

function hasCode(error: unknown, code: number): boolean {
  return isGrpcServiceError(error) && error.code === code;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, timeout: 1_000 });
    const settle = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
  });
}

async function succeeds(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch {
    return false;
  }
}

function delay(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
