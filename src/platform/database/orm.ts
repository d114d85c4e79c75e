import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityClass, type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { isReplyTimeout } from './connection-loss.ts';
import { ReleasingDriver } from './releasing-driver.ts';
import { CONNECT_TIMEOUT_MS, REPLY_GRACE_MS, STATEMENT_TIMEOUT_MS } from './timeouts.ts';

export type { EntityManager, MikroORM };

export interface DatabaseOptions {
  url: string;
  poolSize: number;
  /** Bound of each statement; null for none. By default `STATEMENT_TIMEOUT_MS`. */
  statementTimeoutMs?: number | null;
}

/** Connects to PostgreSQL. `entities` are the rows that the ORM maps; plain statements need none. */
export function connectDatabase(
  { url, poolSize, statementTimeoutMs = STATEMENT_TIMEOUT_MS }: DatabaseOptions,
  entities: readonly EntityClass[] = [],
): Promise<MikroORM> {
  return MikroORM.init({
    driver: ReleasingDriver,
    clientUrl: url,
    entities: [...entities],
    namingStrategy: UnderscoreNamingStrategy,
    pool: { min: 0, max: poolSize },
    driverOptions: {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...(statementTimeoutMs !== null && {
        statement_timeout: statementTimeoutMs,
        query_timeout: statementTimeoutMs + REPLY_GRACE_MS,
      }),
      onPoolCreated: (pool: pg.Pool) => pool.on('connect', replaceWhenSilent),
    },
    extensions: [Migrator],
    migrations: {
      path: fileURLToPath(new URL('../../../migrations', import.meta.url)),
      glob: '*.ts',
      snapshot: false,
      silent: true,
    },
    discovery: { warnWhenNoEntities: false },
  });
}

/**
 * Lets the pool replace a connection that no longer responds. `pg` rejects a query whose reply is late and keeps the connection,
 * which waits for that reply for ever.
 */
function replaceWhenSilent(client: pg.PoolClient): void {
  const connection = client as unknown as pg.Client;
  const send = connection.query.bind(connection) as (...query: unknown[]) => unknown;
  const query = (...parameters: unknown[]): unknown => {
    const reply = send(...parameters);
    if (!(reply instanceof Promise)) return reply;
    return reply.catch((error: Error) => {
      if (isReplyTimeout(error)) connection.connection.stream.destroy(error);
      throw error;
    });
  };
  Object.assign(connection, { query });
}

/**
 * Runs one statement with bound parameters (`$1`, `$2`, …) and returns its rows as PostgreSQL sends them. Outside a
 * transaction the statement is prepared once per connection: use few distinct texts, and name the columns.
 */
export async function query<Row>(em: EntityManager, sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  if (em.isInTransaction()) {
    const { rows } = await em.getKysely().executeQuery(CompiledQuery.raw(sql, [...parameters]));
    return rows as Row[];
  }
  const pool = await em.getConnection().getNativeClient();
  const { rows } = await pool.query({ name: hash('sha1', sql, 'base64url'), text: sql, values: [...parameters] });
  return rows;
}

/** The columns of an entity, for a statement whose rows `em.map` turns into entities. */
export function columnsOf(em: EntityManager, entity: EntityClass): string {
  return em
    .getMetadata(entity)
    .props.flatMap(({ fieldNames }) => fieldNames)
    .join(', ');
}
