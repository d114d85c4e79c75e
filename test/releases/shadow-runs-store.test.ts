/** What runs in the shadow leave: a report by field, one record for each job, and statements that find their rows by an index. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { isInShadow } from '../../src/releases/release-choices-store.ts';
import {
  deleteOldShadowRuns,
  recordShadowRun,
  reportOn,
  type ShadowRun,
} from '../../src/releases/shadow-runs-store.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit } from '../support/jobs.ts';
import { explainAll, watchPlans } from '../support/plans.ts';

const TRIED = 'dashboards@2026-02-01';
const SAME: ShadowRun = { outcome: 'compared', reason: null, agreed: ['unit', 'value'], differing: {} };

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;
let plans: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  await explainAll(database.url);
  orm = await openDatabase({ url: database.url, poolSize: 1 });
  await watchPlans(orm, (scans) => plans.push(scans.join(' | ')));
  plans = [];
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(() => {
  plans = [];
});

async function ran(run: ShadowRun, modelVersion = TRIED): Promise<string> {
  const jobId = await admit(orm, customer);
  await pickUpJob(orm.em.fork(), jobId, 'dashboards@2026-01-01', new Date());
  await recordShadowRun(orm.em.fork(), { jobId, modelVersion }, run);
  return jobId;
}

it('a report shows outcomes, fields by agreement and the latest differences of one release', async () => {
  await ran(SAME);
  await ran(SAME, 'dashboards@2026-01-15');
  const first = await ran({ ...SAME, agreed: ['unit'], differing: { value: [1, 2] } });
  const second = await ran({ ...SAME, agreed: [], differing: { value: [3, null], unit: ['km', 'mi'] } });
  await ran({ outcome: 'failed', reason: 'inference_timeout', agreed: [], differing: {} });
  const { organizationId: organization } = customer;
  expect(await reportOn(orm.em.fork(), { endpoint: 'dashboard.read', modelVersion: null, field: null })).toEqual({
    modelVersion: TRIED,
    runs: { compared: 3, failed: 1 },
    fields: [
      { field: 'value', compared: 3, agreed: 1 },
      { field: 'unit', compared: 3, agreed: 2 },
    ],
    examples: [
      { job: second, organization, field: 'unit', served: 'km', shadow: 'mi' },
      { job: second, organization, field: 'value', served: 3, shadow: null },
      { job: first, organization, field: 'value', served: 1, shadow: 2 },
    ],
  });
  const of = { endpoint: 'dashboard.read', modelVersion: 'dashboards@2026-01-15', field: null };
  expect(await reportOn(orm.em.fork(), of)).toMatchObject({ runs: { compared: 1 }, examples: [] });
  expect(await reportOn(orm.em.fork(), { ...of, endpoint: 'vin.read' })).toBeNull();
});

it('texts that contain U+0000 are recorded without it', async () => {
  const job = await ran({ ...SAME, differing: { text: [['A\u0000B'], null] } });
  const of = { endpoint: 'dashboard.read', modelVersion: TRIED, field: 'text' };
  expect((await reportOn(orm.em.fork(), of))?.examples).toMatchObject([{ job, served: ['AB'], shadow: null }]);
});

it('a job in the shadow is recorded once, and a second attempt gets the first record', async () => {
  const jobId = await ran(SAME);
  const failed: ShadowRun = { outcome: 'failed', reason: 'model_inference_failed', agreed: [], differing: {} };
  const again = await recordShadowRun(orm.em.fork(), { jobId, modelVersion: TRIED }, failed);
  expect(again).toMatchObject({ isNew: false, outcome: 'compared', agreed: ['unit', 'value'] });
  await expect(recordShadowRun(orm.em.fork(), { jobId: 'job_1', modelVersion: TRIED }, failed)).rejects.toThrow();
});

it('statements on runs in the shadow find their rows by indexes', async () => {
  await ran({ ...SAME, differing: { value: [1, 2] } });
  plans = [];
  const em = orm.em.fork();
  await isInShadow(em, 'dashboard.read', TRIED);
  await reportOn(em, { endpoint: 'dashboard.read', modelVersion: TRIED, field: null });
  await deleteOldShadowRuns(em, new Date(0));
  expect(plans.filter((scans) => scans !== '')).toHaveLength(6);
  expect(plans.join()).not.toContain('all of');
});
