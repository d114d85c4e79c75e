/** Customers' data is deleted after its retention time, but never that of an open job. */
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import type { JobInput } from '../../src/contracts/job.ts';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { firstIdAt, newId } from '../../src/platform/ids.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import { type ObjectStore, StoreRefusedError } from '../../src/platform/storage/object-store.ts';
import { recordShadowRun } from '../../src/releases/shadow-runs-store.ts';
import { createRetentionSweep, type RetentionDays } from '../../src/workers/sweep-retention.ts';
import { sweepStoredFiles } from '../../src/workers/sweep-stored-files.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, countRows, finishInference, type JobChanges, readJob } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { recordLog } from '../support/log-record.ts';
import { steeredStore } from '../support/steered-store.ts';

const DAY = 24 * 3_600_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY);

let database: TestDatabase;
let orm: MikroORM;
let directory: string;
let store: ObjectStore;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  customer = await createCustomer(orm, { test: 100_000 });
  directory = await mkdtemp(join(tmpdir(), 'retention-'));
  store = createDiskStore(directory);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const sweep = (days: Partial<RetentionDays> = {}) =>
  createRetentionSweep({
    orm,
    store,
    logger: recordLog().logger,
    retentionDays: { inputs: 30, results: 90, events: 30, ...days },
  })();

/** An id created at that time. */
const idFrom = (kind: 'job' | 'upload', time: Date) => firstIdAt(kind, time).slice(0, 14) + newId(kind).slice(14);

async function admitted(age: number, changes: JobChanges = {}): Promise<string> {
  const id = idFrom('job', daysAgo(age));
  await admit(orm, customer, { id, createdAt: daysAgo(age), parameters: { unit_hint: 'km' }, ...changes });
  return id;
}

async function ended(age: number, changes: JobChanges = {}): Promise<string> {
  const id = await admitted(age, changes);
  await finishInference(orm, id);
  await createSettlementActivities({ orm, clock: () => daysAgo(age) }).settleJob({ jobId: id, failure: null });
  return id;
}

async function put(key: string, age: number): Promise<void> {
  await store.put(key, Buffer.from('x'));
  await utimes(join(directory, key), daysAgo(age), daysAgo(age));
}

/** Returns its id. */
async function upload(age: number, usedAge: number | null): Promise<string> {
  const id = idFrom('upload', daysAgo(age));
  await put(`uploads/${id}`, age);
  await query(
    orm.em.fork(),
    `insert into uploads (id, organization_id, livemode, status, media_type, bytes, sha256, storage_key, expires_at, used_at)
     values ($1, $2, false, 'ready', 'image/jpeg', 1, 'x', $3, now() + interval '1 hour', $4)`,
    [id, customer.organizationId, `uploads/${id}`, usedAge === null ? null : daysAgo(usedAge)],
  );
  return id;
}

async function stored(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(directory.length + 1))
    .toSorted();
}

it('the retention sweep deletes the files of a job that ended long enough ago, and never those of an open one', async () => {
  const [old, recent, open] = [await ended(31), await ended(29), await admitted(31)];
  for (const [id, age] of [
    [old, 31],
    [recent, 29],
    [open, 31],
  ] as const)
    await put(`jobs/${id}.0`, age);
  await sweep();
  expect(await stored()).toEqual([`jobs/${recent}.0`, `jobs/${open}.0`].toSorted());
});

it('the retention sweep deletes a used upload with its file, unless it is recent or an open job needs it', async () => {
  const gone = await upload(40, 31);
  const [usedRecently, unused, needed] = [await upload(40, 29), await upload(40, null), await upload(40, 31)];
  const input = { field: 'image', mediaType: 'image/jpeg', bytes: 1, sha256: 'x' };
  const inputOf = (id: string): JobInput => ({ ...input, storageKey: `uploads/${id}`, uploadId: id });
  await admitted(1, { inputs: [inputOf(needed)] });
  await ended(31, { inputs: [inputOf(gone)] });

  await sweep();
  expect(await stored()).toEqual([usedRecently, unused, needed].map((id) => `uploads/${id}`).toSorted());
  const rows = await query<{ id: string }>(orm.em.fork(), 'select id from uploads where organization_id = $1', [
    customer.organizationId,
  ]);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([usedRecently, unused, needed].toSorted());
});

it('the retention sweep deletes an event with its deliveries and attempts, unless a delivery is pending', async () => {
  await createWebhookEndpoint(orm, customer.organizationId);
  const [delivered, pending, recent] = [await ended(31), await ended(31), await ended(29)];
  const em = orm.em.fork();
  // Settlement creates events with the present time; these were a month ago.
  for (const [jobId, age] of [
    [delivered, 31],
    [pending, 31],
    [recent, 29],
  ] as const) {
    const id = firstIdAt('event', daysAgo(age)).slice(0, 14) + newId('event').slice(14);
    await query(em, `alter table webhook_deliveries disable trigger all`);
    await query(
      em,
      `update webhook_deliveries set event_id = $1 where event_id = (select id from events where job_id = $2)`,
      [id, jobId],
    );
    await query(em, `update events set id = $1 where job_id = $2`, [id, jobId]);
    await query(em, `alter table webhook_deliveries enable trigger all`);
  }
  await query(
    em,
    `update webhook_deliveries set status = 'delivered', completed_at = now()
     where event_id in (select id from events where job_id = any ($1))`,
    [[delivered, recent]],
  );
  await query(
    em,
    `insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code)
     select id, 1, now(), 5, 200 from webhook_deliveries where status = 'delivered'`,
  );
  await sweep();
  const left = await query<{ job_id: string }>(em, 'select job_id from events where organization_id = $1', [
    customer.organizationId,
  ]);
  expect(left.map((row) => row.job_id).toSorted()).toEqual([pending, recent].toSorted());
  expect(await countRows(orm, 'events join webhook_deliveries on event_id = events.id', customer.organizationId)).toBe(
    2,
  );
});

it('the retention sweep deletes results and parameters if configured, and keeps the job and its credits', async () => {
  const [old, recent, open] = [await ended(100), await ended(80), await admitted(100)];
  await sweep({ results: null });
  expect((await readJob(orm, old)).result).not.toBeNull();

  await sweep();
  const forgotten = await readJob(orm, old);
  expect(forgotten).toMatchObject({ result: null, parameters: {}, status: 'succeeded', chargedCredits: 20 });
  expect((await readJob(orm, recent)).result).not.toBeNull();
  expect((await readJob(orm, open)).parameters).toEqual({ unit_hint: 'km' });
  await expectLedgerToBalance(database.url);
});

it.each([
  ['files', { inputs: 30, results: null }],
  ['result', { inputs: 90, results: 30 }],
])('the retention sweep deletes what a release in the shadow made of a job with its %s', async (_, days) => {
  const shadowed = async (age: number) => {
    const jobId = await ended(age);
    await recordShadowRun(
      orm.em.fork(),
      { jobId, modelVersion: 'tried@2026-02-01' },
      { outcome: 'compared', reason: null, agreed: [], differing: { text: ['B 1', 'B 2'] } },
    );
    return jobId;
  };
  await shadowed(31);
  const kept = [await shadowed(29)];
  await sweep(days);
  const rows = await query<{ id: string }>(
    orm.em.fork(),
    'select job_id as id from shadow_runs join jobs on jobs.id = job_id where organization_id = $1',
    [customer.organizationId],
  );
  expect(rows.map(({ id }) => id)).toEqual(kept);
});

it('a stopped pass of the retention sweep deletes nothing more', async () => {
  const stopping = new AbortController();
  const ids = [await ended(31), await ended(32)];
  for (const id of ids) await put(`jobs/${id}.0`, 31);
  stopping.abort();
  await createRetentionSweep({
    orm,
    store,
    logger: recordLog().logger,
    retentionDays: { inputs: 30, results: null, events: 30 },
    signal: stopping.signal,
  })();
  expect(await stored()).toHaveLength(2);
});

it('the retention sweep deletes dispatches after the retention of events, and never those of an open job', async () => {
  const dispatched = async (jobId: string, age: number) => {
    const id = firstIdAt('dispatch', daysAgo(age)).slice(0, 14) + newId('dispatch').slice(14);
    await query(orm.em.fork(), 'insert into remote_dispatches (id, job_id, attempt, task_token) select $1, $2, 1, $3', [
      id,
      jobId,
      Buffer.from('token'),
    ]);
    return id;
  };
  await dispatched(await ended(31), 31);
  const kept = [await dispatched(await ended(29), 29), await dispatched(await admitted(31), 31)];
  await sweep({ events: 30 });
  const rows = await query<{ id: string }>(
    orm.em.fork(),
    'select remote_dispatches.id from remote_dispatches join jobs on jobs.id = job_id where organization_id = $1',
    [customer.organizationId],
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
});

describe('a failure in the retention sweep', () => {
  it('a step that always fails does not keep the retention sweep from the others; the pass then fails for that', async () => {
    const id = await ended(100);
    await put(`jobs/${id}.0`, 100);
    await query(orm.em.fork(), 'alter table events rename to events_away');
    try {
      await expect(sweep()).rejects.toThrow(/events/);
    } finally {
      await query(orm.em.fork(), 'alter table events_away rename to events');
    }
    expect((await readJob(orm, id)).result).toBeNull();
    expect(await stored()).toEqual([]);
  });

  it('a file that the store refuses to remove does not keep the others, and is removed once the store agrees', async () => {
    const ids = [await ended(33), await ended(32), await ended(31)].toSorted();
    for (const id of ids) await put(`jobs/${id}.0`, 31);
    const uploads = [await upload(40, 31), await upload(40, 31)];
    const held = [`jobs/${ids[1]}.0`, `uploads/${uploads[0]}`];
    const disk = store;
    store = steeredStore(() => disk, {
      remove: async (key) =>
        held.includes(key) ? Promise.reject(new StoreRefusedError('on legal hold')) : disk.remove(key),
    });
    await sweep();
    expect(await stored()).toEqual(held.toSorted());
    store = disk;
    await sweep();
    await sweepStoredFiles({ orm, store, logger: recordLog().logger });
    expect(await stored()).toEqual([]);
  });
});
