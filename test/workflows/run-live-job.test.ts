/** Live jobs on the models that are installed: what a picture is decides how its job ends, and nothing is charged in vain. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { read } from '../support/requests.ts';
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
    patienceMs: 60_000,
    store: api.store,
    writeArtefact: () => Promise.reject(new Error('dashboard.read makes no file')),
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
});
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

describe('an unreadable picture fails its job uncharged', () => {
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
  ])('$what', async ({ image }) => {
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

it('a photograph after all of them is read like the first one', async () => {
  expect((await settle(photograph)).status).toBe('succeeded');
});
