/** Pictures that end, occupy or exhaust the process that reads them: their jobs fail after three attempts, others continue. */
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { MEGABYTE } from '../../src/contracts/media-limits.ts';
import { dashboardRead } from '../../src/endpoints/dashboard.read/contract.ts';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { recordingLog } from '../inference/support/tiny-endpoint.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { transfersOf } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { read } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';
import { ENDING, HOARDING, OCCUPYING } from './poison-endpoints/dashboard.read/pipeline.ts';

/** As the service has it, but for its patience: three attempts give the next process time to start. */
const endpoints = [{ ...dashboardRead, inferenceTimeoutMs: 12_000 }];
const { log, lines } = recordingLog();

let api: TestApi;
let backend: Backend;
let workers: TestWorkers;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ endpoints });
  backend = await createBackend({
    modelsDirectory: fileURLToPath(new URL('../inference/models/', import.meta.url)),
    endpointsDirectory: new URL('./poison-endpoints/', import.meta.url),
    endpoints,
    // On a machine that is busy with other tests.
    patienceMs: 150_000,
    store: api.store,
    writeArtefact: () => Promise.reject(new Error('no file is made')),
    children: 1,
    threads: 1,
    workingMemoryBytes: 256 * MEGABYTE,
    logger: log,
  });
  await announceInstalledEndpoints(api.orm.em.fork(), backend.installedEndpoints(), []);
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
  customer = await createCustomer(api.orm);
});
afterEach(() => {
  lines.length = 0;
});
afterAll(async () => {
  await workers.stop();
  await backend.close();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
});

/** Three attempts take longer than a request may wait. */
async function settle(width: number) {
  const image = await sharp({ create: { width, height: 9, channels: 3, background: '#777777' } })
    .png()
    .toBuffer();
  const { id } = (await read(api, { key: customer.keys.live, image })).job;
  let job = await jobOf(id);
  await until(async () => {
    job = await jobOf(id);
    return job.status === 'succeeded' || job.status === 'failed';
  }, 240_000);
  return job;
}

async function jobOf(id: string) {
  return (await api.call(`/v1/jobs/${id}`, { key: customer.keys.live })).job;
}

it.each([
  // Where the machine is slow, the last attempt may find that no process is ready yet.
  { poison: 'ends its process', width: ENDING, code: /^(?:model_inference_failed|inference_timeout)$/ },
  { poison: 'occupies its process for good', width: OCCUPYING, code: /^inference_timeout$/ },
  { poison: 'takes all memory', width: HOARDING, code: /^(?:model_inference_failed|inference_timeout)$/ },
])(
  'a picture that $poison fails its job after three attempts, uncharged',
  async ({ width, code }) => {
    const before = await readAccount(api.orm, customer.organizationId, true);
    const job = await settle(width);
    expect(job).toMatchObject({ status: 'failed', result: null, credits: { charged: 0 } });
    expect(job.error?.code).toMatch(code);
    expect(await transfersOf(api.orm, job.id)).toEqual([
      ['hold', job.credits.reserved],
      ['release', job.credits.reserved],
    ]);
    expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(before);
    // The worker lives, and so does its next process.
    expect(await settle(40)).toMatchObject({ status: 'succeeded', result: { odometer: null } });
    const replaced = lines.filter(({ message }) => message === 'an inference child process ended; it is replaced');
    expect(replaced.length).toBeGreaterThanOrEqual(1);
    expect(replaced.length).toBeLessThanOrEqual(3);
  },
  480_000,
);
