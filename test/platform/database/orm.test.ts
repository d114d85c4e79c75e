/** Statements reach PostgreSQL prepared, and take part in transactions. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/database.ts';
import { readJob } from '../../../src/jobs/jobs-store.ts';
import { type MikroORM, query } from '../../../src/platform/database/orm.ts';
import { createCustomer } from '../../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { admit, finishInference, readJob as readThroughOrm } from '../../support/jobs.ts';

let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  // With one connection, the test can list its prepared statements.
  orm = await openDatabase({ url: database.url, poolSize: 1 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

it('a statement is prepared once per connection, whatever its parameters', async () => {
  const statement = 'select $1::integer as number';
  for (const number of [1, 2, 3]) {
    expect(await query(orm.em.fork(), statement, [number])).toEqual([{ number }]);
  }
  const prepared = await query(
    orm.em.fork(),
    'select (generic_plans + custom_plans)::integer as runs from pg_prepared_statements where statement = $1',
    [statement],
  );
  expect(prepared).toEqual([{ runs: 3 }]);
});

it('a statement rolls back with its transaction', async () => {
  const count = () => query(orm.em.fork(), `select key from rate_limits where key = 'undone'`);
  const undone = orm.em.fork().transactional(async (em) => {
    await query(em, `insert into rate_limits (key, requests, resets_at) values ('undone', 1, now())`);
    throw new Error('undo');
  });
  await expect(undone).rejects.toThrow('undo');
  expect(await count()).toEqual([]);
});

it('the prepared statement and the ORM read the same job', async () => {
  const jobId = await admit(orm, await createCustomer(orm), { parameters: { deep: [1, { two: null }] } });
  await finishInference(orm, jobId);
  const job = await readJob(orm.em.fork(), jobId);
  expect(Object.entries(job)).toEqual(Object.entries(await readThroughOrm(orm, jobId)));
  expect(job.createdAt).toBeInstanceOf(Date);
  await expect(readJob(orm.em.fork(), 'job_nowhere')).rejects.toThrow('there is no job job_nowhere');
});
