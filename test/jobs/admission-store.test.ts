/** Admission is one statement: claim, job and hold, all or nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { admitJob } from '../../src/jobs/admission-store.ts';
import type { StoredResponse } from '../../src/jobs/idempotency-claims-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import { Upload } from '../../src/uploads/entities.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admission, admit, countRows, type JobChanges, readJob, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { pauseAfterUpdatesOfAccounts } from '../support/paused-updates.ts';

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 20 });
});
afterAll(async () => {
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  customer = await createCustomer(orm, { test: 100, live: 1_000 });
});

/** Returns null when the job was admitted, or the response of the first request with the key. */
const attempt = (changes: JobChanges): Promise<StoredResponse | null> =>
  admitJob(orm.em.fork(), admission(customer, changes));

async function expectNothing(): Promise<void> {
  expect(await countRows(orm, 'jobs', customer.organizationId)).toBe(0);
  expect(await countRows(orm, 'idempotency_claims', customer.organizationId)).toBe(0);
  expect(await readAccount(orm, customer.organizationId, false)).toEqual({ available: 100, held: 0, openJobs: 0 });
}

describe('an admitted job', () => {
  it('an admitted job is queued with its credits held', async () => {
    const id = await admit(orm, customer, { reservedCredits: 30 });
    expect(await readJob(orm, id)).toMatchObject({ status: 'queued', reservedCredits: 30, chargedCredits: 0 });
    expect(await transfersOf(orm, id)).toEqual([['hold', 30]]);
    expect(await readAccount(orm, customer.organizationId, false)).toEqual({ available: 70, held: 30, openJobs: 1 });
  });

  it('an admitted job that is free holds no credits and counts as open', async () => {
    const id = await admit(orm, customer, { reservedCredits: 0 });
    expect(await transfersOf(orm, id)).toEqual([]);
    expect(await readAccount(orm, customer.organizationId, false)).toEqual({ available: 100, held: 0, openJobs: 1 });
  });

  it('an admitted job may use the last credit', async () => {
    await admit(orm, customer, { reservedCredits: 100 });
    expect(await readAccount(orm, customer.organizationId, false)).toEqual({ available: 0, held: 100, openJobs: 1 });
  });

  it('a job of a live or staging key draws on live credits', async () => {
    await admit(orm, customer, { livemode: true, reservedCredits: 300 });
    await admit(orm, customer, { livemode: true, isStaging: true, reservedCredits: 300 });
    expect(await readAccount(orm, customer.organizationId, true)).toEqual({ available: 400, held: 600, openJobs: 2 });
    expect(await readAccount(orm, customer.organizationId, false)).toEqual({ available: 100, held: 0, openJobs: 0 });
  });
});

describe('a refused job', () => {
  it('a job is refused and leaves nothing when the balance is one credit too low', async () => {
    await expect(attempt({ reservedCredits: 101, idempotencyKey: 'one-too-many' })).rejects.toMatchObject({
      code: 'insufficient_credits',
      message: expect.stringContaining('101 credits and 100 are available in test mode'),
    });
    await expectNothing();
  });

  it('a job is refused and leaves nothing when the organisation has no account in this mode', async () => {
    const poor = await createCustomer(orm, { live: 0, test: 1 });
    const changes = { organizationId: poor.organizationId, apiKeyId: poor.keyIds.live, livemode: true };
    await expect(attempt(changes)).rejects.toMatchObject({ code: 'insufficient_credits' });
    await expect(attempt({ ...changes, reservedCredits: 0 })).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await countRows(orm, 'jobs', poor.organizationId)).toBe(0);
  });

  it('a job is refused and leaves nothing when the limit of open jobs is reached', async () => {
    const open = await createCustomer(orm, { test: 100 });
    const own = { organizationId: open.organizationId, apiKeyId: open.keyIds.test, openJobsLimit: 2 };
    await attempt(own);
    await attempt(own);
    await expect(attempt({ ...own, idempotencyKey: 'the-third-job' })).rejects.toMatchObject({
      code: 'concurrency_limit_exceeded',
      headers: { 'Retry-After': '1' },
    });
    expect(await readAccount(orm, open.organizationId, false)).toEqual({ available: 60, held: 40, openJobs: 2 });
    expect(await countRows(orm, 'idempotency_claims', open.organizationId)).toBe(0);
  });

  it('a job is refused and marks no upload as used when one of its uploads has expired since it was read', async () => {
    const [kept, expired] = [await insertUpload(60_000), await insertUpload(-1)];
    const inputs = [kept, expired].map(inputOf);
    await expect(attempt({ inputs, idempotencyKey: 'with-uploads' })).rejects.toMatchObject({
      code: 'resource_not_found',
      param: 'input_refs',
      message: `The upload ${expired} has expired. Upload the content again.`,
    });
    await expectNothing();
    expect((await orm.em.fork().findOneOrFail(Upload, { id: kept })).usedAt).toBeNull();
    await attempt({ inputs: inputs.slice(0, 1) });
    expect((await orm.em.fork().findOneOrFail(Upload, { id: kept })).usedAt).not.toBeNull();
  });
});

it('a refusal names every upload that has expired, in the order of the request', async () => {
  const [first, kept, second] = [await insertUpload(-1), await insertUpload(60_000), await insertUpload(-1)];
  await expect(attempt({ inputs: [second, kept, first].map(inputOf) })).rejects.toMatchObject({
    code: 'resource_not_found',
    message: `The uploads ${second}, ${first} have expired. Upload the content again.`,
  });
});

const inputOf = (uploadId: string) => ({
  field: 'images',
  storageKey: 'x',
  mediaType: 'image/jpeg',
  bytes: 1,
  sha256: 'x',
  uploadId,
});

async function insertUpload(lifetimeMs: number): Promise<string> {
  const id = newId('upload');
  await query(
    orm.em.fork(),
    `insert into uploads (id, organization_id, livemode, status, media_type, bytes, sha256, storage_key, expires_at)
     values ($1, $2, false, 'ready', 'image/jpeg', 1, 'x', $3, now() + $4 * interval '1 millisecond')`,
    [id, customer.organizationId, `uploads/${id}`, lifetimeMs],
  );
  return id;
}

describe('concurrent admissions', () => {
  it('concurrent admissions with credits for exactly 10 jobs admit exactly 10 of 100', async () => {
    const few = await createCustomer(orm, { test: 200 });
    const own = { organizationId: few.organizationId, apiKeyId: few.keyIds.test };
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => attempt(own)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'insufficient_credits' });
    }
    expect(await readAccount(orm, few.organizationId, false)).toEqual({ available: 0, held: 200, openJobs: 10 });
  });

  it('a job is admitted when a top-up arrives after its balance check', async () => {
    const poor = await createCustomer(orm, { test: 10 });
    const own = { organizationId: poor.organizationId, apiKeyId: poor.keyIds.test, reservedCredits: 30 };
    const pause = await pauseAfterUpdatesOfAccounts(database.url);
    try {
      const admitted = attempt(own);
      await pause.reached();
      await pause.query('update credit_accounts set available = 60 where organization_id = $1 and not livemode', [
        poor.organizationId,
      ]);
      await pause.query(
        `insert into credit_transfers (organization_id, livemode, kind, from_account, to_account, amount)
         values ($1, false, 'top_up', 'funding', 'available', 50)`,
        [poor.organizationId],
      );
      await pause.resume();
      expect(await admitted).toBeNull();
    } finally {
      await pause.end();
    }
    expect(await readAccount(orm, poor.organizationId, false)).toEqual({ available: 30, held: 30, openJobs: 1 });
  });

  it('concurrent admissions never exceed the limit of open jobs', async () => {
    const many = await createCustomer(orm, { test: 100_000 });
    const own = { organizationId: many.organizationId, apiKeyId: many.keyIds.test, openJobsLimit: 7 };
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => attempt(own)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(await countRows(orm, 'jobs', many.organizationId)).toBe(7);
  });

  it('concurrent admissions with one key create one job, and the others replay its response', async () => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => attempt({ idempotencyKey: 'one-and-only' })));
    expect(outcomes.filter((replay) => replay === null)).toHaveLength(1);
    const replays = outcomes.flatMap((replay) => (replay ? [replay.body] : []));
    expect(replays).toHaveLength(49);
    expect(new Set(replays).size).toBe(1);
    expect(await countRows(orm, 'jobs', customer.organizationId)).toBe(1);
  });

  it('concurrent admissions with one key and two payloads create one job and refuse the other payload', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        attempt({ idempotencyKey: 'two-payloads', parameters: { n: index % 2 } }),
      ),
    );
    const isAdmitted = (outcome: (typeof outcomes)[number]) => outcome.status === 'fulfilled' && outcome.value === null;
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(outcomes.filter(isAdmitted)).toHaveLength(1);
    expect(refusals).toHaveLength(20);
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'idempotency_key_reuse' });
    expect(await countRows(orm, 'jobs', customer.organizationId)).toBe(1);
  });

  it('concurrent admissions with one key and too few credits are all refused and leave the key free', async () => {
    const refused = Array.from({ length: 20 }, () => attempt({ idempotencyKey: 'still-free', reservedCredits: 500 }));
    for (const outcome of await Promise.allSettled(refused)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'insufficient_credits' } });
    }
    expect(await attempt({ idempotencyKey: 'still-free', reservedCredits: 50 })).toBeNull();
  });
});

describe('a claim', () => {
  it('a claim refuses repetitions until the first request stores its response or is considered dead', async () => {
    const changes: JobChanges = { idempotencyKey: 'in-progress', inProgressUntil: new Date(Date.now() + 60_000) };
    await attempt(changes);
    await expect(attempt(changes)).rejects.toMatchObject({ code: 'idempotency_request_in_progress' });
    await query(orm.em.fork(), `update idempotency_claims set in_progress_until = now() where key = 'in-progress'`);
    expect(await attempt(changes)).toMatchObject({ status: 202 });
  });

  it('a claim is taken over by exactly one of many requests once it has expired', async () => {
    await attempt({ idempotencyKey: 'expired-claim' });
    await query(orm.em.fork(), `update idempotency_claims set expires_at = now() where key = 'expired-claim'`);
    const again = () => attempt({ idempotencyKey: 'expired-claim', parameters: { other: true }, reservedCredits: 1 });
    const outcomes = await Promise.all(Array.from({ length: 10 }, again));
    expect(outcomes.filter((replay) => replay === null)).toHaveLength(1);
    expect(await countRows(orm, 'jobs', customer.organizationId)).toBe(2);
  });

  it('a claim is separate for each organisation, mode and route', async () => {
    const idempotencyKey = 'same-everywhere';
    expect(await attempt({ idempotencyKey })).toBeNull();
    expect(await attempt({ idempotencyKey, livemode: true })).toBeNull();
    expect(await attempt({ idempotencyKey, endpoint: 'vin.read' })).toBeNull();
    const other = await createCustomer(orm);
    const own = { organizationId: other.organizationId, apiKeyId: other.keyIds.test };
    expect(await attempt({ idempotencyKey, ...own })).toBeNull();
    expect(await attempt({ idempotencyKey })).toMatchObject({ status: 202 });
  });
});
