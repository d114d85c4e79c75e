/** Several releases of a model side by side: the newest serves, any other can be pinned, and each job names its release. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tireDetect } from '../../src/endpoints/tire.detect/contract.ts';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { AnnouncedModels } from '../../src/workers/announced-models.ts';
import { installModel, manifestOfGuide, paint } from '../inference/support/exported-models.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const FIRST = 'my-tires@2026-12-01';
const SECOND = 'my-tires@2026-12-24';

let modelsDirectory: string;
let api: TestApi;
let backend: Backend;
let models: AnnouncedModels;
let workers: TestWorkers;
let customer: Customer;

beforeAll(async () => {
  modelsDirectory = await mkdtemp(join(tmpdir(), 'pinned-release-'));
  installModel(modelsDirectory, manifestOfGuide(), 'yolo-detection');
  api = await startTestApi();
  backend = await createBackend({
    modelsDirectory,
    // On a machine that is busy with other tests.
    patienceMs: 150_000,
    store: api.store,
    writeArtefact: () => Promise.reject(new Error('tire.detect makes no file')),
    children: 1,
    threads: 1,
    logger: api.log.logger,
    endpoints: [tireDetect],
  });
  models = new AnnouncedModels({ orm: api.orm, backend, endpoints: ['tire.detect'], logger: api.log.logger });
  await models.announce();
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
  customer = await createCustomer(api.orm);
});
afterAll(async () => {
  await workers.stop();
  await backend.close();
  await api.close();
  await rm(modelsDirectory, { recursive: true });
});

async function send(headers: Record<string, string> = {}) {
  const body = new FormData();
  body.append('image', new Blob([new Uint8Array(await paint([]))], { type: 'image/png' }), 'picture.png');
  const path = '/v1/tire/detect?wait=true';
  const answer = await api.call(path, { method: 'POST', key: customer.keys.live, headers, body });
  return answer as { status: number; json: { model_version?: string; status?: string; error?: { code: string } } };
}

it('the newest installed release serves, even when installed at run time; a pinned one serves on request', async () => {
  expect((await send()).json).toMatchObject({ status: 'succeeded', model_version: FIRST });
  expect((await send({ 'Model-Version': SECOND })).json.error?.code).toBe('model_version_not_installed');

  installModel(modelsDirectory, { ...manifestOfGuide(), release: '2026-12-24' }, 'yolo-detection');
  await models.reload({ now: true });
  expect((await send()).json).toMatchObject({ status: 'succeeded', model_version: SECOND });
  expect((await send({ 'Model-Version': FIRST })).json).toMatchObject({ status: 'succeeded', model_version: FIRST });
  expect((await send({ 'Model-Version': SECOND })).json).toMatchObject({ status: 'succeeded', model_version: SECOND });
  const { json } = await api.call('/v1/endpoints', { key: customer.keys.live });
  const listed = (json as { data: { endpoint: string; model_version: string }[] }).data;
  expect(listed.find(({ endpoint }) => endpoint === 'tire.detect')?.model_version).toBe(SECOND);
});

it('a removed release is refused before credits are held', async () => {
  await rm(join(modelsDirectory, 'my-tires', '2026-12-01'), { recursive: true });
  await models.reload();
  const before = await readAccount(api.orm, customer.organizationId, true);
  expect((await send({ 'Model-Version': FIRST })).json.error?.code).toBe('model_version_not_installed');
  expect(await readAccount(api.orm, customer.organizationId, true)).toEqual(before);
});
