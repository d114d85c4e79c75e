/** Live jobs on the models that are installed: what a picture is decides how its job ends, and nothing is charged in vain. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createArtefactWriter } from '../../src/artefacts/artefact-writer.ts';
import { TERMINAL_JOB_STATUSES, type TerminalJobStatus } from '../../src/contracts/job.ts';
import type { Result as Damages } from '../../src/endpoints/damage.detect/result.ts';
import type { Result as Grades } from '../../src/endpoints/damage.severity/result.ts';
import type { Result as Inspection } from '../../src/endpoints/inspections/result.ts';
import type { Result as Plates } from '../../src/endpoints/plate.read/result.ts';
import type { Result as Anonymised } from '../../src/endpoints/render.plate/result.ts';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { fromBoundingBox, intersectionOverUnion } from '../../src/inference/toolkit/decoding/boxes.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { filePart, form, read } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const photograph = readFileSync(path('training/examples/night-kilometres.jpg'));

let api: TestApi;
let backend: Backend;
let workers: TestWorkers;
let customer: Customer;

beforeAll(async () => {
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
  customer = await createCustomer(api.orm);
}, 180_000);
afterAll(async () => {
  await workers.stop();
  await backend.close();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});

async function settle(image: Uint8Array) {
  const { status, job } = await read(api, { key: customer.keys.live, query: '?wait=true', image });
  expect(status).toBe(200);
  return job;
}

it('a photograph of a dashboard is read and charged', async () => {
  const job = await settle(photograph);
  expect(job).toMatchObject({
    status: 'succeeded',
    livemode: true,
    credits: { reserved: 20, charged: 20 },
    result: { cluster_lit: true },
  });
  expect(job.model_version).toMatch(/^dashboard-reader@\d{4}-\d{2}-\d{2}$/);
});

describe('an unreadable picture', () => {
  const tooManyPixels = sharp({ create: { width: 10_000, height: 8_000, channels: 3, background: '#000000' } });

  it.each([
    { what: 'a JPEG cut off in the middle', image: async () => photograph.subarray(0, photograph.length / 2) },
    { what: 'a JPEG of which only the first bytes came', image: async () => photograph.subarray(0, 300) },
    {
      what: 'the signature of a PNG and nothing else',
      image: async () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    },
    {
      what: 'few bytes that unpack to 80 megapixels',
      image: () => tooManyPixels.clone().png({ compressionLevel: 9 }).toBuffer(),
    },
  ])('an unreadable picture fails its job uncharged: $what', async ({ image }) => {
    const before = await readAccount(api.orm, customer.organizationId, true);
    const job = await settle(await image());
    expect(job).toMatchObject({
      status: 'failed',
      result: null,
      credits: { reserved: 20, charged: 0 },
      error: { type: 'processing_error', code: 'input_unreadable', message: expect.stringMatching(/picture/) },
    });
    expect(await transfersOf(api.orm, job.id)).toEqual([
      ['hold', 20],
      ['release', 20],
    ]);
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(before);
  });
});

it('the plate of a car is read, and nobody reads it on the picture that is made without it', async () => {
  const car = readFileSync(path('src/endpoints/render.plate/fixtures/example.jpg'));
  const seen = await settled('/v1/plate/read', car);
  expect(seen).toMatchObject({ status: 'succeeded', credits: { charged: 20 } });
  expect(seen.model_version).toMatch(/^plate-finder@\d{4}-\d{2}-\d{2}$/);
  expect(textsOf(seen)).toEqual(['VIS2047']);

  const anonymised = await settled('/v1/render/plate', car);
  expect(anonymised).toMatchObject({
    status: 'succeeded',
    credits: { charged: 100 },
    model_version: seen.model_version,
    result: { mode: 'blur' },
  });
  const [covered, ...others] = (anonymised.result as Anonymised).plates.map(({ bbox }) => fromBoundingBox(bbox));
  const [read] = (seen.result as Plates).plates.map(({ bbox }) => fromBoundingBox(bbox));
  expect(others).toEqual([]);
  // The cover follows the plate's own edges.
  expect(covered && read ? intersectionOverUnion(covered, read) : 0).toBeGreaterThan(0.7);
  const { pathname, search } = new URL((anonymised.result as Anonymised).image.url);
  const made = await fetch(api.url + pathname + search);
  expect(textsOf(await settled('/v1/plate/read', Buffer.from(await made.arrayBuffer())))).toEqual([]);
}, 180_000);

it('the damage of a car is found, and graded by the rules', async () => {
  const car = readFileSync(path('src/endpoints/render.360/fixtures/example-4.jpg'));
  const found = await settled('/v1/damage/detect', car);
  expect(found).toMatchObject({
    status: 'succeeded',
    credits: { charged: 30 },
    result: { view: { value: 'rear_right' } },
  });
  expect(found.model_version).toMatch(/^damage-finder@\d{4}-\d{2}-\d{2}$/);
  const { damages } = found.result as Damages;
  expect(damages).toContainEqual(expect.objectContaining({ type: 'scratch', part: 'rear_bumper', side: 'none' }));

  const graded = await settled('/v1/damage/severity', car, { damage_job_id: found.id });
  expect(graded).toMatchObject({ status: 'succeeded', credits: { charged: 30 }, model_version: found.model_version });
  const { overall, damages: grades } = graded.result as Grades;
  expect(grades.map(({ id, type, part }) => ({ id, type, part }))).toEqual(
    damages.map(({ id, type, part }) => ({ id, type, part })),
  );
  expect(overall).toMatchObject({ drivable: { value: true }, total_loss: { value: false } });
}, 180_000);

it('an inspection of drawn views finds the damage on its part, and makes a report', async () => {
  const body = new FormData();
  for (const name of ['example-2', 'example-4', 'example-8']) {
    body.append('images', filePart(readFileSync(path(`src/endpoints/render.360/fixtures/${name}.jpg`))), `${name}.jpg`);
  }
  body.append('include_repair_estimate', 'false');
  const job = await endOf(await api.call('/v1/inspections', { method: 'POST', key: customer.keys.live, body }));
  expect(job).toMatchObject({ status: 'succeeded', livemode: true });
  const { views, parts, overall, report } = job.result as Inspection;
  expect(views.map(({ view, is_usable }) => [view?.value, is_usable])).toEqual([
    ['front', true],
    ['rear_right', true],
    ['left', true],
  ]);
  expect(parts.filter(({ damages }) => damages.length > 0)).toMatchObject([
    { part: 'rear_bumper', damages: [{ type: 'scratch', views: [1] }] },
  ]);
  expect(overall).toMatchObject({ drivable: { value: true } });
  expect(report?.url).toMatch(/^https?:/);
}, 180_000);

async function settled(route: string, image: Uint8Array, fields: Record<string, string> = {}): Promise<JobResource> {
  return endOf(await api.call(route, { method: 'POST', key: customer.keys.live, body: form({ image, fields }) }));
}

async function endOf({ job: { id } }: { job: JobResource }): Promise<JobResource> {
  let job: JobResource | undefined;
  await until(async () => {
    ({ job } = await api.call(`/v1/jobs/${id}`, { key: customer.keys.live }));
    return TERMINAL_JOB_STATUSES.includes(job.status as TerminalJobStatus);
  }, 150_000);
  return job as JobResource;
}

function textsOf({ result }: JobResource): string[] {
  return (result as Plates).plates.flatMap(({ text }) => text ?? []);
}

it('a photograph of a dashboard is still read after unreadable pictures and other jobs', async () => {
  expect((await settle(photograph)).status).toBe('succeeded');
});
