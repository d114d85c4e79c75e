/** The client against the real service: real API, real Temporal, fixture backend. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError, JobFailedError, VehicleInferenceClient, WaitTimeoutError } from '../../src/client/index.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { createQuickFixtureBackend } from '../support/backends.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { countRows } from '../support/jobs.ts';
import { jpeg } from '../support/pictures.ts';
import { inferenceWorker, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

let api: TestApi;
let workers: TestWorkers;
let customer: Customer;
let client: VehicleInferenceClient;

const picture = new Uint8Array(jpeg);

beforeAll(async () => {
  api = await startTestApi();
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    inferenceWorker(api.orm, createQuickFixtureBackend()),
  ]);
  customer = await createCustomer(api.orm);
  client = connect();
});

afterAll(async () => {
  await workers.stop();
  await api.close();
});

/** Sends through the test API, which checks every answer against its documentation. */
function connect(options: Partial<ConstructorParameters<typeof VehicleInferenceClient>[0]> = {}) {
  // Signed links name the address that customers use.
  const local: typeof fetch = (url, init) =>
    fetch(typeof url === 'string' ? url.replace(PUBLIC_BASE_URL, api.url) : url, init);
  return new VehicleInferenceClient({ apiKey: customer.keys.test, baseUrl: api.url, fetch: local, ...options });
}

describe('run', () => {
  it('submits a picture, waits, and answers the typed result', async () => {
    const job = await client.run('dashboard.read', { image: picture, unit_hint: 'km' });
    expect(job.status).toBe('succeeded');
    expect(job.result.odometer?.unit).toBe('km');
  });

  it('takes uploads in place of files', async () => {
    const upload = await client.upload(new Blob([picture], { type: 'image/jpeg' }), { filename: 'dashboard.jpg' });
    expect(upload.status).toBe('ready');
    const job = await client.run('dashboard.read', { input_ref: upload.id });
    expect(job.status).toBe('succeeded');
  });

  it('throws the job that failed', async () => {
    const failed = client.run('dashboard.read', { image: picture }, { testScenario: 'model_error' });
    await expect(failed).rejects.toMatchObject({ name: 'JobFailedError', job: { status: 'failed' } });
    await expect(failed).rejects.toBeInstanceOf(JobFailedError);
  });

  it('throws a refusal with its code and field, without repeating the request', async () => {
    let requests = 0;
    const counting = connect({
      fetch: (...request) => {
        requests += 1;
        return fetch(...request);
      },
    });
    const refused = counting.run('dashboard.read', { image: picture, unit_hint: 'miles' as 'mi' });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'parameter_invalid', param: 'unit_hint' });
    await expect(refused).rejects.toBeInstanceOf(ApiError);
    expect(requests).toBe(1);
  });

  it('gives up waiting when it was told to, with the job as it is', async () => {
    const waiting = client.run(
      'dashboard.read',
      { image: picture },
      { testScenario: 'slow', waitSeconds: 0, timeoutMs: 0 },
    );
    await expect(waiting).rejects.toBeInstanceOf(WaitTimeoutError);
  });
});

describe('a request whose answer was lost', () => {
  it('is repeated with the same Idempotency-Key, so that one job is made', async () => {
    const other = await createCustomer(api.orm);
    const pauses: number[] = [];
    let losses = 2;
    const unlucky = connect({
      apiKey: other.keys.test,
      sleep: async (durationMs) => void pauses.push(durationMs),
      fetch: async (...request) => {
        const response = await fetch(...request);
        if (losses === 0) return response;
        losses -= 1;
        throw new TypeError('the connection broke');
      },
    });
    const job = await unlucky.submit('dashboard.read', { image: picture });
    expect(job.status).toBe('queued');
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(1);
    expect(pauses).toHaveLength(2);
  });

  it('is repeated after the pause that Retry-After asks for', async () => {
    const pauses: number[] = [];
    let refusals = 1;
    const patient = connect({
      sleep: async (durationMs) => void pauses.push(durationMs),
      fetch: async (...request) => {
        if (refusals === 0) return fetch(...request);
        refusals -= 1;
        const error = {
          code: 'rate_limit_exceeded',
          type: 'rate_limit_error',
          message: 'wait',
          doc_url: '',
          request_id: '',
        };
        return Response.json({ error }, { status: 429, headers: { 'Retry-After': '7' } });
      },
    });
    await patient.submit('dashboard.read', { image: picture });
    expect(pauses).toEqual([7_000]);
  });

  it('is given up after the attempts it was given', async () => {
    const unlucky = connect({
      attempts: 2,
      sleep: async () => {},
      fetch: () => Promise.reject(new TypeError('refused')),
    });
    await expect(unlucky.getJob('job_1')).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});

describe('lists', () => {
  it('go through every page', async () => {
    const other = await createCustomer(api.orm);
    const own = connect({ apiKey: other.keys.test });
    const submitted: string[] = [];
    for (let count = 0; count < 3; count += 1)
      submitted.unshift((await own.submit('dashboard.read', { image: picture })).id);
    const listed: string[] = [];
    for await (const job of own.listJobs({ limit: 2 })) listed.push(job.id);
    expect(listed).toEqual(submitted);
  });
});

it('a large file goes up in parts', async () => {
  const large = new Uint8Array(9 * 1024 * 1024);
  large.set(picture);
  const upload = await client.upload(new Blob([large], { type: 'image/jpeg' }), { filename: 'large.jpg' });
  expect(upload).toMatchObject({ status: 'ready', bytes: large.byteLength });
});
