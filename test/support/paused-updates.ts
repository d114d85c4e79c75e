/** Blocks sessions that have just updated credit accounts, so that a test can act between two statements of a function. */
import pg from 'pg';
import { until } from './until.ts';

const LOCK = 7_429;

export interface Pause {
  /** Resolves when a session has run an update, of any number of rows, and waits. */
  reached(): Promise<void>;
  /** Runs a statement that does not wait. */
  query(sql: string, parameters: readonly unknown[]): Promise<void>;
  resume(): Promise<void>;
  end(): Promise<void>;
}

export async function pauseAfterUpdatesOfAccounts(databaseUrl: string): Promise<Pause> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  // A statement trigger also fires for an update of no rows; the session that holds the lock passes it.
  await client.query(`
    create function pause() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${LOCK});
      return null;
    end $$;
    create trigger pause after update on credit_accounts for each statement execute function pause();
  `);
  await client.query('select pg_advisory_lock($1)', [LOCK]);
  return {
    reached: () =>
      until(async () => {
        const waiting = await client.query(
          `select 1 from pg_locks where locktype = 'advisory' and objid = $1 and not granted
           and database = (select oid from pg_database where datname = current_database())`,
          [LOCK],
        );
        return waiting.rowCount === 1;
      }),
    query: async (sql, parameters) => {
      await client.query(sql, [...parameters]);
    },
    resume: async () => {
      await client.query('select pg_advisory_unlock($1)', [LOCK]);
    },
    end: async () => {
      await client.query('select pg_advisory_unlock_all()');
      await client.query('drop trigger pause on credit_accounts');
      await client.query('drop function pause');
      await client.end();
    },
  };
}
