/** Replicas share the jobs without a workflow by claiming them. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { claimStrandedJobs, releaseStrandedJobs } from '../../src/jobs/outbox-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit } from '../support/jobs.ts';

const LONG_AGO = new Date('2026-01-01');

let database: TestDatabase;
let orm: MikroORM;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 3 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

let customer: Customer;
beforeEach(async () => {
  await query(orm.em.fork(), `update jobs set status = 'failed', completed_at = now() where completed_at is null`);
  customer = await createCustomer(orm, { test: 100 });
});

const stranded = () => admit(orm, customer, { createdAt: LONG_AGO });
const claim = async () => (await claimStrandedJobs(orm.em.fork(), new Date())).map(({ id }) => id);

it('a job that another replica is claiming is skipped, not waited for', async () => {
  const [one, other] = [await stranded(), await stranded()];
  await orm.em.fork().transactional(async (em) => {
    await query(em, 'select from jobs where id = $1 for update', [one]);
    expect(await claim()).toEqual([other]);
  });
});

it('a claimed job is not claimed again until its claim expires or is given back', async () => {
  const job = await stranded();
  expect(await claim()).toEqual([job]);
  expect(await claim()).toEqual([]);
  await query(orm.em.fork(), `update jobs set start_after = start_after - interval '1 minute' where id = $1`, [job]);
  expect(await claim()).toEqual([job]);
  await releaseStrandedJobs(orm.em.fork(), [job]);
  expect(await claim()).toEqual([job]);
});
