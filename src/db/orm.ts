import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityClass, type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import { entities } from './entities.ts';

export type { EntityManager, MikroORM };

export interface DatabaseOptions {
  url: string;
  poolSize: number;
}

/** Connects to PostgreSQL. Fork its `em` for every request or activity; close it when the process ends. */
export function openDatabase({ url, poolSize }: DatabaseOptions): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities,
    namingStrategy: UnderscoreNamingStrategy,
    pool: { min: 0, max: poolSize },
    extensions: [Migrator],
    migrations: {
      path: fileURLToPath(new URL('../../migrations', import.meta.url)),
      glob: '*.ts',
      snapshot: false,
      silent: true,
    },
    discovery: { warnWhenNoEntities: false },
  });
}

/**
 * Runs one statement with bound parameters (`$1`, `$2`, …) and answers its rows as PostgreSQL sends them. Outside a
 * transaction the statement is prepared once a connection: its text must be one of a few, and name its columns.
 */
export async function query<Row>(em: EntityManager, sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  if (em.isInTransaction()) {
    const { rows } = await em.getKysely().executeQuery(CompiledQuery.raw(sql, [...parameters]));
    return rows as Row[];
  }
  const pool = await em.getConnection().getNativeClient();
  const { rows } = await pool.query({ name: statementName(sql), text: sql, values: [...parameters] });
  return rows;
}

/** The columns of an entity, for a statement whose row `em.map` turns into one. */
export function columnsOf(em: EntityManager, entity: EntityClass): string {
  return em
    .getMetadata(entity)
    .props.flatMap(({ fieldNames }) => fieldNames)
    .join(', ');
}

const statementNames = new Map<string, string>();

/** Names are known to one connection each, so they need to differ within this process only. */
function statementName(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = `statement_${statementNames.size + 1}`;
    statementNames.set(sql, name);
  }
  return name;
}
