/** Jobs that another cluster runs, from the request to the charge: repeated, late or foreign callbacks are harmless. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDispatchActivities } from '../../src/activities/dispatch-activities.ts';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { endpoints as served } from '../../src/endpoints/list.ts';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { createDispatcher, type Dispatcher } from '../../src/inference/remote/dispatcher.ts';
import { withRemoteEndpoints } from '../../src/inference/remote/with-remote-endpoints.ts';
import { createHttpClient } from '../../src/inference/runtime/kserve/http-exchange.ts';
import { createDispatchTokens } from '../../src/jobs/dispatch-tokens.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import type { RemoteEndpoint } from '../../src/platform/config/remote-servers.ts';
import { query } from '../../src/platform/database/orm.ts';
import { createSignedUrls } from '../../src/platform/signed-urls.ts';
import { box } from '../artefacts/inspection/boxes.ts';
import { exifOf, exifSegment, jpegSegment, withJpegSegments } from '../inference/support/crafted-files.ts';
import { SIGNING_KEY, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { readJob, SUCCESS, transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { jpeg } from '../support/pictures.ts';
import { useProcesses } from '../support/processes.ts';
import {
  callBack,
  type ReceivedDispatch,
  type RecordingCluster,
  startRecordingCluster,
} from '../support/recording-cluster.ts';
import { filePart, read } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const CLUSTER_KEY = 'key of the cluster';
const headers = { Authorization: `Bearer ${CLUSTER_KEY}` };
const { result: RESULT } = SUCCESS;

const processes = useProcesses();
const http = createHttpClient();
const tokens = createDispatchTokens(SIGNING_KEY);
const film = readFileSync(new URL('../../src/endpoints/render.video/fixtures/walk-around-1-1.mp4', import.meta.url));
/** What the test's clusters use for reading and rendering: not to be lost while a machine is busy. */
const PATIENT_MS = 60_000;

/** One of them has little time for an attempt. */
const endpoints = served.map((endpoint) =>
  endpoint.slug === 'vin.read' ? { ...endpoint, inferenceTimeoutMs: 3_000 } : endpoint,
);

let api: TestApi;
let customer: Customer;
let cluster: RecordingCluster;
let local: Backend;
let remotes: RemoteEndpoint[];
let orchestration: TestWorkers;
let inference: TestWorkers;

/** As `npm run worker:inference` puts it together. */
async function startInference(remoteEndpoints: readonly RemoteEndpoint[]): Promise<TestWorkers> {
  const dispatcher: Dispatcher = createDispatcher({
    remoteEndpoints,
    endpoints,
    http,
    publicBaseUrl: api.url,
    signedUrls: createSignedUrls(api.url, SIGNING_KEY),
    tokens,
    logger: api.log.logger,
  });
  const backend = withRemoteEndpoints(local, dispatcher);
  await announceInstalledEndpoints(api.orm.em.fork(), backend.installedEndpoints(), []);
  const activities = {
    ...createInferenceActivities({ orm: api.orm, backend }),
    ...createDispatchActivities({ orm: api.orm, dispatcher }),
  };
  return startTestWorkers(api.temporal, [
    { taskQueue: TASK_QUEUES.inferenceGpu, activities },
    { taskQueue: TASK_QUEUES.inferenceTest, activities },
  ]);
}

const reading = (heartbeatTimeoutMs: number): RemoteEndpoint => ({
  endpoint: 'dashboard.read',
  modelVersion: 'far-reader@2026-11-01',
  url: cluster.url,
  headers,
  heartbeatTimeoutMs,
});

beforeAll(async () => {
  api = await startTestApi({ endpoints });
  customer = await createCustomer(api.orm);
  cluster = await startRecordingCluster();
  local = await createBackend({
    modelsDirectory: '/nowhere',
    store: api.store,
    writeArtefact: () => Promise.reject(new Error('nothing is made here')),
    children: 1,
    threads: 1,
    logger: api.log.logger,
  });
  const example = await processes.start({
    entry: 'docs/examples/remote-cluster.mjs',
    args: ['0'],
    environment: { CLUSTER_KEY, WORK_SECONDS: '0' },
    ready: { line: (line) => line.startsWith('listening on ') },
  });
  const [, exampleUrl = ''] = /listening on (\S+)/.exec(example.lines.join('\n')) ?? [];
  remotes = [
    reading(PATIENT_MS),
    { ...reading(PATIENT_MS), endpoint: 'vin.read' },
    {
      endpoint: 'render.background',
      modelVersion: 'far-cutter@2026-11-02',
      url: `${exampleUrl}/dispatches`,
      headers,
      heartbeatTimeoutMs: PATIENT_MS,
    },
  ];
  orchestration = await startTestWorkers(api.temporal, [await orchestrationWorker(api.orm)]);
  inference = await startInference(remotes);
});
afterAll(async () => {
  await inference.stop();
  await orchestration.stop();
  await local.close();
  await http.close();
  await cluster.close();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});

async function submit(requestHeaders: Record<string, string> = {}): Promise<string> {
  const { status, job } = await read(api, { key: customer.keys.live, headers: requestHeaders });
  expect(status).toBe(202);
  return job.id;
}

async function dispatched(): Promise<ReceivedDispatch> {
  return cluster.next(await submit());
}

const isOver = async (jobId: string) => !['queued', 'processing'].includes((await readJob(api.orm, jobId)).status);

async function ended(jobId: string, timeoutMs = 30_000) {
  await until(() => isOver(jobId), timeoutMs);
  return readJob(api.orm, jobId);
}

const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; message: string; param?: string } }).error;

const tokensOfWaitingActivity = (jobId: string) =>
  query<{ count: number }>(
    api.orm.em.fork(),
    'select count(*)::integer as count from remote_dispatches where job_id = $1',
    [jobId],
  ).then(([row]) => row?.count);

it('a program that speaks only HTTP runs a whole job and makes a file; the customer gets both and pays once', async () => {
  const body = new FormData();
  // As a phone takes it, with the place. It must not come back in what the example makes.
  const photo = withJpegSegments(jpeg, [exifSegment(exifOf(6))]);
  body.append('image', filePart(photo), 'car.jpg');
  body.append('background_color', '#ffffff');
  const { status, job } = await api.call('/v1/render/background?wait=true', {
    method: 'POST',
    key: customer.keys.live,
    body,
  });
  expect(status).toBe(200);
  expect(job).toMatchObject({
    status: 'succeeded',
    model_version: 'far-cutter@2026-11-02',
    credits: { reserved: 100, charged: 100 },
    result: {
      background_color: '#ffffff',
      composite: { object: 'artefact', media_type: 'image/png', width: 1, height: 1 },
    },
  });
  const { url } = (job.result as { composite: { url: string } }).composite;
  const file = await fetch(url.replace('https://api.example', api.url));
  expect(await sharp(await file.arrayBuffer()).metadata()).toMatchObject({ format: 'png', width: 1, height: 1 });
  expect(await transfersOf(api.orm, job.id)).toEqual([
    ['hold', 100],
    ['capture', 100],
  ]);
});

describe('a dispatch', () => {
  it('a dispatch carries everything the cluster needs, with the configured authorisation and no key of the customer', async () => {
    const { job } = await read(api, { key: customer.keys.live, fields: { unit_hint: 'km' } });
    const dispatch = await cluster.next(job.id);
    expect(dispatch).toMatchObject({
      job_id: job.id,
      attempt: 1,
      endpoint: 'dashboard.read',
      model_version: 'far-reader@2026-11-01',
      parameters: { unit_hint: 'km' },
      heartbeat_seconds: 60,
      inputs: [{ field: 'image', media_type: 'image/jpeg', sha256: createHash('sha256').update(jpeg).digest('hex') }],
    });
    expect(cluster.headers.at(-1)).toMatchObject({ authorization: headers.Authorization });
    expect(JSON.stringify(dispatch)).not.toContain(customer.organizationId);
    const input = await fetch(dispatch.inputs[0]?.url ?? '');
    expect(input.headers.get('content-type')).toBe('image/jpeg');
    expect(Buffer.from(await input.arrayBuffer()).equals(jpeg)).toBe(true);

    expect((await callBack(dispatch, 'completed', { result: RESULT })).status).toBe(200);
    expect(await ended(job.id)).toMatchObject({ status: 'succeeded', result: RESULT, chargedCredits: 20 });
    const late = await fetch(dispatch.inputs[0]?.url ?? '');
    expect(late.status).toBe(410);
  });

  it('a dispatch outlives the worker that sent it', async () => {
    const dispatch = await dispatched();
    await inference.stop();
    expect((await callBack(dispatch, 'started')).status).toBe(200);
    expect((await callBack(dispatch, 'progress', { progress: 0.5 })).status).toBe(200);
    expect((await callBack(dispatch, 'completed', { result: RESULT })).status).toBe(200);
    expect(await ended(dispatch.job_id)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    inference = await startInference(remotes);
  });

  it('a dispatch that the cluster refuses is sent again and then accepted', async () => {
    cluster.status = 307;
    const jobId = await submit();
    const refused = await cluster.next(jobId);
    cluster.status = 202;
    const second = await cluster.next(jobId);
    expect([refused.attempt, second.attempt]).toEqual([1, 2]);
    // The redirect was not followed, and a callback from its target is refused.
    expect((await callBack(refused, 'completed', { result: RESULT })).status).toBe(410);
    expect((await callBack(second, 'completed', { result: RESULT })).status).toBe(200);
    expect(await ended(jobId)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    await until(() => cluster.withdrawn.includes(refused.id));
  });

  it('no dispatch is sent in test mode: fixtures serve the job', async () => {
    const { job } = await read(api, { key: customer.keys.test, query: '?wait=true' });
    expect(job).toMatchObject({ status: 'succeeded', model_version: expect.stringMatching(/^fixture@/) });
    expect(await tokensOfWaitingActivity(job.id)).toBe(0);
  });

  it('a remote job runs on the build that Model-Version pins, and another build is refused', async () => {
    const jobId = await submit({ 'Model-Version': 'far-reader@2026-11-01' });
    await callBack(await cluster.next(jobId), 'completed', { result: RESULT });
    expect(await ended(jobId)).toMatchObject({ modelVersion: 'far-reader@2026-11-01' });
    const refused = await read(api, { key: customer.keys.live, headers: { 'Model-Version': 'other@2026-11-01' } });
    expect(refused.error.code).toBe('model_version_not_installed');
  });
});

describe('a repeated callback', () => {
  it('a repeated callback of completion gets the same response and is charged once', async () => {
    const dispatch = await dispatched();
    const both = await Promise.all([1, 2].map(() => callBack(dispatch, 'completed', { result: RESULT })));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    await ended(dispatch.job_id);
    const again = await callBack(dispatch, 'completed', { result: { ...(RESULT as object), fuel_level_percent: 1 } });
    expect(await again.json()).toEqual({ id: dispatch.id, object: 'dispatch', status: 'completed' });
    expect((await readJob(api.orm, dispatch.job_id)).result).toEqual(RESULT);
    expect(await transfersOf(api.orm, dispatch.job_id)).toEqual([
      ['hold', 20],
      ['capture', 20],
    ]);
  });

  it('a callback of failure after completion is refused and changes nothing', async () => {
    const dispatch = await dispatched();
    await callBack(dispatch, 'completed', { result: RESULT });
    const late = await callBack(dispatch, 'failed', { code: 'input_unreadable', message: 'Too dark.' });
    expect(late.status).toBe(410);
    expect(await errorOf(late)).toMatchObject({ code: 'dispatch_ended' });
    expect(await ended(dispatch.job_id)).toMatchObject({ status: 'succeeded' });
    expect((await callBack(dispatch, 'progress')).status).toBe(410);
  });
});

describe('a failure', () => {
  it('a permanent failure ends the job uncharged with the cluster’s code and message', async () => {
    const dispatch = await dispatched();
    const failure = { code: 'input_unreadable', message: 'The picture is too dark. Send a brighter one.' };
    expect((await callBack(dispatch, 'failed', failure)).status).toBe(200);
    expect((await callBack(dispatch, 'failed', failure)).status).toBe(200);
    const job = await ended(dispatch.job_id);
    expect(job).toMatchObject({ status: 'failed', result: null, error: failure });
    expect(await transfersOf(api.orm, job.id)).toEqual([
      ['hold', 20],
      ['release', 20],
    ]);
  });

  it('a transient failure leads to another attempt until none is left', async () => {
    const jobId = await submit();
    for (const attempt of [1, 2, 3]) {
      const dispatch = await cluster.next(jobId);
      expect(dispatch.attempt).toBe(attempt);
      await callBack(dispatch, 'failed', { code: 'model_unavailable', message: 'A secret of the cluster.' });
      if (attempt > 1) continue;
      expect((await callBack(dispatch, 'completed', { result: RESULT })).status).toBe(410);
    }
    const job = await ended(jobId);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'model_unavailable' }, chargedCredits: 0 });
    expect(JSON.stringify(job.error)).not.toContain('secret');
  });

  it.each([
    { what: 'a result that breaks the schema', result: { ...(RESULT as object), fuel_level_percent: 'half' } },
    { what: 'a result with a file that was not uploaded', result: { object: 'artefact', id: 'art_1111111111' } },
  ])('$what ends the job for good, uncharged, and the cluster gets the reason', async ({ result }) => {
    const dispatch = await dispatched();
    const refused = await callBack(dispatch, 'completed', { result });
    expect(refused.status).toBe(400);
    expect(await errorOf(refused)).toMatchObject({ code: 'parameter_invalid', param: 'result' });
    const job = await ended(dispatch.job_id);
    expect(job).toMatchObject({ status: 'failed', result: null, error: { code: 'model_inference_failed' } });
    expect((await callBack(dispatch, 'completed', { result: RESULT })).status).toBe(410);
    expect(await transfersOf(api.orm, job.id)).toEqual([
      ['hold', 20],
      ['release', 20],
    ]);
  });
});

it('a result may cost less than the held credits, never more', async () => {
  const dispatch = await dispatched();
  const dear = await callBack(dispatch, 'completed', { result: RESULT, credits: 21 });
  expect(await errorOf(dear)).toMatchObject({ code: 'parameter_invalid', param: 'credits' });
  expect((await callBack(dispatch, 'completed', { result: RESULT, credits: 0 })).status).toBe(200);
  const { id } = await ended(dispatch.job_id);
  expect(await transfersOf(api.orm, id)).toEqual([
    ['hold', 20],
    ['release', 20],
  ]);
});

describe('a caller of the callbacks', () => {
  it('a callback without the dispatch’s token is refused, and the job continues', async () => {
    const [dispatch, other] = [await dispatched(), await dispatched()];
    const [expires = '', signature = ''] = dispatch.token.split('.');
    for (const [token, code] of [
      [null, 'missing_token'],
      ['x', 'invalid_token'],
      [other.token, 'invalid_token'],
      [customer.keys.live, 'invalid_token'],
      [`${Number(expires) + 1}.${signature}`, 'invalid_token'],
      [tokens.issue(dispatch.id, new Date(0)), 'token_expired'],
    ] as const) {
      for (const name of ['started', 'progress', 'artefacts', 'completed', 'failed'] as const) {
        const refused = await callBack(dispatch, name, { result: RESULT }, { token });
        expect(refused.status).toBe(401);
        expect((await errorOf(refused)).code).toBe(code);
      }
    }
    expect(await readJob(api.orm, dispatch.job_id)).toMatchObject({ status: 'processing' });
    for (const each of [dispatch, other]) await callBack(each, 'completed', { result: RESULT });
    expect(await ended(dispatch.job_id)).toMatchObject({ status: 'succeeded' });
    await ended(other.job_id);
  });

  it('the inputs of a dispatch cannot be read without the link’s signature', async () => {
    const dispatch = await dispatched();
    const { url = '' } = dispatch.inputs[0] ?? {};
    for (const forged of [url.replace(/\?.*/, ''), url.replace('/inputs/0', '/inputs/1'), url.replace(/.$/, '~')]) {
      expect((await fetch(forged)).status).toBe(404);
    }
    await callBack(dispatch, 'completed', { result: RESULT });
    await ended(dispatch.job_id);
  });

  it('a callback with an invalid body is refused with the name of the field', async () => {
    const dispatch = await dispatched();
    for (const [name, body, param] of [
      ['progress', { progress: 2 }, 'progress'],
      ['progress', { share: 1 }, 'share'],
      ['completed', {}, 'result'],
      ['failed', { code: 'job_expired', message: 'Late.' }, 'code'],
      ['failed', { code: 'model_unavailable', message: 'Two\nlines' }, 'message'],
      ['failed', { code: 'input_unreadable', message: '\ud800' }, 'message'],
    ] as const) {
      const refused = await callBack(dispatch, name, body);
      expect([refused.status, (await errorOf(refused)).param]).toEqual([400, param]);
    }
    expect((await callBack(dispatch, 'completed', { result: RESULT })).status).toBe(200);
    await ended(dispatch.job_id);
  });
});

describe('a file of the cluster', () => {
  const send = (dispatch: ReceivedDispatch, contentType: string, body: Buffer, size = '') =>
    fetch(dispatch.callbacks.artefacts + size, {
      method: 'POST',
      headers: { Authorization: `Bearer ${dispatch.token}`, 'Content-Type': contentType },
      body: new Uint8Array(body),
    });

  it('a file of the cluster is accepted only as its own type, and otherwise leaves nothing', async () => {
    const dispatch = await dispatched();
    const before = (await api.storedFiles()).length;
    const located = await sharp(jpeg)
      .withExif({ IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } })
      .toBuffer();
    for (const [contentType, body] of [
      ['image/jpeg', located],
      ['image/jpeg', Buffer.concat([jpeg, located])],
      ['image/png', jpeg],
      ['text/html', jpeg],
      ['application/json', jpeg],
      ['image/jpeg', Buffer.alloc(0)],
      ['image/jpeg', withJpegSegments(jpeg, [jpegSegment(0xe0, Buffer.from('GPS 50.1 8.2E'))])],
      ['image/webp', Buffer.concat([await sharp(jpeg).webp().toBuffer(), Buffer.from('GPS 50N')])],
      ['application/json', Buffer.from('{')],
      ['application/pdf', Buffer.from('%PDF-1.4 junk')],
      ['video/mp4', Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0isom')), Buffer.alloc(40)])],
      ['video/mp4', Buffer.concat([film, Buffer.from('GPS 50N')])],
    ] as const) {
      const refused = await send(dispatch, contentType, body);
      expect([contentType, refused.status]).toEqual([contentType, 415]);
    }
    for (const [contentType, body, size, param] of [
      ['image/jpeg', jpeg, '?width=no', 'width'],
      ['image/jpeg', jpeg, '?width=99999&height=32', 'width'],
      ['image/jpeg', jpeg, '?width=48&height=5', 'height'],
      ['video/mp4', film, '?height=8', 'height'],
      ['application/json', Buffer.from('{}'), '?width=8', 'width'],
    ] as const) {
      const refused = await send(dispatch, contentType, body, size);
      expect([refused.status, (await errorOf(refused)).param]).toEqual([400, param]);
    }
    const long = await send(dispatch, 'application/json', Buffer.from(JSON.stringify('x'.repeat(1024 * 1024))));
    expect((await errorOf(long)).code).toBe('file_too_large');
    expect((await api.storedFiles()).length).toBe(before);
    for (const [contentType, body, size, sides] of [
      ['image/jpeg', jpeg, '?width=48&height=32', { width: 48, height: 32 }],
      ['image/png', await sharp(jpeg).png().toBuffer(), '', { width: 48, height: 32 }],
      ['video/mp4', film, '', { width: 320, height: 320 }],
      ['application/json', Buffer.from('{}'), '', { width: null, height: null }],
    ] as const) {
      const taken = await send(dispatch, contentType, body, size);
      expect(taken.status).toBe(201);
      expect(await taken.json()).toMatchObject({ object: 'artefact', bytes: body.byteLength, ...sides });
    }
    await callBack(dispatch, 'completed', { result: RESULT });
    await ended(dispatch.job_id);
    expect((await send(dispatch, 'image/jpeg', jpeg)).status).toBe(410);
  });
});

describe('a late callback', () => {
  it('a callback after an operator cancelled the workflow is refused; the hold is released, the cluster notified', async () => {
    const dispatch = await dispatched();
    await api.temporal.client.workflow.getHandle(dispatch.job_id).cancel();
    expect(await ended(dispatch.job_id)).toMatchObject({ status: 'failed', chargedCredits: 0 });
    for (const [name, body] of [
      ['started', {}],
      ['progress', {}],
      ['completed', { result: RESULT }],
      ['failed', { code: 'model_unavailable', message: 'Late.' }],
    ] as const) {
      expect((await callBack(dispatch, name, body)).status).toBe(410);
    }
    await until(() => cluster.withdrawn.includes(dispatch.id));
    expect(await transfersOf(api.orm, dispatch.job_id)).toEqual([
      ['hold', 20],
      ['release', 20],
    ]);
  });

  it('a callback after every attempt timed out is refused, and each attempt was withdrawn', async () => {
    const body = new FormData();
    body.append('image', filePart(jpeg), 'vin.jpg');
    const { job } = await api.call('/v1/vin/read', { method: 'POST', key: customer.keys.live, body });
    const dispatches = [await cluster.next(job.id), await cluster.next(job.id), await cluster.next(job.id)];
    expect(dispatches.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const { status, error } = await ended(job.id);
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'inference_timeout' });
    for (const dispatch of dispatches) {
      expect((await callBack(dispatch, 'completed', { result: RESULT })).status).toBe(410);
      await until(() => cluster.withdrawn.includes(dispatch.id));
    }
    expect((await transfersOf(api.orm, job.id)).map(([kind]) => kind)).toEqual(['hold', 'release']);
  });

  it('a callback from a superseded attempt is refused, and its successor is charged', async () => {
    await inference.stop();
    inference = await startInference([reading(5_000)]);
    const jobId = await submit();
    const first = await cluster.next(jobId);
    const second = await cluster.next(jobId);
    expect((await callBack(first, 'completed', { result: RESULT })).status).toBe(410);
    expect((await callBack(second, 'completed', { result: RESULT })).status).toBe(200);
    expect(await ended(jobId)).toMatchObject({ status: 'succeeded', chargedCredits: 20 });
    await until(() => cluster.withdrawn.includes(first.id));
  });
});

describe('a cluster that is lost', () => {
  it('a lost cluster is detected by missed heartbeats: after three attempts the job fails and costs nothing', async () => {
    const example = await processes.start({
      entry: 'docs/examples/remote-cluster.mjs',
      args: ['0'],
      environment: { CLUSTER_KEY, WORK_SECONDS: '600' },
      ready: { line: (line) => line.startsWith('listening on ') },
    });
    const [, url = ''] = /listening on (\S+)/.exec(example.lines.join('\n')) ?? [];
    await inference.stop();
    inference = await startInference([
      {
        endpoint: 'render.background',
        modelVersion: 'far-cutter@2026-11-02',
        url: `${url}/dispatches`,
        headers,
        heartbeatTimeoutMs: 3_000,
      },
    ]);
    const before = await readAccount(api.orm, customer.organizationId, true);
    const body = new FormData();
    body.append('image', filePart(jpeg), 'car.jpg');
    const { job } = await api.call('/v1/render/background', { method: 'POST', key: customer.keys.live, body });
    // As long as its heart beats, it may take its time.
    await example.waitForLine((line) => line.endsWith('attempt 1'), 30_000);
    await until(async () => (await readJob(api.orm, job.id)).status === 'processing');
    await example.kill();
    const { status, error, chargedCredits } = await ended(job.id, 50_000);
    expect({ status, code: error?.code, chargedCredits }).toEqual({
      status: 'failed',
      code: expect.stringMatching(/^model_(?:unavailable|inference_failed)$/),
      chargedCredits: 0,
    });
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(before);
  });
});
