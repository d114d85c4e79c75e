/** Bundles in live mode: videos and pictures are sent by HTTP and run on models that were dropped in. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createArtefactWriter } from '../../src/artefacts/artefact-writer.ts';
import { TERMINAL_JOB_STATUSES, type TerminalJobStatus } from '../../src/contracts/job.ts';
import type { Result as Inspection } from '../../src/endpoints/inspections/result.ts';
import type { Result as Onboarding } from '../../src/endpoints/video.onboard/result.ts';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import { installBundleModels } from '../inference/support/bundle-models.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { textOf } from '../support/pdf.ts';
import { filePart, upload } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { decoders, makeVideo, type Rgb } from '../support/videos.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

// The tiny networks distinguish colours. A picture that is mostly red is a front view, green a left one, blue a rear one.
const RED: Rgb = [250, 10, 10];
const GREEN: Rgb = [10, 250, 10];
const BLUE: Rgb = [10, 10, 250];
const GREY: Rgb = [114, 114, 114];

const folder = mkdtempSync(join(tmpdir(), 'run-live-bundles-'));
const path = (name: string) => join(folder, name);
let api: TestApi;
let customer: Customer;
let backend: Backend;
let workers: TestWorkers;

beforeAll(async () => {
  installBundleModels(path('models'));
  api = await startTestApi();
  backend = await createBackend({
    modelsDirectory: path('models'),
    // On a machine that is busy with other tests.
    patienceMs: 150_000,
    store: api.store,
    bundleFiles: api.store,
    writeArtefact: createArtefactWriter(api),
    children: 1,
    threads: 1,
    logger: api.log.logger,
  });
  await announceInstalledEndpoints(api.orm.em.fork(), backend.installedEndpoints(), []);
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
  customer = await createCustomer(api.orm, { live: 100_000 });
});
afterAll(async () => {
  await workers.stop();
  await backend.close();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
  rmSync(folder, { recursive: true });
});

/** Mostly one colour, with a scratch on the front door where `isScratched`. */
function paintVehicle([r, g, b]: Rgb, isScratched: boolean): Promise<Buffer> {
  const scratch = sharp({ create: { width: 16, height: 16, channels: 3, background: '#ff0000' } });
  const picture = sharp({ create: { width: 128, height: 96, channels: 3, background: { r, g, b } } });
  return (async () =>
    (isScratched ? picture.composite([{ input: await scratch.png().toBuffer(), left: 48, top: 48 }]) : picture)
      .png()
      .toBuffer())();
}

async function submit(route: string, body: object): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await api.call(route, {
    method: 'POST',
    key: customer.keys.live,
    body: JSON.stringify(body),
    headers,
  });
  if (answer.status !== 202) throw new Error(answer.text);
  return answer.job.id;
}

async function ended(jobId: string): Promise<JobResource> {
  let job: JobResource | undefined;
  await until(async () => {
    job = (await api.call(`/v1/jobs/${jobId}`, { key: customer.keys.live })).job;
    return TERMINAL_JOB_STATUSES.includes(job.status as TerminalJobStatus);
  }, 150_000);
  return job as JobResource;
}

const uploaded = (name: string) => upload(api, customer.keys.live, readFileSync(path(name)));
const seconds = (count: number, colour: Rgb) => Array<Rgb>(count * 10).fill(colour);

async function fetched(url: string) {
  const answer = await fetch(api.url + new URL(url).pathname + new URL(url).search);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/** What an inference stored besides what its results show. */
const leftFrames = async () => (await api.storedFiles()).filter((file) => /jobs\/.*\.jpg/.test(file));

describe('a video', () => {
  it('a video is onboarded: its key frames and the endpoints that run on them are charged', async () => {
    const frames = [...seconds(2, RED), ...seconds(1, GREY), ...seconds(2, BLUE), ...seconds(2, GREEN)];
    await makeVideo(path('walk.mp4'), { frames });
    const job = await ended(
      await submit('/v1/video/onboard', {
        input_ref: await uploaded('walk.mp4'),
        views: ['front', 'left', 'right', 'rear'],
        run: ['damage.detect', 'plate.read'],
      }),
    );
    const result = job.result as Onboarding;
    expect(result.video).toEqual({
      duration_ms: 7_000,
      width: 128,
      height: 96,
      frames_per_second: expect.closeTo(10, 1),
    });
    expect(result.key_frames.map(({ view }) => view)).toEqual(['front', 'rear', 'left']);
    expect(result.coverage).toMatchObject({
      fraction: 0.75,
      missing_views: ['right'],
      views: { front: { is_covered: true, seen_ms: 2_000, key_frames: 1 }, right: { is_covered: false, seen_ms: 0 } },
    });
    for (const { image, vehicle_bbox, outcomes } of result.key_frames) {
      const { format, width, height } = await sharp(await fetched(image.url)).metadata();
      expect({ format, width, height }).toEqual({ format: 'jpeg', width: 128, height: 96 });
      expect(vehicle_bbox.width).toBeGreaterThan(100);
      expect(outcomes['damage.detect']).toMatchObject({ status: 'succeeded', charged_credits: 30 });
      expect(outcomes['plate.read']).toMatchObject({ status: 'failed', error: { code: 'model_unavailable' } });
    }
    expect(job).toMatchObject({
      status: 'partial',
      livemode: true,
      model_version: 'video-onboard@2026-12-01',
      credits: { reserved: 1_500 + 4 * (30 + 20), charged: 0.75 * 1_500 + 3 * 30 },
    });
    expect(result.charged_credits).toBe(job.credits.charged);
    expect(await leftFrames()).toEqual([]);
  });

  it('a video without a vehicle has no key frames and costs nothing', async () => {
    await makeVideo(path('garden.mp4'), { frames: seconds(2, GREY) });
    const job = await ended(await submit('/v1/video/onboard', { input_ref: await uploaded('garden.mp4') }));
    expect(job).toMatchObject({ status: 'succeeded', credits: { charged: 0 }, result: { key_frames: [], walk: null } });
  });

  it('a video that cannot be decoded fails its job with advice and costs nothing', async () => {
    const before = await readAccount(api.orm, customer.organizationId, true);
    const job = await ended(
      await submit('/v1/video/onboard', {
        input_ref: await upload(api, customer.keys.live, readFileSync(path('walk.mp4')).subarray(0, 1_200)),
      }),
    );
    expect(job).toMatchObject({
      status: 'failed',
      result: null,
      credits: { charged: 0 },
      error: {
        type: 'processing_error',
        code: 'input_unreadable',
        message: expect.stringMatching(/complete original/),
      },
    });
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(before);
  });

  it('a video whose job is cancelled midway leaves no process and no picture and costs nothing', async () => {
    const frames = Array.from({ length: 600 }, (_, index) => (index % 2 === 0 ? RED : GREEN));
    await makeVideo(path('long.mp4'), { frames, framesPerSecond: 1, keyFrameEvery: 2 });
    const jobId = await submit('/v1/video/onboard', { input_ref: await uploaded('long.mp4') });
    await until(async () => decoders().length === 1 && (await leftFrames()).length > 0);
    await api.temporal.client.workflow.getHandle(jobId).cancel();
    const job = await ended(jobId);
    expect(job).toMatchObject({ status: 'failed', credits: { charged: 0 } });
    expect(await transfersOf(api.orm, jobId)).toEqual([
      ['hold', 1_500],
      ['release', 1_500],
    ]);
    await until(async () => decoders().length === 0 && (await leftFrames()).length === 0);
  });
});

describe('an inspection', () => {
  it('an inspection of pictures and a video lists the damages of each picture and makes a PDF report', async () => {
    await makeVideo(path('rear.mp4'), { frames: seconds(2, BLUE) });
    const picture = async (colour: Rgb, isScratched: boolean) =>
      upload(api, customer.keys.live, await paintVehicle(colour, isScratched));
    const input_refs = [await picture(GREEN, true), await uploaded('rear.mp4'), await picture(GREEN, true)];
    const job = await ended(
      await submit('/v1/inspections', {
        input_refs,
        expected_views: ['left', 'rear', 'right'],
        vehicle: { make: 'Talvera' },
      }),
    );
    const result = job.result as Inspection;
    expect(result.views.map(({ image_index, view, is_usable }) => [image_index, view?.value, is_usable])).toEqual([
      [0, 'left', true],
      [1, 'rear', true],
      [2, 'left', true],
    ]);
    expect(result.views[1]).toMatchObject({ time_offset_ms: expect.any(Number), frame: { media_type: 'image/jpeg' } });
    expect(result.missing_views).toEqual(['right']);
    expect(result.parts.find(({ part }) => part === 'front_door')).toMatchObject({ side: 'left', damages: [] });
    // The installed finder knows no parts.
    const damage = {
      type: 'scratch',
      severity: { value: 'minor' },
      repair_method: { value: 'polish' },
      is_new: null,
    };
    expect(result.parts[0]).toMatchObject({
      part: null,
      side: null,
      worst_severity: 'minor',
      damages: [
        { id: 'damage_1', ...damage, views: [0] },
        { id: 'damage_2', ...damage, views: [2] },
      ],
    });
    expect(result.overall).toMatchObject({ condition_grade: { value: 'B' }, drivable: { value: true } });
    const report = await fetched(String(result.report?.url));
    expect(report.toString('latin1', 0, 5)).toBe('%PDF-');
    expect(textOf(report)).toMatch(/Talvera\. Condition B, can be driven/);
    expect(textOf(report)).toMatch(/unknown part\nscratch, minor\npolish\nseen on 1\n[\s\S]*seen on 3/);

    for (const text of [job.id, 'Missing views: right.', 'Page 1 of ', 'No price book of repairs is active']) {
      expect(textOf(report)).toContain(text);
    }

    // In the list, and at its outline on the picture.
    expect(textOf(report).match(/^1$/gm)).toHaveLength(2);

    // No price book is there, and the request does not ask for an estimate: it is left out, which is said, and not charged.
    expect(result).toMatchObject({ repair_estimate: null, repair_estimate_omitted: 'no_price_book' });
    expect(job.status).toBe('succeeded');
    expect(job.stages?.map(({ name, status, credits, error }) => [name, status, credits.charged, error?.code])).toEqual(
      [
        ['intake', 'succeeded', 188, undefined],
        ['view_classification', 'succeeded', 2 * 20, undefined],
        ['damage_detection', 'succeeded', 3 * 30, undefined],
        ['severity_grading', 'succeeded', 2 * 30, undefined],
        ['merge', 'succeeded', 0, undefined],
        ['repair_estimate', 'skipped', 0, undefined],
        ['report', 'succeeded', 0, undefined],
      ],
    );
    expect(job.credits.charged).toBe(188 + 40 + 90 + 60);

    const later = await ended(
      await submit('/v1/inspections', {
        input_refs: [await picture(GREEN, true)],
        baseline_job_id: job.id,
        include_repair_estimate: false,
      }),
    );
    expect((later.result as Inspection).parts[0]?.damages).toMatchObject([{ type: 'scratch', is_new: null }]);
    expect(later.status).toBe('succeeded');
    expect((later.result as Inspection).repair_estimate_omitted).toBe('not_requested');
  });

  it.each([{ include_repair_estimate: true }, { labour_rate: 6_000 }])(
    'an inspection that asks for an estimate with %j is partial without a price book',
    async (asking) => {
      const input_refs = [await upload(api, customer.keys.live, await paintVehicle(GREEN, true))];
      const job = await ended(await submit('/v1/inspections', { input_refs, ...asking }));
      expect(job).toMatchObject({ status: 'partial', result: { repair_estimate_omitted: 'failed' } });
      expect(job.stages?.find(({ name }) => name === 'repair_estimate')).toMatchObject({
        status: 'failed',
        credits: { charged: 0 },
        error: { code: 'model_unavailable' },
      });
    },
  );

  it('an inspection of an undamaged vehicle grades and estimates nothing and says so', async () => {
    const body = new FormData();
    body.append('images', filePart(await paintVehicle(GREEN, false)), 'left.png');
    body.append('images', filePart(await paintVehicle(BLUE, false)), 'rear.png');
    const answer = await api.call('/v1/inspections', { method: 'POST', key: customer.keys.live, body });
    const job = await ended(answer.job.id);
    expect(job).toMatchObject({ status: 'succeeded', result: { overall: { condition_grade: { value: 'A' } } } });
    expect(job.stages?.filter(({ status }) => status === 'skipped').map(({ name }) => name)).toEqual([
      'severity_grading',
      'repair_estimate',
    ]);
    expect(job.credits.charged).toBe(2 * 20 + 2 * 30);
  });

  it('an inspection grades and counts damages on a picture without a view too', async () => {
    const seen = await paintVehicle(GREEN, false);
    const unseen = await paintVehicle(GREY, true);
    const run = async (pictures: Buffer[]) => {
      const input_refs = await Promise.all(pictures.map((picture) => upload(api, customer.keys.live, picture)));
      return ended(await submit('/v1/inspections', { input_refs, include_repair_estimate: false }));
    };
    const gradingOf = ({ stages }: JobResource) => stages?.find(({ name }) => name === 'severity_grading');
    const job = await run([seen, unseen]);
    expect((job.result as Inspection).views.map(({ view, is_usable }) => [view?.value ?? null, is_usable])).toEqual([
      ['left', true],
      [null, false],
    ]);
    expect(gradingOf(job)).toMatchObject({ status: 'succeeded', credits: { reserved: 60, charged: 30 } });
    expect(job.result).toMatchObject({ overall: { condition_grade: { value: 'C' } }, parts: [{ part: null }, {}] });
    const alone = await run([unseen]);
    expect(gradingOf(alone)).toMatchObject({ status: 'succeeded', credits: { charged: 30 } });
    expect(alone.result).toMatchObject({ overall: { condition_grade: { value: 'C' } }, parts: [{ part: null }] });
  });

  it('an inspection continues without an unreadable picture and is partial', async () => {
    const broken = (await paintVehicle(GREEN, false)).subarray(0, 200);
    const input_refs = [
      await upload(api, customer.keys.live, await paintVehicle(GREEN, true)),
      await upload(api, customer.keys.live, broken),
    ];
    const job = await ended(await submit('/v1/inspections', { input_refs, include_repair_estimate: false }));
    expect(job.status).toBe('partial');
    expect(job.stages?.find(({ name }) => name === 'view_classification')).toMatchObject({
      status: 'partial',
      progress: 0.5,
      error: { code: 'input_unreadable' },
    });
    const { views, parts } = job.result as Inspection;
    expect(views.map(({ view, is_usable }) => [view?.value ?? null, is_usable])).toEqual([
      ['left', true],
      [null, false],
    ]);
    expect(parts[0]?.damages).toHaveLength(1);
  });
});
