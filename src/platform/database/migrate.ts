import pg from 'pg';
import { connectDatabase } from './orm.ts';
import { CONNECT_TIMEOUT_MS } from './timeouts.ts';

/** Arbitrary, and the same in every process that migrates. */
const ADVISORY_LOCK = 20261004;

/** Brings the schema of a database up to date. Concurrent calls wait for each other. */
export async function migrate(databaseUrl: string): Promise<void> {
  const lock = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const orm = await connectDatabase({ url: databaseUrl, poolSize: 2, statementTimeoutMs: null });
    try {
      await orm.migrator.up();
    } finally {
      await orm.close();
    }
  } finally {
    await lock.end();
  }
}
