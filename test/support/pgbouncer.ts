/** PgBouncer in transaction mode in front of a PostgreSQL server. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../src/embedded/ports.ts';
import { asUser, giveTo, resolvePostgresUser } from '../../src/embedded/postgres-user.ts';
import type { ProcessRecord } from '../../src/embedded/process-record.ts';
import { type RunningProgram, startProgram, waitUntilReady } from '../../src/embedded/program.ts';

export interface PgBouncer {
  port: number;
  start(): Promise<RunningProgram>;
}

/** Connections to the server that all processes share: fewer than they open. */
const SERVER_CONNECTIONS = 20;

/** @param executable from 1.21 on, which knows prepared statements in transaction mode */
export async function preparePgBouncer(
  executable: string,
  { databaseUrl, directory, record }: { databaseUrl: string; directory: string; record: ProcessRecord },
): Promise<PgBouncer> {
  const port = await findFreePort();
  const server = new URL(databaseUrl);
  const database = server.pathname.slice(1);
  const own = join(directory, 'pgbouncer');
  mkdirSync(own);
  const user = resolvePostgresUser();
  giveTo(user, own);
  writeFileSync(
    join(own, 'pgbouncer.ini'),
    `[databases]
${database} = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_prepared_statements = 200
max_client_conn = 1000
default_pool_size = ${SERVER_CONNECTIONS}
ignore_startup_parameters = statement_timeout
`,
  );
  const probe = async () => {
    const client = new pg.Client({ host: '127.0.0.1', port, database, user: server.username });
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end();
    }
  };
  return {
    port,
    async start() {
      const logPath = join(directory, 'pgbouncer.log');
      const program = await startProgram({
        name: 'PgBouncer',
        ...asUser(user, executable, [join(own, 'pgbouncer.ini')], own),
        environment: process.env,
        logPath,
        // Lets transactions end; those who connect meanwhile are refused.
        stopSignal: 'SIGINT',
        stopTimeoutMs: 30_000,
        record,
      });
      await waitUntilReady(program, probe, { timeoutMs: 30_000, logPath });
      return program;
    },
  };
}
