/** The listener that wakes requests which wait. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { listenForSettlements, type SettlementListener } from '../../src/jobs/settlement-listener.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishJob } from '../support/jobs.ts';
import { type LogRecord, recordLog } from '../support/log-record.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;
let settlements: SettlementListener;
let log: LogRecord;

const NEVER = new AbortController().signal;
/** A waiter is woken by what the test does, not because time passes. */
const HOUR_MS = 3_600_000;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 3 });
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  log = recordLog();
  settlements = listenForSettlements(database.url, log.logger, { recheckIntervalMs: HOUR_MS });
  await listening();
});
afterEach(() => settlements.close());

/** Once it listens, it wakes all waiting requests: a job may have settled before. */
const listening = () => settlements.settled('any job', NEVER);

async function settle(jobId: string): Promise<void> {
  await finishJob(orm, jobId);
}

/** Answers whether a promise is settled yet; what is settled already comes first. */
const isSettled = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), Promise.resolve(false)]);

it('a settlement wakes every waiter of its job and no other', async () => {
  const [jobId, other] = [await admit(orm, customer), await admit(orm, customer)];
  const waiting = [settlements.settled(jobId, NEVER), settlements.settled(jobId, NEVER)];
  const elsewhere = settlements.settled(other, NEVER);
  await settle(jobId);
  expect(await Promise.all(waiting)).toEqual([true, true]);
  expect(await isSettled(elsewhere)).toBe(false);
  await settle(other);
  expect(await elsewhere).toBe(true);
});

it('an aborted signal ends the wait for a settlement with false, at once when it was already aborted', async () => {
  const leaving = new AbortController();
  const waiting = settlements.settled('job_1', leaving.signal);
  leaving.abort();
  expect(await waiting).toBe(false);
  expect(await settlements.settled('job_1', leaving.signal)).toBe(false);
});

describe('a listener that loses its connection', () => {
  /** Ends the one session that listens, once those that have left before are gone. */
  async function terminate() {
    const listen = "datname = current_database() and query = 'listen job_settled'";
    await until(async () => {
      const sessions = await query(orm.em.fork(), `select from pg_stat_activity where ${listen}`);
      return sessions.length === 1;
    });
    await query(orm.em.fork(), `select pg_terminate_backend(pid) from pg_stat_activity where ${listen}`);
  }

  it('a listener that loses its connection reconnects, wakes every waiter and receives later settlements', async () => {
    const jobId = await admit(orm, customer);
    const waiting = settlements.settled(jobId, NEVER);
    await terminate();
    // Not settled, but it may have been: the waiter is woken to look.
    expect(await waiting).toBe(true);
    const again = settlements.settled(jobId, NEVER);
    await settle(jobId);
    expect(await again).toBe(true);
    await log.waitFor((line) => line.msg === 'settlement listener lost its connection');
  });

  it('a listener reconnects after each of three losses of its connection', async () => {
    for (let time = 0; time < 3; time += 1) {
      const waiting = settlements.settled('any job', NEVER);
      await terminate();
      expect(await waiting).toBe(true);
    }
  });
});

it('waiters are woken periodically, in case a notification was lost', async () => {
  const impatient = listenForSettlements(database.url, log.logger, { recheckIntervalMs: 20 });
  try {
    // The first wake-up may be that of the connection.
    for (let time = 0; time < 2; time += 1) expect(await impatient.settled('any job', NEVER)).toBe(true);
  } finally {
    await impatient.close();
  }
});

it('a listener retries while the database is down, until it is closed', async () => {
  const nowhere = listenForSettlements('postgres://nobody@127.0.0.1:1/nothing', log.logger);
  expect(await log.waitFor((line) => line.msg === 'settlement listener cannot connect')).toMatchObject({ level: 40 });
  await nowhere.close();
});
