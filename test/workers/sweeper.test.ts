/** The sweeper recovers from crashes: committed work runs, and objects without an owner are removed. */
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes.ts';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { keepStageOutcome } from '../../src/jobs/stage-outcomes-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import { type ObjectStore, StoreRefusedError } from '../../src/platform/storage/object-store.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { Upload } from '../../src/uploads/entities.ts';
import { deleteExpiredUploads } from '../../src/uploads/uploads-store.ts';
import { WebhookDelivery } from '../../src/webhooks/entities.ts';
import { sweepStoredFiles } from '../../src/workers/sweep-stored-files.ts';
import {
  type SweeperDependencies,
  startSweeper,
  sweepClaims,
  sweepOutbox,
  sweepStageOutcomes,
  sweepUploads,
} from '../../src/workers/sweeper.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, countRows, finishInference, type JobChanges, readJob } from '../support/jobs.ts';
import { type LogRecord, recordLog } from '../support/log-record.ts';
import { steeredStore } from '../support/steered-store.ts';
import { createTestNamespace } from '../support/temporal.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ago = (ms: number) => new Date(Date.now() - ms);

let database: TestDatabase;
let orm: MikroORM;
let temporal: Client;
let directory: string;
let store: ObjectStore;
let log: LogRecord;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  temporal = openTemporalClient(await createTestNamespace());
  customer = await createCustomer(orm, { test: 100_000 });
});
afterAll(async () => {
  await temporal.connection.close();
  await orm.close();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sweeper-'));
  store = createDiskStore(directory);
  log = recordLog();
});
// A job that a test leaves open would be swept in another, as soon as it is old enough.
afterEach(() =>
  query(orm.em.fork(), `update jobs set status = 'failed', completed_at = now() where completed_at is null`),
);

const dependencies = (changes: Partial<SweeperDependencies> = {}): SweeperDependencies => ({
  orm,
  temporal,
  store,
  logger: log.logger,
  ...changes,
});

const isStarted = (workflowId: string) =>
  temporal.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      },
    );

describe('an open job without a workflow', () => {
  const admitted = (changes: JobChanges = {}) => admit(orm, customer, { createdAt: ago(11 * SECOND), ...changes });

  it('an open job gets a workflow when none is known to have started within 10 s, with the request’s parameters', async () => {
    const jobId = await admitted({ expiryMs: 7_000 });
    await sweepOutbox(dependencies());
    const { workflowExecutionInfo, executionConfig } = (await temporal.workflow.getHandle(jobId).describe()).raw;
    expect(workflowExecutionInfo?.type?.name).toBe('runJob');
    expect(executionConfig?.taskQueue?.name).toBe('orchestration');
    const { events } = await temporal.workflow.getHandle(jobId).fetchHistory();
    const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    expect(JSON.parse(Buffer.from(input ?? []).toString())).toMatchObject({ jobId, expiryMs: 7_000 });
    expect((await readJob(orm, jobId)).workflowStartedAt).not.toBeNull();
  });

  it('an open job gets a workflow when it is overdue, although one was started', async () => {
    const jobId = await admitted({ dueAt: ago(SECOND) });
    await query(orm.em.fork(), 'update jobs set workflow_started_at = now() where id = $1', [jobId]);
    const sweptAt = Date.now();
    await sweepOutbox(dependencies());
    expect(await isStarted(jobId)).toBe(true);
    // It is rechecked after one minute, not in every pass.
    expect((await readJob(orm, jobId)).dueAt.getTime()).toBeGreaterThan(sweptAt + 50 * SECOND);
  });

  it('an open job gets no workflow while the admitting request may still start it', async () => {
    const now = new Date();
    const jobId = await admitted({ createdAt: new Date(now.getTime() - 9 * SECOND) });
    await sweepOutbox(dependencies({ clock: () => now }));
    expect(await isStarted(jobId)).toBe(false);
  });

  it('a job gets no workflow once a worker has picked it up, or it has ended', async () => {
    const pickedUp = await admitted();
    const ended = await admitted({ dueAt: ago(SECOND) });
    await finishInference(orm, pickedUp);
    await createSettlementActivities({ orm }).settleJob({ jobId: ended, failure: 'job_expired' });
    await sweepOutbox(dependencies());
    expect(await isStarted(pickedUp)).toBe(false);
    expect(await isStarted(ended)).toBe(false);
  });

  it('an open job gets a workflow even if that of another job cannot be started', async () => {
    const [gone, fine] = [await admitted({ endpoint: 'no.such.endpoint' }), await admitted()];
    await sweepOutbox(dependencies());
    expect(await isStarted(gone)).toBe(false);
    expect(await isStarted(fine)).toBe(true);
    await log.waitFor((line) => line.jobId === gone && line.level === 40);
  });
});

describe('jobs whose workflow cannot be started', () => {
  interface Aside {
    start_error: string | null;
    start_after: string | null;
  }
  const removed = (changes: JobChanges = {}) =>
    admit(orm, customer, { createdAt: ago(MINUTE), endpoint: 'no.such.endpoint', ...changes });
  const asideOf = async (jobId: string) => {
    const [row] = await query<Aside>(orm.em.fork(), 'select start_error, start_after from jobs where id = $1', [jobId]);
    return row;
  };
  const warnings = () => log.lines.filter((line) => line.includes('stranded: workflow not started; set aside'));

  it('jobs whose workflow cannot be started do not keep younger jobs waiting, whatever their number', async () => {
    for (let job = 0; job < 220; job += 1) await removed();
    const fine = await admit(orm, customer, { createdAt: ago(11 * SECOND) });
    await sweepOutbox(dependencies());
    expect(await isStarted(fine)).toBe(true);
  });

  it('jobs whose workflow cannot be started are set aside with the reason, and tried again later, ever less often', async () => {
    const jobId = await removed({ createdAt: ago(5 * MINUTE) });
    await sweepOutbox(dependencies());
    await log.waitFor((line) => line.jobId === jobId && line.level === 40);
    const aside = await asideOf(jobId);
    expect(aside?.start_error).toMatch(/no\.such\.endpoint/);
    expect(new Date(aside?.start_after ?? 0).getTime() - Date.now()).toBeGreaterThan(4 * MINUTE);
    await sweepOutbox(dependencies());
    expect(warnings()).toHaveLength(1);
    await query(orm.em.fork(), 'update jobs set start_after = now() where id = $1', [jobId]);
    await sweepOutbox(dependencies());
    expect(warnings()).toHaveLength(2);
  });

  it('jobs that were set aside lose the reason once their workflow starts', async () => {
    const jobId = await removed();
    await sweepOutbox(dependencies());
    await query(orm.em.fork(), `update jobs set endpoint = 'dashboard.read', start_after = now() where id = $1`, [
      jobId,
    ]);
    await sweepOutbox(dependencies());
    expect(await isStarted(jobId)).toBe(true);
    expect(await asideOf(jobId)).toEqual({ start_error: null, start_after: null });
  });
});

describe('replicas that sweep at the same time', () => {
  /** Temporal as a test steers it; reports which workflows it was asked to start. */
  function steered(start: (workflowId: string) => Promise<void>) {
    const asked: string[] = [];
    const client = {
      withDeadline: <Result>(_deadline: number, call: () => Promise<Result>) => call(),
      workflow: {
        start: async (_type: string, { workflowId }: { workflowId: string }) => {
          asked.push(workflowId);
          await start(workflowId);
        },
      },
    };
    return { asked, temporal: client as unknown as Client };
  }

  it('replicas that sweep at the same time start each job once between them', async () => {
    const jobIds = [];
    for (let job = 0; job < 120; job += 1) jobIds.push(await admit(orm, customer, { createdAt: ago(MINUTE) }));
    const { asked, temporal } = steered(() => delay(5));
    await Promise.all([sweepOutbox(dependencies({ temporal })), sweepOutbox(dependencies({ temporal }))]);
    expect(asked.toSorted()).toEqual(jobIds.toSorted());
  });

  it('a pass that finds Temporal down leaves its jobs to the next pass at once', async () => {
    const jobIds = [];
    for (let job = 0; job < 30; job += 1) jobIds.push(await admit(orm, customer, { createdAt: ago(MINUTE) }));
    const away = openTemporalClient({ address: `127.0.0.1:${await findFreePort()}`, namespace: 'default' });
    await expect(sweepOutbox(dependencies({ temporal: away }))).rejects.toThrow('Failed to start Workflow');
    await away.connection.close();
    const { asked, temporal } = steered(async () => {});
    await sweepOutbox(dependencies({ temporal }));
    expect(asked.toSorted()).toEqual(jobIds.toSorted());
  });
});

it('a delivery gets a workflow if its job’s workflow died before starting it', async () => {
  await createWebhookEndpoint(orm, customer.organizationId);
  const now = new Date();
  const jobId = await admit(orm, customer);
  const { deliveryIds } = await createSettlementActivities({ orm }).settleJob({ jobId, failure: 'job_expired' });
  const [deliveryId = ''] = deliveryIds;
  await sweepOutbox(dependencies({ clock: () => now }));
  expect(await isStarted(deliveryId)).toBe(false);
  await sweepOutbox(dependencies({ clock: () => new Date(Date.now() + 11 * SECOND) }));
  expect(await isStarted(deliveryId)).toBe(true);
  const { typedSearchAttributes } = await temporal.workflow.getHandle(deliveryId).describe();
  expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.organizationId)).toBe(customer.organizationId);
  expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.livemode)).toBe(false);
  const delivery = () => orm.em.fork().findOneOrFail(WebhookDelivery, { id: deliveryId });
  const { workflowStartedAt } = await delivery();
  expect(workflowStartedAt).not.toBeNull();
  await sweepOutbox(dependencies({ clock: () => new Date(Date.now() + HOUR) }));
  expect((await delivery()).workflowStartedAt).toEqual(workflowStartedAt);
});

describe('the storage', () => {
  async function put(key: string, modifiedAt = ago(2 * HOUR)): Promise<void> {
    await store.put(key, Buffer.from('x'));
    await utimes(join(directory, key), modifiedAt, modifiedAt);
  }
  async function stored(): Promise<string[]> {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => join(parentPath, name).slice(directory.length + 1));
  }

  it('the sweeper removes files that no job and no upload owns, an hour after they were written', async () => {
    const [jobId, uploadId] = [await admit(orm, customer), await insertUpload(HOUR, null)];
    const kept = [`jobs/${jobId}.0`, `uploads/${uploadId}`, `jobs/${newId('job')}.0`, `uploads/${newId('upload')}`];
    const orphans = [`jobs/${newId('job')}.0`, `jobs/${newId('job')}.1`, `uploads/${newId('upload')}`];
    for (const key of [...kept.slice(0, 2), ...orphans]) await put(key);
    for (const key of kept.slice(2)) await put(key, ago(0.9 * HOUR));
    await sweepStoredFiles(dependencies());
    expect((await stored()).sort()).toEqual(kept.sort());
  });

  it('the sweeper removes the remains of an interrupted write', async () => {
    await put('partial/left-behind');
    await put('partial/being-written', new Date());
    await sweepStoredFiles(dependencies());
    expect(await stored()).toEqual(['partial/being-written']);
  });

  it('the sweeper removes uploads that no job used within 24 hours, and their files', async () => {
    const [unused, used] = [await insertUpload(-1, null), await insertUpload(-1, new Date())];
    for (const id of [unused, used]) await put(`uploads/${id}`);
    // The remains of a crash during the upload.
    for (const left of ['joined-twice', 'part-0.left', 'parts/000000000000.left'])
      await put(`uploads/${unused}.${left}`);
    await sweepUploads(dependencies());
    await sweepStoredFiles(dependencies());
    expect(await stored()).toEqual([`uploads/${used}`]);
    expect(await orm.em.fork().findOne(Upload, { id: unused })).toBeNull();
    expect(await orm.em.fork().findOne(Upload, { id: used })).not.toBeNull();
  });

  it('the sweeper removes all uploads that have expired in one pass, however many they are', async () => {
    await query(
      orm.em.fork(),
      `insert into uploads (id, organization_id, livemode, status, media_type, bytes, sha256, storage_key, expires_at)
       select 'upl_' || n, $1, false, 'ready', 'image/jpeg', 1, 'x', 'uploads/upl_' || n, now() from generate_series(1, 450) as n`,
      [customer.organizationId],
    );
    for (const n of [1, 450]) await put(`uploads/upl_${n}`);
    expect(await sweepUploads(dependencies())).toBe(false);
    expect(await stored()).toEqual([]);
    expect(await orm.em.fork().count(Upload, { id: /^upl_\d+$/ })).toBe(0);
  });

  it('the sweeper removes all other expired uploads when the store refuses to remove the file of one', async () => {
    const [held, other] = [await insertUpload(-2, null), await insertUpload(-1, null)];
    for (const id of [held, other]) await put(`uploads/${id}`);
    const remove = async (key: string) => {
      if (key === `uploads/${held}`) throw new StoreRefusedError('on legal hold');
      await store.remove(key);
    };
    await sweepUploads(dependencies({ store: steeredStore(() => store, { remove }) }));
    expect(await stored()).toEqual([`uploads/${held}`]);
    expect(await log.waitFor((line) => line.level === 40)).toMatchObject({ objects: 1 });
    await sweepStoredFiles(dependencies());
    expect(await stored()).toEqual([]);
  });

  it('the sweeper removes the uploads first that expired first', async () => {
    const newest = await insertUpload(-1, null);
    await query(
      orm.em.fork(),
      `insert into uploads (id, organization_id, livemode, status, media_type, bytes, sha256, storage_key, expires_at)
       select 'upl_' || n, $1, false, 'ready', 'image/jpeg', 1, 'x', 'uploads/upl_' || n, now() - interval '1 hour'
       from generate_series(1, 200) as n`,
      [customer.organizationId],
    );
    expect(await deleteExpiredUploads(orm.em.fork())).toMatchObject({ rows: 200, hasMore: true });
    expect(await orm.em.fork().findOne(Upload, { id: newest })).not.toBeNull();
    await sweepUploads(dependencies());
  });

  async function insertUpload(lifetimeMs: number, usedAt: Date | null): Promise<string> {
    const id = newId('upload');
    await query(
      orm.em.fork(),
      `insert into uploads (id, organization_id, livemode, status, media_type, bytes, sha256, storage_key, expires_at, used_at)
       values ($1, $2, false, 'ready', 'image/jpeg', 1, 'x', $3, now() + $4 * interval '1 millisecond', $5)`,
      [id, customer.organizationId, `uploads/${id}`, lifetimeMs, usedAt],
    );
    return id;
  }
});

it('the sweeper removes the stage outcomes of an ended job and keeps those of an open one', async () => {
  const now = Date.now();
  const createdAt = new Date(now - 30 * SECOND);
  const keep = async (jobId: string) => {
    await pickUpJob(orm.em.fork(), jobId, 'model-of-tests@2026-01-01', createdAt);
    await keepStageOutcome(orm.em.fork(), jobId, { stage: 'detect', firstUnit: 0, outcome: { units: [] } });
    return jobId;
  };
  const [open, ended, justEnded] = [
    await keep(await admit(orm, customer, { createdAt })),
    await keep(await admit(orm, customer, { createdAt })),
    await keep(await admit(orm, customer, { createdAt })),
  ];
  const end = (jobId: string, at: Date) =>
    createSettlementActivities({ orm, clock: () => at }).settleJob({ jobId, failure: 'job_stopped' });
  await end(ended, new Date(now - 11 * SECOND));
  await end(justEnded, new Date(now - SECOND));
  await sweepStageOutcomes(dependencies({ clock: () => new Date(now) }));
  const left = await query<{ job_id: string }>(orm.em.fork(), 'select job_id from stage_outcomes order by job_id');
  expect(left.map(({ job_id }) => job_id)).toEqual([open, justEnded].toSorted());
});

it('the sweeper removes all stage outcomes that ended jobs left in one pass, however many they are', async () => {
  const jobId = await admit(orm, customer);
  await createSettlementActivities({ orm, clock: () => ago(MINUTE) }).settleJob({ jobId, failure: 'job_stopped' });
  await query(
    orm.em.fork(),
    `with copies as (
       insert into jobs select (jsonb_populate_record(jobs, jsonb_build_object('id', 'job_' || n))).*
       from jobs, generate_series(1, 450) as n where jobs.id = $1 returning id
     )
     insert into stage_outcomes (job_id, stage, first_unit, outcome) select id, 'detect', 0, '{"units": []}' from copies`,
    [jobId],
  );
  expect(await sweepStageOutcomes(dependencies())).toBe(false);
  expect(await log.waitFor((line) => line.jobs === 450)).toMatchObject({ level: 30 });
  const left = await query(
    orm.em.fork(),
    `select from stage_outcomes where job_id like 'job_%' and length(job_id) < 10`,
  );
  expect(left).toEqual([]);
});

it('the sweeper deletes expired idempotency claims', async () => {
  const owner = await createCustomer(orm);
  const own = { organizationId: owner.organizationId, apiKeyId: owner.keyIds.test };
  for (const idempotencyKey of ['expired-key', 'current-key']) await admit(orm, customer, { ...own, idempotencyKey });
  await query(orm.em.fork(), `update idempotency_claims set expires_at = now() where key = 'expired-key'`);
  expect(await sweepClaims(dependencies())).toBe(false);
  expect(await countRows(orm, 'idempotency_claims', owner.organizationId)).toBe(1);
});

describe('a running sweeper', () => {
  it('a running sweeper continues after a failed pass, and stops when told', async () => {
    const away = await openDatabase({ url: 'postgres://nobody@127.0.0.1:1/nothing', poolSize: 1 }).catch(() => null);
    const sweeper = startSweeper(dependencies({ orm: away ?? orm, store: { ...store, list: failing } }));
    expect(await log.waitFor((line) => line.msg === 'sweepStoredFiles failed')).toMatchObject({ level: 40 });
    await sweeper.stop();
    await away?.close();
  });

  function failing(): never {
    throw new Error('the folder is away');
  }
});
