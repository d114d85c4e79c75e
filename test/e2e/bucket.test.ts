/** The service on a bucket: pictures, artefacts and uploads over HTTP, an outage, wrong credentials, and a move. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Artefact, createArtefactWriter } from '../../src/artefacts/artefact-writer.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import { query } from '../../src/platform/database/orm.ts';
import { createDiskStore } from '../../src/platform/storage/disk-store.ts';
import type { ObjectStore } from '../../src/platform/storage/object-store.ts';
import { createS3Store, type S3StoreOptions } from '../../src/platform/storage/s3-store.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { describeWith } from '../support/needs.ts';
import { anotherJpeg, jpeg, jpegOfSize } from '../support/pictures.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { filePart, form, read, upload } from '../support/requests.ts';
import { S3_CREDENTIALS, startS3Server, type TestS3Server } from '../support/s3-server.ts';
import { until } from '../support/until.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const BUCKET = 'vehicle-inference';
const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

let server: TestS3Server;
let options: S3StoreOptions;
let bucket: ObjectStore;
let linksAreSigned = false;
let api: TestApi;
let workers: TestWorkers;
let customer: Customer;
let key: string;

/** A complete picture of this many bytes or a little more. */
function jpegWithComments(bytes: number): Buffer {
  const comment = Buffer.alloc(65_535);
  comment.writeUInt16BE(0xfffe, 0);
  comment.writeUInt16BE(comment.length - 2, 2);
  const comments = Array.from({ length: Math.ceil(bytes / comment.length) }, () => comment);
  return Buffer.concat([jpeg.subarray(0, 2), ...comments, jpeg.subarray(2)]);
}

describeWith('versitygw', 'the service on a bucket', () => {
  beforeAll(async () => {
    server = await startS3Server();
    server.createBucket(BUCKET);
    options = {
      bucket: BUCKET,
      prefix: 'files',
      region: null,
      endpoint: server.endpoint,
      encryption: null,
      links: { publicEndpoint: null },
      credentials: S3_CREDENTIALS,
    };
    const { linkTo, ...proxied } = createS3Store(options);
    bucket = proxied;
    const store: ObjectStore = {
      ...proxied,
      get linkTo() {
        return linksAreSigned ? linkTo : undefined;
      },
    } as ObjectStore;
    api = await startTestApi({ store });
    const patient = createS3Store({ ...options, patienceMs: 120_000 });
    const backend = createFixtureBackend({
      logger: QUIET,
      endpoints,
      endpointsDirectory: new URL('../../src/endpoints/', import.meta.url),
      writeArtefact: createArtefactWriter({ store: patient, signedUrls: api.signedUrls }),
      slowScenarioMs: 1,
      inputFiles: patient,
    });
    workers = await startTestWorkers(api.temporal, [
      await orchestrationWorker(api.orm),
      ...inferenceWorkers(api.orm, backend),
    ]);
  });
  afterAll(async () => {
    await workers.stop();
    await expectLedgerToBalance(api.databaseUrl);
    await api.close();
    await server.close();
  });
  beforeEach(async () => {
    linksAreSigned = false;
    customer = await createCustomer(api.orm, { test: 10_000 });
    key = customer.keys.test;
  });

  const enhance = () =>
    api.call('/v1/render/enhance?wait=true', { method: 'POST', key, body: form({ image: anotherJpeg() }) });
  const pathOf = (url: unknown) => String(url).slice(PUBLIC_BASE_URL.length);
  const artefactOf = (result: unknown) => (result as { image: Artefact }).image;

  it('a picture becomes a job, and the link in its result returns the artefact, whole and in part', async () => {
    const { job } = await enhance();
    expect(job).toMatchObject({ status: 'succeeded', credits: { charged: 100 } });
    const artefact = artefactOf(job.result);
    const whole = await fetch(api.url + pathOf(artefact.url));
    expect([whole.status, whole.headers.get('Content-Type')]).toEqual([200, artefact.media_type]);
    const content = Buffer.from(await whole.arrayBuffer());
    expect(content).toHaveLength(artefact.bytes);
    const part = await fetch(api.url + pathOf(artefact.url), { headers: { Range: 'bytes=2-9' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(content.subarray(2, 10));
    expect(await api.storedFiles()).toEqual([]);

    linksAreSigned = true;
    const redirect = await fetch(api.url + pathOf(artefact.url), { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('Cache-Control')]).toEqual([307, 'private, no-store']);
    const location = redirect.headers.get('Location') ?? '';
    expect(location.startsWith(`${server.endpoint}/${BUCKET}/files/artefacts/`)).toBe(true);
    const direct = await fetch(location, { headers: { Range: 'bytes=2-9' } });
    expect([direct.status, direct.headers.get('Content-Type')]).toEqual([206, artefact.media_type]);
    expect(Buffer.from(await direct.arrayBuffer())).toEqual(content.subarray(2, 10));
  });

  it('an upload in parts is joined, and a job reads it', async () => {
    const content = jpegWithComments(12_000_000);
    const announced = await api.call('/v1/uploads', {
      method: 'POST',
      key,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ filename: 'a.jpg', bytes: content.length, mime_type: 'image/jpeg' }),
    });
    const path = String(announced.json.upload_url).slice(PUBLIC_BASE_URL.length);
    const put = (start: number, end: number) =>
      api.call(path, {
        method: 'PUT',
        headers: { 'Content-Range': `bytes ${start}-${end}/${content.length}` },
        body: new Uint8Array(content.subarray(start, end + 1)),
      });
    expect((await put(0, 9_999_999)).status).toBe(308);
    const ready = await put(10_000_000, content.length - 1);
    expect(ready.json).toMatchObject({
      status: 'ready',
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    const id = String(announced.json.id);
    const keys = [];
    for await (const { key: found } of bucket.list('uploads')) keys.push(found);
    expect(keys).toHaveLength(1);
    const { job } = await read(api, { key, json: { input_ref: id }, query: '?wait=true' });
    expect(job.status).toBe('succeeded');
  });

  it('requests that need an unreachable bucket get 503 and nothing is lost: waiting jobs end once it is back', async () => {
    const idempotencyKey = 'bucket-away';
    const artefact = artefactOf((await enhance()).job.result);
    // Its worker reads the picture when the bucket is away.
    const uploaded = await upload(api, key, jpeg);
    await server.stop();
    const jobs = await query<{ id: string }>(api.orm.em.fork(), 'select id from jobs');
    const admitted = await read(api, { key, json: { input_ref: uploaded } });
    expect(admitted.status).toBe(202);

    for (const image of [jpeg, jpegOfSize(3_000_000)]) {
      const refused = await read(api, { key, image, idempotencyKey });
      expect([refused.status, refused.error.code]).toEqual([503, 'service_unavailable']);
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    const body = new FormData();
    body.append('file', filePart(jpegOfSize(5_000_000)), 'a.jpg');
    expect((await api.call('/v1/uploads', { method: 'POST', key, body })).status).toBe(503);
    expect((await api.call(pathOf(artefact.url))).status).toBe(503);
    expect((await api.call(`/v1/jobs/${admitted.job.id}`, { key })).status).toBe(200);
    expect(await query(api.orm.em.fork(), 'select id from jobs')).toHaveLength(jobs.length + 1);

    await server.start();
    expect((await read(api, { key, idempotencyKey, query: '?wait=true' })).job.status).toBe('succeeded');
    expect((await fetch(api.url + pathOf(artefact.url))).status).toBe(200);
    const statusOf = async () => (await api.call(`/v1/jobs/${admitted.job.id}`, { key })).job.status;
    await until(async () => ['succeeded', 'failed'].includes(await statusOf()), 120_000);
    expect(await statusOf()).toBe('succeeded');
  });

  it('files move from a folder into the bucket by the command, which a wrong secret stops with a clear line', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'moved-'));
    const disk = createDiskStore(directory);
    const keys = ['artefacts/art_moved.png', 'uploads/upl_moved'];
    for (const name of keys) await disk.put(name, Buffer.from(name));
    const storage = (command: string, secret = S3_CREDENTIALS.secretAccessKey) =>
      spawnSync(process.execPath, ['src/platform/storage/storage-main.ts', command], {
        cwd: PROJECT_DIRECTORY,
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          STORAGE: 'bucket,disk',
          STORAGE_DIRECTORY: directory,
          STORAGE_BUCKET: `${BUCKET}/files`,
          STORAGE_ENDPOINT: server.endpoint,
          AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
          AWS_SECRET_ACCESS_KEY: secret,
        },
      });
    const refused = storage('move', 'not the secret');
    expect([refused.status, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /^The store refuses writing "partial\/[^"]+" in the bucket "vehicle-inference": SignatureDoesNotMatch, .*403\n$/,
    );
    const moved = storage('move');
    expect(JSON.parse(moved.stdout)).toMatchObject({ copied: 2, left: 0 });
    for (const name of keys) expect(Buffer.from(await bucket.get(name)).toString()).toBe(name);
    for (const name of keys) await expect(disk.get(name)).rejects.toThrow('there is no object');
    expect(storage('check')).toMatchObject({ status: 0, stdout: '{"stores":["bucket","disk"],"usable":true}\n' });
    rmSync(directory, { recursive: true });
  });
});
