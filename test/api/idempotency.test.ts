/** I3: the same key and payload create one job and a byte-identical replay. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURE_VERSION } from '../../src/contracts/model-versions.ts';
import { fingerprint } from '../../src/jobs/idempotency.ts';
import { claimIdempotencyKey } from '../../src/jobs/idempotency-claims-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { MODEL_VERSION } from '../support/backends.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { countRows, finishInference, finishJob, installEndpoints } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { anotherJpeg, jpeg } from '../support/pictures.ts';
import { expectRefusal, expectReplay, type ReadRequest, read, upload } from '../support/requests.ts';

const KEY = 'order-4711';

let api: TestApi;
let customer: Customer;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
  await installEndpoints(api.orm);
});
afterAll(async () => {
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});
beforeEach(async () => {
  customer = await createCustomer(api.orm, { test: 1_000, live: 1_000 });
  key = customer.keys.test;
});

const send = (request: ReadRequest = {}) => read(api, { key, idempotencyKey: KEY, ...request });
const jobCount = () => countRows(api.orm, 'jobs', customer.organizationId);

describe('the same key and payload', () => {
  it('the same key and payload create one job and one hold, and the replay is byte-identical and marked', async () => {
    const first = await send();
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    for (let time = 0; time < 3; time += 1) expectReplay(await send(), first);
    expect(await jobCount()).toBe(1);
    expect(await readAccount(api.orm, customer.organizationId, false)).toEqual({
      available: 980,
      held: 20,
      openJobs: 1,
    });
  });

  it('replays of a request keep its files and none of their own', async () => {
    await send();
    const files = await api.storedFiles();
    await send();
    expect(await api.storedFiles()).toEqual(files);
  });

  it('the same key and payload are a replay whether the image came as multipart or as an upload', async () => {
    const first = await send({ fields: { unit_hint: 'km' } });
    const inputRef = await upload(api, key, jpeg);
    expectReplay(await send({ json: { unit_hint: 'km', input_ref: inputRef, read_warning_lights: true } }), first);
  });

  it('the same key and payload are a replay whatever became of the job meanwhile', async () => {
    const first = await send();
    await finishJob(api.orm, first.job.id);
    expectReplay(await send(), first);
    expect(first.job.status).toBe('queued');
  });

  it('the same key and payload are a replay when the credits were spent meanwhile', async () => {
    const poor = await createCustomer(api.orm, { test: 20 });
    const first = await send({ key: poor.keys.test });
    expectReplay(await send({ key: poor.keys.test }), first);
  });
});

describe('a model that was removed meanwhile', () => {
  const PINNED = { 'Model-Version': MODEL_VERSION };
  const live = (request: ReadRequest = {}) => send({ key: customer.keys.live, ...request });
  const uninstall = () => query(api.orm.em.fork(), 'delete from installed_endpoints');
  const replaceModel = () =>
    query(api.orm.em.fork(), `update installed_endpoints set model_version = 'newer@2026-02-01'`);
  afterEach(async () => {
    await uninstall();
    await installEndpoints(api.orm);
  });

  it.each([
    ['none is left', {}, uninstall],
    ['none is left, and one was pinned', PINNED, uninstall],
    ['another build has taken the place of the pinned one', PINNED, replaceModel],
  ])('a stored response is replayed after the models changed: %s', async (_what, headers, change) => {
    const first = await live({ headers });
    await change();
    const files = await api.storedFiles();
    expectReplay(await live({ headers }), first);
    expectReplay(await live({ headers, query: '?wait=true' }), first);
    expect(await jobCount()).toBe(1);
    expect(await api.storedFiles()).toEqual(files);
  });

  it('a new request without a model is refused, and its key stays free', async () => {
    await uninstall();
    const refused = await expectRefusal(api, live, { code: 'endpoint_unavailable' });
    expect(refused.headers.get('Retry-After')).toBe('60');
    await installEndpoints(api.orm);
    await expectRefusal(api, () => live({ headers: { 'Model-Version': 'newer@2026-02-01' } }), {
      code: 'model_version_not_installed',
      param: 'Model-Version',
    });
    expect((await live()).headers.get('Idempotent-Replayed')).toBeNull();
  });

  it('a key with another payload is refused after the model was removed, and an expired key is new', async () => {
    await live();
    await uninstall();
    await expectRefusal(api, () => live({ image: anotherJpeg() }), { code: 'idempotency_key_reuse' });
    await query(api.orm.em.fork(), 'update idempotency_claims set expires_at = now()');
    await expectRefusal(api, live, { code: 'endpoint_unavailable' });
  });

  it('a request still in progress is reported as such to its repetition after the model was removed', async () => {
    await live();
    await query(api.orm.em.fork(), `update idempotency_claims set in_progress_until = now() + interval '1 minute'`);
    await uninstall();
    await expectRefusal(api, live, { code: 'idempotency_request_in_progress' });
  });

  it('a dry run reports the current state after the model was removed, not a stored response', async () => {
    await live();
    await uninstall();
    await expectRefusal(api, () => live({ query: '?dry_run=true' }), { code: 'endpoint_unavailable' });
  });
});

describe('the same key and another payload', () => {
  it.each([
    { what: 'another picture', change: { image: anotherJpeg() } },
    { what: 'another parameter', change: { fields: { unit_hint: 'mi' } } },
    { what: 'another scenario', change: { scenario: 'empty_result' } },
    { what: 'another build', change: { headers: { 'Model-Version': FIXTURE_VERSION } } },
  ])('a repeated key with $what is refused', async ({ change }) => {
    const first = await send();
    const refused = await expectRefusal(api, () => send(change), { code: 'idempotency_key_reuse' });
    expect(refused.status).toBe(409);
    expect(refused.headers.get('Idempotent-Replayed')).toBeNull();
    expectReplay(await send(), first);
  });
});

describe('independent uses of the same key', () => {
  it('the same key is independent in another mode', async () => {
    const jobs = [await send(), await send({ key: customer.keys.live })];
    expect(jobs.map(({ status }) => status)).toEqual([202, 202]);
    expect(jobs[0]?.job.id).not.toBe(jobs[1]?.job.id);
  });

  it('the same key is independent for another organisation', async () => {
    const other = await createCustomer(api.orm);
    const [mine, theirs] = [await send(), await send({ key: other.keys.test })];
    expect(theirs.headers.get('Idempotent-Replayed')).toBeNull();
    expect(theirs.job.id).not.toBe(mine.job.id);
  });

  it('the same key is independent on another route', async () => {
    await send();
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(jpeg)]), 'a.jpg');
    const uploaded = await api.call('/v1/uploads', { method: 'POST', key, body, headers: { 'Idempotency-Key': KEY } });
    expect(uploaded.status).toBe(201);
    expect(uploaded.headers.get('Idempotent-Replayed')).toBeNull();
  });

  it('the same key is independent after 24 hours', async () => {
    const first = await send();
    await query(api.orm.em.fork(), 'update idempotency_claims set expires_at = now() where organization_id = $1', [
      customer.organizationId,
    ]);
    const second = await send({ fields: { unit_hint: 'mi' } });
    expect(second.status).toBe(202);
    expect(second.job.id).not.toBe(first.job.id);
  });
});

describe('a refused request', () => {
  it('a refused request leaves its key free for the corrected request', async () => {
    await expectRefusal(api, () => send({ fields: { unit: 'km' } }), { code: 'parameter_unknown', param: 'unit' });
    await expectRefusal(api, () => send({ image: Buffer.from('text') }), {
      code: 'unsupported_media_type',
      param: 'image',
    });
    expect((await send()).status).toBe(202);
  });
});

describe('cancellations with a key', () => {
  const cancel = (id: string, secret = key) =>
    api.call(`/v1/jobs/${id}/cancel`, { method: 'POST', key: secret, headers: { 'Idempotency-Key': 'cancel-4711' } });
  const submit = async () => (await read(api, { key })).job.id;

  it('a cancellation with a key takes effect once and returns the same response every time', async () => {
    const id = await submit();
    const first = await cancel(id);
    expect(first.job).toMatchObject({ id, status: 'canceled' });
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    for (let time = 0; time < 2; time += 1) expectReplay(await cancel(id), first);
    expect(await readAccount(api.orm, customer.organizationId, false)).toMatchObject({ available: 1_000, held: 0 });
  });

  it('the key of a cancellation is refused for another job, which continues', async () => {
    const [id, other] = [await submit(), await submit()];
    await cancel(id);
    await expectRefusal(api, () => cancel(other), { code: 'idempotency_key_reuse' });
    expect((await api.call(`/v1/jobs/${other}`, { key })).job.status).toBe('queued');
  });

  it('a cancellation does not share its key with the request that created the job', async () => {
    const { job } = await send({ idempotencyKey: 'cancel-4711' });
    expect((await cancel(job.id)).headers.get('Idempotent-Replayed')).toBeNull();
  });

  it('a cancellation with a key takes effect once for concurrent requests', async () => {
    const id = await submit();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(id)));
    const canceled = answers.filter(({ status }) => status === 200);
    expect(new Set(canceled.map(({ text }) => text)).size).toBe(1);
    const others = answers.filter(({ status }) => status !== 200).map(({ error }) => error.code);
    expect(others).toEqual(others.map(() => 'idempotency_request_in_progress'));
    expect(canceled.filter(({ headers }) => !headers.has('Idempotent-Replayed'))).toHaveLength(1);
  });

  it('a cancellation whose request died is taken over by the next request with its key', async () => {
    const id = await submit();
    const claim = { organizationId: customer.organizationId, livemode: false, route: 'jobs/cancel' };
    const died = new Date(Date.now() - 1);
    const unanswered = { status: 0, body: '' };
    const em = api.orm.em.fork();
    await claimIdempotencyKey(em, { ...claim, key: 'cancel-4711' }, fingerprint({ id }), unanswered, died);
    const first = await cancel(id);
    expect(first.job).toMatchObject({ id, status: 'canceled' });
    expectReplay(await cancel(id), first);
  });

  it('a cancellation leaves its key free when the job cannot be canceled', async () => {
    const [running, queued] = [await submit(), await submit()];
    await finishInference(api.orm, running);
    await expectRefusal(api, () => cancel(running), { code: 'job_not_cancelable' });
    expect((await cancel(queued)).job).toMatchObject({ id: queued, status: 'canceled' });
  });

  it('a cancellation with an invalid key is refused', async () => {
    const id = await submit();
    const short = () =>
      api.call(`/v1/jobs/${id}/cancel`, { method: 'POST', key, headers: { 'Idempotency-Key': 'short' } });
    await expectRefusal(api, short, { code: 'idempotency_key_invalid', param: 'Idempotency-Key' });
  });
});

describe('concurrent requests', () => {
  it('a hundred concurrent requests with one key create one job and one hold and get equal responses', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => send({ key: customer.keys.live })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === 'true')).toHaveLength(99);
    expect(await jobCount()).toBe(1);
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual({
      available: 980,
      held: 20,
      openJobs: 1,
    });
    expect((await api.storedFiles()).filter((path) => path.includes(`${answers[0]?.job.id}`))).toHaveLength(1);
  });
});
