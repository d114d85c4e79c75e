/** A connection to PostgreSQL is lost in mid-transaction, at each statement of it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/database.ts';
import { isConnectionLoss } from '../../../src/platform/database/connection-loss.ts';
import { type MikroORM, query } from '../../../src/platform/database/orm.ts';
import { type StatementProxy, startStatementProxy } from '../../faults/statement-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

let database: TestDatabase;
let postgres: StatementProxy;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  postgres = await startStatementProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(postgres.port);
  orm = await openDatabase({ url: url.href, poolSize: 2 });
});
afterAll(async () => {
  await orm.close();
  await postgres.close();
  await database.drop();
});

it.each(
  ['begin', 'select 1', 'commit'].flatMap((statement) =>
    (['before', 'after'] as const).map((moment) => [moment, statement] as const),
  ),
)('a cut %s "%s" is a connection loss for the caller, and no connection stays taken', async (moment, statement) => {
  const reached = postgres.holdNext((sql) => sql.startsWith(statement), moment);
  const work = orm.em.fork().transactional((em) => query(em, 'select 1'));
  const outcome = work.then(
    () => 'committed',
    (error: unknown) => error,
  );
  await reached;
  postgres.cutOff();
  const error = await outcome;
  expect([isConnectionLoss(error), String(error)]).toEqual([true, String(error)]);
  const pool = await orm.em.getConnection().getNativeClient();
  await until(() => pool.totalCount === pool.idleCount);
});

it('a cut between two statements makes each later one a connection loss', async () => {
  const losses: boolean[] = [];
  const work = orm.em.fork().transactional(async (em) => {
    await query(em, 'select 1');
    postgres.cutOff();
    // The first may find the connection breaking, those after it find it broken.
    for (let time = 0; time < 3; time += 1) {
      await query(em, 'select 1').catch((error: unknown) => losses.push(isConnectionLoss(error)));
    }
    throw new Error('gives up');
  });
  await expect(work).rejects.toThrow('gives up');
  expect(losses).toEqual([true, true, true]);
});
