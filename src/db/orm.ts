import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
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

/** Runs one statement with bound parameters (`$1`, `$2`, …) and answers its rows as PostgreSQL sends them. */
export async function query<Row>(em: EntityManager, sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  const { rows } = await em.getKysely().executeQuery(CompiledQuery.raw(sql, [...parameters]));
  return rows as Row[];
}
