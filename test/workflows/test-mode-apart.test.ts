/** Jobs of test mode cost nothing, so nobody who pays may have to wait for them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createSteeredBackend, type RunningInference } from '../support/backends.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { installEndpoints } from '../support/jobs.ts';
import { read } from '../support/requests.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const SLOTS = 2;
const backend = createSteeredBackend();
let api: TestApi;
let customer: Customer;
let workers: TestWorkers;

beforeAll(async () => {
  api = await startTestApi();
  await installEndpoints(api.orm);
  customer = await createCustomer(api.orm);
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend).map((worker) => ({ ...worker, maxConcurrentActivityTaskExecutions: SLOTS })),
  ]);
});
afterAll(async () => {
  await workers.stop();
  await api.close();
});

it('a live job runs while more test jobs hang than a worker takes at once', async () => {
  const hanging: RunningInference[] = [];
  for (let job = 0; job < 2 * SLOTS; job += 1) await read(api, { key: customer.keys.test });
  for (let slot = 0; slot < SLOTS; slot += 1) hanging.push(await backend.next());
  const live = read(api, { key: customer.keys.live, query: '?wait=true' });
  const running = await backend.next();
  expect(running.request.livemode).toBe(true);
  running.finish();
  expect(await live).toMatchObject({ status: 200, job: { status: 'succeeded', livemode: true } });
  for (const inference of hanging) inference.finish();
  for (let job = 0; job < SLOTS; job += 1) (await backend.next()).finish();
});
