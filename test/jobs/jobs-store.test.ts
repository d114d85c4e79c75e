import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { createResultReader } from '../../src/jobs/jobs-store.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishJob, SUCCESS } from '../support/jobs.ts';

let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

it('a job reads results of its own organisation and mode only', async () => {
  const [customer, stranger] = [await createCustomer(orm), await createCustomer(orm)];
  const jobId = await admit(orm, customer);
  await finishJob(orm, jobId);
  const readFor = (organizationId: string, livemode: boolean) =>
    createResultReader(orm, { organizationId, livemode })(jobId);
  expect(await readFor(customer.organizationId, false)).toEqual(SUCCESS.result);
  expect(await readFor(stranger.organizationId, false)).toBeNull();
  expect(await readFor(customer.organizationId, true)).toBeNull();
});
