import pg from 'pg';
import { openDatabase } from './orm.ts';

/** Any number: the same in every process that migrates. */
const ADVISORY_LOCK = 20261004;

/** Brings the schema of a database up to date. Concurrent calls wait for each other. */
export async function migrate(databaseUrl: string): Promise<void> {
  const lock = new pg.Client({ connectionString: databaseUrl });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const orm = await openDatabase({ url: databaseUrl, poolSize: 2 });
    try {
      await orm.migrator.up();
    } finally {
      await orm.close();
    }
  } finally {
    await lock.end();
  }
}
