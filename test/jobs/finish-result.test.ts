/** Confidences and measures of quality in results have four decimals, wherever a result comes from. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { Event } from '../../src/jobs/entities.ts';
import { finishResult } from '../../src/jobs/finish-result.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishJob, readJob, SUCCESS } from '../support/jobs.ts';

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

it.each([
  [{ confidence: 0.9123456789 }, { confidence: 0.9123 }],
  [{ confidence: 0.99996 }, { confidence: 1 }],
  [{ confidence: 0.00004 }, { confidence: 0 }],
  [
    { confidence: null, x: 0.123456789 },
    { confidence: null, x: 0.123456789 },
  ],
  [
    { confidences: [0.123456, 0.5], text_confidence: 0.123456 },
    { confidences: [0.1235, 0.5], text_confidence: 0.1235 },
  ],
  [
    { quality: { overall: 0.123456, noise: 1 }, x: 0.123456 },
    { quality: { overall: 0.1235, noise: 1 }, x: 0.123456 },
  ],
  [[{ a: [{ confidence: 2 / 3 }] }], [{ a: [{ confidence: 0.6667 }] }]],
  [null, null],
  ['text', 'text'],
])('the result %j is finished as %j', (result, finished) => {
  expect(finishResult(result)).toEqual(finished);
});

it('a finished result has the same order of fields, and the given result is unchanged', () => {
  const given = { z: 1, confidence: 0.123456, a: { confidence: 0.5 } };
  expect(JSON.stringify(finishResult(given))).toBe('{"z":1,"confidence":0.1235,"a":{"confidence":0.5}}');
  expect(given.confidence).toBe(0.123456);
});

it('a settled job and its event carry the finished result', async () => {
  const customer = await createCustomer(orm);
  const jobId = await admit(orm, customer);
  const odometer = { value: 1, unit: 'km', display_type: 'digital', confidence: 0.98765432 };
  const result = { cluster_lit: true, odometer, warning_lights: [], fuel_level_percent: null };
  await finishJob(orm, jobId, { ...SUCCESS, result });
  const finished = { ...result, odometer: { ...odometer, confidence: 0.9877 } };
  expect((await readJob(orm, jobId)).result).toEqual(finished);
  const event = await orm.em.fork().findOneOrFail(Event, { jobId });
  expect(JSON.parse(event.payload).data.object.result).toEqual(finished);
});
