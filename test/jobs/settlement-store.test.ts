/** Pick-up, cancellation, expiry and settlement race on parallel connections: exactly one wins, and I1 and I2 hold. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import type { TerminalJobStatus } from '../../src/contracts/job.ts';
import { openDatabase } from '../../src/database.ts';
import { endDispatch } from '../../src/jobs/dispatches-store.ts';
import { Event } from '../../src/jobs/entities.ts';
import { savePendingOutcome } from '../../src/jobs/pending-outcomes-store.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { settleJob, type TerminalTransition } from '../../src/jobs/settlement-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { type Customer, createCustomer, createWebhookEndpoint, readAccount } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, countRows, finishInference, readJob, SUCCESS, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { pauseAfterUpdatesOfAccounts } from '../support/paused-updates.ts';
import { until } from '../support/until.ts';

const NOW = new Date('2026-12-01T12:00:00.000Z');
const ROUNDS = Array.from({ length: 15 }, (_, round) => round);

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 20 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  customer = await createCustomer(orm, { test: 1_000 });
});
afterEach(() => expectLedgerToBalance(database.url));

function transition(
  jobId: string,
  to: TerminalJobStatus,
  changes: Partial<TerminalTransition> = {},
): TerminalTransition {
  return {
    jobId,
    from: ['queued', 'processing'],
    to,
    result: null,
    error: null,
    stages: null,
    chargedCredits: 0,
    completedAt: NOW,
    event: { id: newId('event'), type: 'job.failed', payload: '{}' },
    deliveries: [],
    ...changes,
  };
}

const settle = (changes: TerminalTransition) => settleJob(orm.em.fork(), changes);
const cancel = (jobId: string) => settle(transition(jobId, 'canceled', { from: ['queued'], event: null }));
const expire = (jobId: string) => settle(transition(jobId, 'expired', { from: ['queued'] }));
const succeed = (jobId: string) =>
  settle(transition(jobId, 'succeeded', { result: { reading: 1 }, chargedCredits: 20 }));
const pickUp = (jobId: string) => pickUpJob(orm.em.fork(), jobId, 'model@2026-01-01', NOW);

describe('concurrent ends of a job', () => {
  it('exactly one of twenty settlements wins, with one charge and one event', async () => {
    const jobId = await admit(orm, customer);
    const wins = await Promise.all(Array.from({ length: 20 }, () => succeed(jobId)));
    expect(wins.filter(Boolean)).toHaveLength(1);
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
    expect(await orm.em.fork().count(Event, { jobId })).toBe(1);
  });

  it.each(ROUNDS)('exactly one of cancellation, expiry and settlement wins (round %d)', async () => {
    const jobId = await admit(orm, customer);
    const ends = [cancel, expire, succeed]
      .map((end) => ({ end, order: Math.random() }))
      .sort((a, b) => a.order - b.order);
    const wins = await Promise.all(ends.map(({ end }) => end(jobId)));
    expect(wins.filter(Boolean)).toHaveLength(1);
    const winner = ends[wins.indexOf(true)]?.end;
    const status = winner === cancel ? 'canceled' : winner === expire ? 'expired' : 'succeeded';
    expect(await readJob(orm, jobId)).toMatchObject({ status });
    expect(await orm.em.fork().count(Event, { jobId })).toBe(status === 'canceled' ? 0 : 1);
  });

  it.each(ROUNDS)('exactly one of cancellation and pick-up wins (round %d)', async () => {
    const jobId = await admit(orm, customer);
    const [isCanceled, isPickedUp] = await Promise.all([cancel(jobId), pickUp(jobId)]);
    expect([isCanceled, isPickedUp].filter(Boolean)).toHaveLength(1);
    expect((await readJob(orm, jobId)).status).toBe(isCanceled ? 'canceled' : 'processing');
    expect(await readAccount(orm, customer.organizationId, false)).toEqual(
      isCanceled ? { available: 1_000, held: 0, openJobs: 0 } : { available: 980, held: 20, openJobs: 1 },
    );
  });

  it.each(ROUNDS)(
    'exactly one of expiry and a worker that picks up, finishes and settles wins (round %d)',
    async () => {
      const jobId = await admit(orm, customer);
      const activities = createSettlementActivities({ orm });
      const settleActivity = (failure: 'job_expired' | null) =>
        activities.settleJob({ jobId, failure }).catch(() => null);
      const [expired, finished] = await Promise.all([
        settleActivity('job_expired'),
        finishInference(orm, jobId).then(() => settleActivity(null)),
      ]);
      const { status, chargedCredits } = await readJob(orm, jobId);
      // Both get the same end; the expiry may lose the race, and then it fails.
      expect(finished).toMatchObject({ status, chargedCredits });
      if (expired) expect(expired).toMatchObject({ status, chargedCredits });
      expect(chargedCredits).toBe(status === 'succeeded' ? 20 : 0);
    },
  );
});

describe('a transition that loses', () => {
  it('a transition that loses changes nothing', async () => {
    const jobId = await admit(orm, customer);
    await succeed(jobId);
    const before = await readJob(orm, jobId);
    expect(
      await settle(
        transition(jobId, 'failed', { deliveries: [{ id: newId('webhookDelivery'), webhookEndpointId: 'x' }] }),
      ),
    ).toBe(false);
    expect(await readJob(orm, jobId)).toEqual(before);
    expect(await countRows(orm, 'events', customer.organizationId)).toBe(1);
  });

  it('a transition from a status that it may not leave changes nothing', async () => {
    const jobId = await admit(orm, customer);
    await pickUp(jobId);
    expect(await expire(jobId)).toBe(false);
    expect(await readJob(orm, jobId)).toMatchObject({ status: 'processing' });
  });

  it('a transition returns false for a job that does not exist', async () => {
    expect(await succeed(newId('job'))).toBe(false);
  });
});

describe('a pick-up', () => {
  it.each(['succeeded', 'partial', 'failed', 'expired', 'canceled'] as const)(
    'a pick-up of a %s job changes nothing',
    async (to) => {
      const jobId = await admit(orm, customer);
      await settle(transition(jobId, to));
      expect(await pickUp(jobId)).toBeNull();
      expect(await readJob(orm, jobId)).toMatchObject({ status: to, startedAt: null, modelVersion: null });
      await savePendingOutcome(orm.em.fork(), jobId, SUCCESS);
      expect(await query(orm.em.fork(), 'select from inference_outcomes where job_id = $1', [jobId])).toEqual([]);
    },
  );
});

it.each([
  ['an inference', (jobId: string) => savePendingOutcome(orm.em.fork(), jobId, SUCCESS)],
  [
    'a cluster',
    async (jobId: string) => {
      const id = newId('dispatch');
      await query(
        orm.em.fork(),
        'insert into remote_dispatches (id, job_id, attempt, task_token) values ($1, $2, 1, $3)',
        [id, jobId, Buffer.from('token')],
      );
      await endDispatch(orm.em.fork(), { id, as: 'completed', outcome: SUCCESS });
    },
  ],
])('what %s finds while its job is being settled is not left behind', async (_what, leave) => {
  const jobId = await admit(orm, customer);
  await pickUp(jobId);
  const pause = await pauseAfterUpdatesOfAccounts(database.url);
  const settled = settle(transition(jobId, 'failed'));
  await pause.reached();
  let hasLeft = false;
  const left = leave(jobId).finally(() => {
    hasLeft = true;
  });
  await until(async () => hasLeft || (await isWaitingForRow()));
  await pause.resume();
  expect(await settled).toBe(true);
  await left;
  await pause.end();
  expect(await query(orm.em.fork(), 'select from inference_outcomes where job_id = $1', [jobId])).toEqual([]);
});

/** Whether a session waits for another one to end its transaction. */
async function isWaitingForRow(): Promise<boolean> {
  const waiting = await query(
    orm.em.fork(),
    `select from pg_stat_activity where datname = current_database() and wait_event = 'transactionid'`,
  );
  return waiting.length > 0;
}

it('a settlement that fails midway leaves the job unchanged', async () => {
  const jobId = await admit(orm, customer);
  await finishInference(orm, jobId);
  const before = await readJob(orm, jobId);
  await expect(settle(transition(jobId, 'succeeded', { chargedCredits: 21 }))).rejects.toThrow(/check/);
  expect(await readJob(orm, jobId)).toEqual(before);
  expect(await transfersOf(orm, jobId)).toEqual([['hold', 20]]);
  expect(await query(orm.em.fork(), 'select from inference_outcomes where job_id = $1', [jobId])).toHaveLength(1);
});

it('a job settles without the delivery of an endpoint that is deleted meanwhile', async () => {
  const kept = await createWebhookEndpoint(orm, customer.organizationId);
  const jobId = await admit(orm, customer);
  const deliveries = [kept.id, newId('webhookEndpoint')].map((webhookEndpointId) => ({
    id: newId('webhookDelivery'),
    webhookEndpointId,
  }));
  expect(await settle(transition(jobId, 'failed', { deliveries }))).toBe(true);
  const rows = await query(orm.em.fork(), 'select id from webhook_deliveries where id = any ($1)', [
    deliveries.map(({ id }) => id),
  ]);
  expect(rows).toEqual([{ id: deliveries[0]?.id }]);
});
