/** `wait=true` holds the connection until the job has settled. Jobs run through the real Temporal. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/platform/service-error.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createSteeredBackend, type SteeredBackend } from '../support/backends.ts';
import { createCustomer } from '../support/customers.ts';
import { readJob, SUCCESS } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { expectRefusal, expectReplay, type ReadRequest, read } from '../support/requests.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

let api: TestApi;
let key: string;
let workers: TestWorkers;
const backend: SteeredBackend = createSteeredBackend();

beforeAll(async () => {
  api = await startTestApi();
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
});
afterAll(async () => {
  await workers.stop();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});
beforeEach(async () => {
  key = (await createCustomer(api.orm)).keys.test;
});

const wait = (request: ReadRequest = {}) => read(api, { key, query: '?wait=true', ...request });
/** The ceiling of the wait, short enough for tests. */
const waitBriefly = () => read(api, { key, headers: { Prefer: 'wait=1' } });
const settled = (jobId: string) => api.temporal.client.workflow.getHandle(jobId).result();

/** Waits ever longer, until a worker has picked the job up meanwhile. */
async function pickedUpWhileWaiting() {
  for (let seconds = 1; ; seconds *= 2) {
    const idempotencyKey = `picked-up-within-${seconds}`;
    const [running, answer] = await Promise.all([
      backend.next(),
      read(api, { key, idempotencyKey, headers: { Prefer: `wait=${seconds}` } }),
    ]);
    if (answer.job.status === 'processing') return { running, answer, idempotencyKey };
    expect([seconds < 60, answer.job.status]).toEqual([true, 'queued']);
    running.finish();
  }
}

describe('a request that waits', () => {
  it('a waiting request gets 200 with the succeeded job, as it reads afterwards', async () => {
    const answer = wait();
    (await backend.next()).finish();
    const { status, job, text } = await answer;
    expect(status).toBe(200);
    expect(job).toMatchObject({
      status: 'succeeded',
      result: SUCCESS.result,
      model_version: 'model-of-tests@2026-01-01',
      credits: { reserved: 20, charged: 20 },
    });
    expect((await api.call(`/v1/jobs/${job.id}`, { key })).text).toBe(text);
  });

  it('a waiting request gets 200 with the failed job, because it has settled', async () => {
    const answer = wait();
    (await backend.next()).fail(new ServiceError('input_unreadable', 'The picture is truncated.'));
    const { status, job } = await answer;
    expect(status).toBe(200);
    expect(job).toMatchObject({
      status: 'failed',
      result: null,
      credits: { reserved: 20, charged: 0 },
      error: { type: 'processing_error', code: 'input_unreadable', message: 'The picture is truncated.' },
    });
  });

  it('a waiting request gets 202 when the ceiling passes, and the job continues', async () => {
    const answer = await waitBriefly();
    expect(answer.status).toBe(202);
    expect(['queued', 'processing']).toContain(answer.job.status);
    expect(answer.job.result).toBeNull();
    expect(answer.headers.get('Preference-Applied')).toBe('wait=1');
    (await backend.next()).finish();
    await settled(answer.job.id);
    expect(await readJob(api.orm, answer.job.id)).toMatchObject({ status: 'succeeded' });
  });

  it('a waiting request gets 202 with the job as it is at the ceiling, and so does a replay', async () => {
    const { running, answer, idempotencyKey } = await pickedUpWhileWaiting();
    const { status, job, text } = answer;
    expect(status).toBe(202);
    expect(job).toMatchObject({ started_at: expect.any(Number), model_version: 'model-of-tests@2026-01-01' });
    expect((await api.call(`/v1/jobs/${job.id}`, { key })).text).toBe(text);
    running.finish();
    await settled(job.id);
    expectReplay(await wait({ idempotencyKey }), answer);
  });

  it('a waiting request that disconnects leaves its job running to the end', async () => {
    const hangUp = new AbortController();
    const requestId = 'the-client-that-hung-up';
    const answer = wait({ signal: hangUp.signal, headers: { 'Request-Id': requestId } });
    const running = await backend.next();
    hangUp.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    await api.log.waitFor((line) => line.requestId === requestId);
    running.finish();
    await settled(running.request.jobId);
    expect(await readJob(api.orm, running.request.jobId)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
  });

  it('a waiting request gets its own job among many that end in another order', async () => {
    const answers = Array.from({ length: 8 }, () => wait());
    const running = [];
    for (const _ of answers) running.push(await backend.next());
    const levels = new Map<string, number>();
    for (const [level, inference] of running.reverse().entries()) {
      levels.set(inference.request.jobId, level);
      inference.finish({ ...SUCCESS, result: { ...Object(SUCCESS.result), fuel_level_percent: level } });
    }
    for (const { status, job } of await Promise.all(answers)) {
      expect(status).toBe(200);
      expect(job.result).toMatchObject({ fuel_level_percent: levels.get(job.id) });
    }
  });
});

describe('a repeated request', () => {
  it('a repeated request learns that the first is in progress, then gets the identical response', async () => {
    const again = () => wait({ idempotencyKey: 'repeated-while-waiting' });
    const first = again();
    const running = await backend.next();
    const early = await expectRefusal(api, again, { code: 'idempotency_request_in_progress' });
    expect(early.status).toBe(409);
    expect(early.headers.get('Retry-After')).toBe('1');
    running.finish();
    const answered = await first;
    expect(answered.status).toBe(200);
    expectReplay(await again(), answered);
    expectReplay(await read(api, { key, idempotencyKey: 'repeated-while-waiting' }), answered);
  });

  it('a repeated request gets the response sent at the ceiling, although the job has ended since', async () => {
    const idempotencyKey = 'repeated-after-ceiling';
    const first = await read(api, { key, idempotencyKey, headers: { Prefer: 'wait=0' } });
    expect(first.status).toBe(202);
    (await backend.next()).finish();
    await settled(first.job.id);
    expectReplay(await wait({ idempotencyKey }), first);
  });
});

describe('Prefer', () => {
  it.each(['respond-async', 'wait=abc', 'wait=-1', 'wait=1.5', 'handling=lenient; wait=1', 'no-wait=1'])(
    'Prefer: %s does not make a request wait',
    async (preference) => {
      const answer = await read(api, { key, headers: { Prefer: preference } });
      expect(answer.status).toBe(202);
      expect(answer.headers.get('Preference-Applied')).toBeNull();
      (await backend.next()).finish();
    },
  );

  it('Prefer yields to the query parameter', async () => {
    const answer = await read(api, { key, query: '?wait=false', headers: { Prefer: 'wait=20' } });
    expect(answer.status).toBe(202);
    (await backend.next()).finish();
  });
});
