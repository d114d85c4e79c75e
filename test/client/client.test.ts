/** The client against the real API, the real Temporal and the fixture backend. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ApiError,
  type ClientOptions,
  ConnectionError,
  type Job,
  JobFailedError,
  ManagementClient,
  type Upload,
  VehicleInferenceClient,
  WaitTimeoutError,
} from '../../src/client/index.ts';
import { FIXTURE_VERSION } from '../../src/contracts/model-versions.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { readSourceFiles } from '../architecture/source-files.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { createQuickFixtureBackend } from '../support/backends.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { countRows } from '../support/jobs.ts';
import { jpeg } from '../support/pictures.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

let api: TestApi;
let workers: TestWorkers;
let customer: Customer;
let client: VehicleInferenceClient;

const picture = new Uint8Array(jpeg);

beforeAll(async () => {
  api = await startTestApi();
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, createQuickFixtureBackend()),
  ]);
  customer = await createCustomer(api.orm);
  client = connect();
});

afterAll(async () => {
  await workers.stop();
  await api.close();
});

/** Signed links use the public address. */
const local: typeof fetch = (url, init) =>
  fetch(typeof url === 'string' ? url.replace(PUBLIC_BASE_URL, api.url) : url, init);

function connect(options: Partial<ClientOptions> = {}) {
  return new VehicleInferenceClient({ apiKey: customer.keys.test, baseUrl: api.url, fetch: local, ...options });
}

describe('run', () => {
  it('run submits an image, waits, and returns the typed result', async () => {
    const job = await client.run('dashboard.read', { image: picture, unit_hint: 'km' });
    expect(job.status).toBe('succeeded');
    expect(job.result.odometer?.unit).toBe('km');
  });

  it('run accepts uploads in place of files', async () => {
    const upload = await client.upload(new Blob([picture], { type: 'image/jpeg' }), { filename: 'dashboard.jpg' });
    expect(upload.status).toBe('ready');
    const job = await client.run('dashboard.read', { input_ref: upload.id });
    expect(job.status).toBe('succeeded');
  });

  it('run throws the job that failed', async () => {
    const failed = client.run('dashboard.read', { image: picture }, { testScenario: 'model_error' });
    await expect(failed).rejects.toMatchObject({ name: 'JobFailedError', job: { status: 'failed' } });
    await expect(failed).rejects.toBeInstanceOf(JobFailedError);
  });

  it('run throws a refusal with its code and field, without retrying', async () => {
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

  it('run stops waiting at its timeout and throws with the current job', async () => {
    const waiting = client.run(
      'dashboard.read',
      { image: picture },
      { testScenario: 'slow', waitSeconds: 0, timeoutMs: 0 },
    );
    await expect(waiting).rejects.toBeInstanceOf(WaitTimeoutError);
  });
});

describe('requests whose response was lost', () => {
  it('a request whose response broke off halfway is retried', async () => {
    const other = await createCustomer(api.orm);
    let breaks = 1;
    const unlucky = connect({
      apiKey: other.keys.test,
      sleep: async () => {},
      fetch: async (...request) => {
        const response = await local(...request);
        if (breaks === 0) return response;
        breaks -= 1;
        return new Response(brokenBody('{"id":'), response);
      },
    });
    await unlucky.submit('dashboard.read', { image: picture });
    expect(breaks).toBe(0);
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(1);
  });

  it('a request without a response for longer than the attempt timeout is retried', async () => {
    let attempts = 0;
    const impatient = connect({
      attemptTimeoutMs: 1,
      attempts: 2,
      sleep: async () => {},
      fetch: (_url, init) => {
        attempts += 1;
        return new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
        });
      },
    });
    await expect(impatient.getJob('job_1')).rejects.toBeInstanceOf(ConnectionError);
    expect(attempts).toBe(2);
  });

  it('a request whose response was lost is retried with the same Idempotency-Key, so that one job is created', async () => {
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

  it.each([
    ['7', 7_000],
    ['86400', 60_000],
  ])('a request is retried after Retry-After: %s, a minute at most', async (hint, expected) => {
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
        return Response.json({ error }, { status: 429, headers: { 'Retry-After': hint } });
      },
    });
    await patient.submit('dashboard.read', { image: picture });
    expect(pauses).toEqual([expected]);
  });

  it('a request without a response fails after the configured attempts', async () => {
    const unlucky = connect({
      attempts: 2,
      sleep: async () => {},
      fetch: () => Promise.reject(new TypeError('refused')),
    });
    await expect(unlucky.getJob('job_1')).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});

describe('lists', () => {
  it('a list goes through every page', async () => {
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

describe('uploads', () => {
  const large = new Uint8Array(9 * 1024 * 1024);
  large.set(picture);
  const file = new Blob([large], { type: 'image/jpeg' });
  const filename = 'large.jpg';

  it('a small file is sent in one request', async () => {
    const { requests, fetch: counting } = countingFetch();
    await connect({ fetch: counting }).upload(new Blob([picture]), { filename: 'small.jpg' });
    expect(requests).toEqual(['POST /v1/uploads']);
  });

  it('a large file is sent in parts with progress', async () => {
    const received: number[] = [];
    const onProgress = (upload: Upload) => void received.push(upload.received_bytes);
    const upload = await client.upload(file, { filename, onProgress });
    expect(upload).toMatchObject({ status: 'ready', bytes: large.byteLength });
    expect(received).toEqual([0, 8 * 1024 * 1024, large.byteLength]);
  });

  it('a byte array is sent like a Blob, in one request or, with its type, in parts', async () => {
    expect(await client.upload(picture, { filename: 'small.jpg' })).toMatchObject({ status: 'ready' });
    const upload = await client.upload(large, { filename, mimeType: 'image/jpeg' });
    expect(upload).toMatchObject({ status: 'ready', mime_type: 'image/jpeg', bytes: large.byteLength });
  });

  it('a file is sent without options, under its own name if it has one', async () => {
    expect(await client.upload(new Blob([picture]))).toMatchObject({ status: 'ready', filename: 'file' });
    expect(await client.upload(file)).toMatchObject({ status: 'ready', filename: 'file' });
    const named = new File([picture], 'dashboard.jpg', { type: 'image/jpeg' });
    expect(await client.upload(named)).toMatchObject({ status: 'ready', filename: 'dashboard.jpg' });
  });

  it('an interrupted upload resumes where it stopped', async () => {
    let begun: Upload | undefined;
    const broken = connect({
      attempts: 1,
      fetch: (url, init) => {
        const range = new Headers(init?.headers).get('Content-Range') ?? '';
        return /^bytes [1-9]/.test(range) ? Promise.reject(new TypeError('broken')) : local(url, init);
      },
    });
    const remember = (upload: Upload) => {
      begun = upload;
    };
    await expect(broken.upload(file, { filename, onProgress: remember })).rejects.toBeInstanceOf(ConnectionError);
    const { requests, fetch: counting } = countingFetch();
    const resumed = await connect({ fetch: counting }).upload(file, { filename, resume: begun?.id as string });
    expect(resumed).toMatchObject({ id: begun?.id, status: 'ready', bytes: large.byteLength });
    expect(requests).toEqual([`GET /v1/uploads/${begun?.id}`, `PUT /v1/uploads/${begun?.id}/content`]);
  });

  it('an upload whose last response was lost is ready all the same', async () => {
    let losses = 1;
    const unlucky = connect({
      sleep: async () => {},
      fetch: async (url, init) => {
        const response = await local(url, init);
        const isLast = new Headers(init?.headers).get('Content-Range')?.startsWith('bytes 8388608-') ?? false;
        if (!isLast || losses === 0) return response;
        losses -= 1;
        throw new TypeError('the connection broke');
      },
    });
    expect(await unlucky.upload(file, { filename })).toMatchObject({ status: 'ready' });
    expect(losses).toBe(0);
  });
});

describe('following a job', () => {
  it('following a job yields every change until the job ends', async () => {
    const { id } = await client.submit('dashboard.read', { image: picture });
    const statuses: string[] = [];
    let last: Job<'dashboard.read'> | undefined;
    for await (last of client.followJob<'dashboard.read'>(id)) statuses.push(last.status);
    expect(statuses.at(-1)).toBe('succeeded');
    expect(new Set(statuses).size).toBe(statuses.length);
    expect(last?.result?.odometer?.unit).toBe('km');
  });

  it('following a job reconnects after a broken connection', async () => {
    const { id } = await client.submit('dashboard.read', { image: picture });
    let breaks = 2;
    const unlucky = connect({
      sleep: async () => {},
      fetch: async (url, init) => {
        if (breaks === 0) return local(url, init);
        breaks -= 1;
        return new Response(brokenBody(': still he'), { headers: { 'Content-Type': 'text/event-stream' } });
      },
    });
    const statuses: string[] = [];
    for await (const job of unlucky.followJob(id)) statuses.push(job.status);
    expect(statuses.at(-1)).toBe('succeeded');
    expect(breaks).toBe(0);
  });

  it('following a job gives up when every connection breaks', async () => {
    const { id } = await client.submit('dashboard.read', { image: picture });
    const unlucky = connect({
      attempts: 2,
      sleep: async () => {},
      fetch: async () => new Response(brokenBody(''), { headers: { 'Content-Type': 'text/event-stream' } }),
    });
    await expect(unlucky.followJob(id).next()).rejects.toBeInstanceOf(ConnectionError);
  });

  it('following a job throws for an unknown job', async () => {
    await expect(client.followJob('job_1CoTsd5kMvWzrNbUoFgrYo').next()).rejects.toMatchObject({
      code: 'resource_not_found',
    });
  });
});

describe('other operations', () => {
  it('the client prices a request without running it', async () => {
    const answer = await client.dryRun('dashboard.read', { image: picture });
    expect(answer).toMatchObject({ object: 'dry_run', credits: { reserved: 20 }, sufficient: true });
    await expect(client.dryRun('dashboard.read', {})).rejects.toMatchObject({ code: 'parameter_missing' });
  });

  it('the client lists the endpoints', async () => {
    const listed = await client.listEndpoints();
    expect(listed.map(({ endpoint }) => endpoint)).toEqual(endpoints.map(({ slug }) => slug));
  });

  it('the client lists and reads events', async () => {
    const job = await client.run('dashboard.read', { image: picture });
    for await (const event of client.listEvents({ type: 'job.succeeded' })) {
      if (event.data.object.id !== job.id) continue;
      expect(await client.getEvent(event.id)).toEqual(event);
      return;
    }
    throw new Error('the event of the job is not listed');
  });

  it('the client cancels a queued job', async () => {
    const idle = await startTestApi();
    const { keys } = await createCustomer(idle.orm);
    const own = new VehicleInferenceClient({ apiKey: keys.test, baseUrl: idle.url });
    const { id } = await own.submit('dashboard.read', { image: picture });
    expect(await own.cancelJob(id)).toMatchObject({ id, status: 'canceled' });
    await idle.close();
  });
});

describe('a client', () => {
  it.each(['', 'localhost:8080', '/v1'])('a client is not made for the address "%s"', (baseUrl) => {
    expect(() => connect({ baseUrl })).toThrow('is not an address such as https://');
    expect(() => new ManagementClient({ token: 'token', baseUrl })).toThrow('is not an address such as https://');
  });

  it.each(['chk_test_…', 'chk_test_a\nb'])(
    'a client is not made with the key %j, which no request can carry, and the error does not show the key',
    (apiKey) => {
      expect(() => connect({ apiKey })).toThrow(/^the API key or token has characters that none has$/);
    },
  );

  it('a client takes a key with the line break of its file', async () => {
    const { id } = await connect({ apiKey: `${customer.keys.test}\n` }).getKeyIdentity();
    expect(id).toMatch(/^key_/);
  });
});

it('a pinned build runs, and one that is not installed is refused', async () => {
  const job = await client.run('dashboard.read', { image: picture }, { modelVersion: FIXTURE_VERSION });
  expect(job.model_version).toBe(FIXTURE_VERSION);
  const refused = client.submit('dashboard.read', { image: picture }, { modelVersion: 'other@2026-01-01' });
  await expect(refused).rejects.toMatchObject({ code: 'model_version_not_installed', param: 'Model-Version' });
});

describe('an aborted call', () => {
  it('an aborted call ends the pause between two attempts at once', async () => {
    const stop = new AbortController();
    const refused = connect({
      fetch: () => {
        setTimeout(() => stop.abort(), 0);
        return Promise.reject(new TypeError('refused'));
      },
    });
    await expect(refused.getJob('job_1', stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('the client imports only itself and types', () => {
  const imported = readSourceFiles('src/client/*.ts').flatMap(({ imports }) => imports);
  const code = imported.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target);
  expect(code.length).toBeGreaterThan(0);
  expect(code.filter((target) => !target.startsWith('src/client/'))).toEqual([]);
});

function countingFetch() {
  const requests: string[] = [];
  const counting: typeof fetch = (url, init) => {
    requests.push(`${init?.method} ${new URL(url instanceof Request ? url.url : url).pathname}`);
    return local(url, init);
  };
  return { requests, fetch: counting };
}

/** A body truncated after some text. */
function brokenBody(text: string): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(new TypeError('terminated'));
      else controller.enqueue(new TextEncoder().encode(text));
      isSent = true;
    },
  });
}
