/** Requests to bundle endpoints: two spellings, no waiting, videos as uploads only, stages. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inspections } from '../../src/endpoints/inspections/contract.ts';
import { Job } from '../../src/jobs/entities.ts';
import { queuedStages } from '../../src/jobs/job-stages.ts';
import { query } from '../../src/platform/database/orm.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer, createKey } from '../support/customers.ts';
import { admit, installEndpoints } from '../support/jobs.ts';
import { jpeg } from '../support/pictures.ts';
import { expectRefusal, expectReplay, filePart, upload } from '../support/requests.ts';
import { makeVideo, type Rgb } from '../support/videos.ts';

let api: TestApi;
let key: string;
let walk: Buffer;

beforeAll(async () => {
  api = await startTestApi();
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  await makeVideo(join(folder, 'walk.mp4'), { frames: Array<Rgb>(10).fill([200, 30, 30]) });
  walk = readFileSync(join(folder, 'walk.mp4'));
  rmSync(folder, { recursive: true });
});
afterAll(() => api.close());
beforeEach(async () => {
  key = (await createCustomer(api.orm, { test: 10_000 })).keys.test;
});

const post = (path: string, body: object) =>
  api.call(path, { method: 'POST', key, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });

it.each(['/v1/vehicle/analyze', '/v1/vehicle/analyse'])('%s starts an analysis', async (path) => {
  const input_refs = [await upload(api, key), await upload(api, key)];
  const answer = await post(path, { input_refs, tasks: ['vin.read', 'plate.read'] });
  expect(answer.status).toBe(202);
  expect(answer.job).toMatchObject({ endpoint: 'vehicle.analyze', credits: { reserved: 80, charged: 0 } });
});

it('/v1/inspections returns a job with its stages and the credits held for each', async () => {
  const body = new FormData();
  for (let index = 0; index < 2; index += 1) body.append('images', filePart(jpeg), 'corner.jpg');
  body.append('vehicle', JSON.stringify({ make: 'Talvera' }));
  body.append('include_report', 'false');
  const { status, job } = await api.call('/v1/inspections', { method: 'POST', key, body });
  expect(status).toBe(202);
  expect(job).toMatchObject({ endpoint: 'inspections', credits: { reserved: 210, charged: 0 } });
  expect(job.stages?.map(({ name, status, credits }) => [name, status, credits.reserved])).toEqual([
    ['intake', 'queued', 0],
    ['view_classification', 'queued', 40],
    ['damage_detection', 'queued', 60],
    ['severity_grading', 'queued', 60],
    ['merge', 'queued', 0],
    ['repair_estimate', 'queued', 50],
    ['report', 'skipped', 0],
  ]);
});

it.each(['vehicle/analyze', 'vehicle/analyse', 'video/onboard', 'inspections'])('/v1/%s rejects wait', async (path) => {
  await expectRefusal(api, () => post(`/v1/${path}?wait=true`, {}), { code: 'wait_not_supported', param: 'wait' });
});

it('a video sent directly is refused', async () => {
  const body = new FormData();
  body.append('video', filePart(jpeg), 'walk-around.mp4');
  const send = () => api.call('/v1/video/onboard', { method: 'POST', key, body });
  const answer = await expectRefusal(api, send, { code: 'unsupported_media_type', param: 'video' });
  expect(answer.error.message).toMatch(/\/v1\/uploads/);
});

describe('live mode without a worker that decodes videos', () => {
  const inspect = (input_refs: string[], { query: parameters = '', headers = {} } = {}) =>
    api.call(`/v1/inspections${parameters}`, {
      method: 'POST',
      key,
      body: JSON.stringify({ input_refs }),
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  let video: string;
  let picture: string;

  beforeEach(async () => {
    key = (await createCustomer(api.orm, { live: 100_000 })).keys.live;
    [video, picture] = [await upload(api, key, walk), await upload(api, key)];
    await installEndpoints(api.orm);
  });
  const withdraw = () => query(api.orm.em.fork(), `delete from installed_endpoints where endpoint = 'video.onboard'`);

  it('without a worker that decodes videos, an inspection takes pictures and refuses videos with the reason', async () => {
    await withdraw();
    expect((await inspect([picture])).status).toBe(202);
    for (const parameters of ['', '?dry_run=true']) {
      const send = () => inspect([picture, video], { query: parameters });
      const { error, headers } = await expectRefusal(api, send, { code: 'endpoint_unavailable', param: 'input_refs' });
      expect(error.message).toMatch(/^This request to inspections needs video\.onboard for its files\. /);
      expect(headers.get('Retry-After')).toBe('60');
    }
    await expectRefusal(api, () => post('/v1/video/onboard', { input_ref: video }), { code: 'endpoint_unavailable' });
  });

  it.each(['render/360', 'render/video'])(
    'without a worker that decodes videos, /v1/%s refuses a video and holds nothing for it',
    async (path) => {
      await withdraw();
      const send = () => post(`/v1/${path}`, { input_refs: [video] });
      const { error } = await expectRefusal(api, send, { code: 'endpoint_unavailable', param: 'input_refs' });
      expect(error.message).toMatch(/needs video\.onboard for its files\. /);
      const eight = Array.from({ length: 8 }, () => picture);
      expect((await post(`/v1/${path}`, { input_refs: eight })).status).toBe(202);
    },
  );

  it('a repeated request gets its stored response after the worker that decodes videos went', async () => {
    const headers = { 'Idempotency-Key': 'video-then' };
    const first = await inspect([video], { headers });
    expect(first.status).toBe(202);
    await withdraw();
    expectReplay(await inspect([video], { headers }), first);
    const send = () => inspect([video, picture], { headers });
    await expectRefusal(api, send, { code: 'idempotency_key_reuse' });
  });
});

it('test mode takes videos without any worker that decodes them', async () => {
  const input_ref = await upload(api, key, walk);
  expect((await post('/v1/video/onboard', { input_ref })).status).toBe(202);
});

it('an image is refused where a video is expected', async () => {
  const input_ref = await upload(api, key);
  await expectRefusal(api, () => post('/v1/video/onboard', { input_ref }), {
    code: 'unsupported_media_type',
    param: 'input_ref',
  });
});

it('a repair estimate without damages, or with two sources of damages, is refused', async () => {
  await expectRefusal(api, () => post('/v1/pricing/repair', {}), { code: 'parameter_missing', param: 'damages' });
  const twice = { damages: [{ type: 'dent', part: 'hood' }], job_id: 'job_1111111111111111111111' };
  await expectRefusal(api, () => post('/v1/pricing/repair', twice), { code: 'parameter_invalid', param: 'job_id' });
});

it('a vehicle is priced without an image, in both encodings', async () => {
  const vehicle = { make: 'Talvera', model: 'Lumo', year: 2022 };
  expect((await post('/v1/pricing/vehicle', { vehicle })).status).toBe(202);
  const body = new FormData();
  body.append('vehicle', JSON.stringify(vehicle));
  expect((await api.call('/v1/pricing/vehicle', { method: 'POST', key, body })).status).toBe(202);
});

it('a bundle is refused when the key lacks the scope of an endpoint in it', async () => {
  const customer = await createCustomer(api.orm, { test: 10_000 });
  const { secret } = await createKey(api.orm, customer.organizationId, 'test', {
    scopes: ['understand:write', 'storage:write'],
  });
  const input_refs = [await upload(api, secret)];
  const analyze = (tasks: string[]) =>
    api.call('/v1/vehicle/analyze', {
      method: 'POST',
      key: secret,
      body: JSON.stringify({ input_refs, tasks }),
      headers: { 'Content-Type': 'application/json' },
    });
  const refused = await analyze(['vin.read', 'damage.detect']);
  expect(refused.error).toMatchObject({ code: 'scope_not_granted', message: expect.stringContaining('damage:write') });
  expect((await analyze(['vin.read'])).status).toBe(202);
});

describe('a job that needs every finding of an inspection', () => {
  const REFERENCES = [
    { what: 'a repair estimate', path: '/v1/pricing/repair', param: 'job_id' },
    { what: 'an inspection with a baseline', path: '/v1/inspections', param: 'baseline_job_id' },
  ];
  const error = { type: 'processing_error', code: 'model_inference_failed', message: 'The stage failed.' } as const;

  /** A partial inspection of which the stage failed, at least for some views. */
  async function partialInspection(failed: string): Promise<string> {
    const customer = await createCustomer(api.orm, { test: 10_000 });
    key = customer.keys.test;
    const stages = queuedStages(inspections, { parameters: {}, files: [{ mediaType: 'image/jpeg' }] }) ?? [];
    const id = await admit(api.orm, customer, { endpoint: 'inspections', stages });
    const ended = stages.map((stage) => ({
      ...stage,
      status: 'succeeded' as const,
      error: stage.name === failed ? error : null,
    }));
    const partial = { status: 'partial', result: {}, completedAt: new Date(), stages: ended } as const;
    await api.orm.em.fork().nativeUpdate(Job, { id }, partial);
    return id;
  }

  it.each(REFERENCES)('$what refuses an inspection whose views were not all examined', async ({ path, param }) => {
    for (const failed of ['view_classification', 'damage_detection', 'severity_grading']) {
      const id = await partialInspection(failed);
      const input_refs = path === '/v1/inspections' ? [await upload(api, key)] : undefined;
      const send = () => post(path, { input_refs, [param]: id });
      const refused = await expectRefusal(api, send, { code: 'parameter_invalid', param });
      expect(refused.error.message).toContain(failed);
    }
  });

  it.each(REFERENCES)('$what accepts an inspection that lacks only an optional stage', async ({ path, param }) => {
    for (const failed of ['repair_estimate', 'report']) {
      const id = await partialInspection(failed);
      const input_refs = path === '/v1/inspections' ? [await upload(api, key)] : undefined;
      expect((await post(path, { input_refs, [param]: id })).status).toBe(202);
    }
  });
});
