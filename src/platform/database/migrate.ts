import pg from 'pg';
import { connectDatabase } from './orm.ts';
import { CONNECT_TIMEOUT_MS } from './timeouts.ts';

/** Arbitrary, and the same in every process that migrates. */
const ADVISORY_LOCK = 20261004;

/** Brings the schema of a database up to date. Concurrent calls wait for each other. */
export async function migrate(databaseUrl: string): Promise<void> {
  const lock = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  let lost: Error | undefined;
  // It is idle while others migrate: nobody else would hear of its end.
  lock.on('error', (error) => {
    lost ??= error;
  });
  await lock.connect();
  try {
    await lock.query('set idle_session_timeout = 0');
    await lock.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const orm = await connectDatabase({ url: databaseUrl, poolSize: 2, statementTimeoutMs: null });
    try {
      await orm.migrator.up();
    } finally {
      await orm.close();
    }
    if (lost)
      throw new Error('the lock of the migration was lost, so another one may have run beside it', { cause: lost });
  } finally {
    await lock.end().catch(() => {});
  }
}
