/** The guide `docs/models.md`, followed: a model is dropped in, and an endpoint that refused requests now serves them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { installModel, manifestOfGuide, paint } from '../inference/support/exported-models.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const modelsDirectory = mkdtempSync(join(tmpdir(), 'run-installed-model-'));
let api: TestApi;
let customer: Customer;
let backend: Backend | undefined;
let workers: TestWorkers | undefined;

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
});
afterAll(async () => {
  await workers?.stop();
  await backend?.close();
  await expectLedgerToBalance(api.databaseUrl);
  await api.close();
  rmSync(modelsDirectory, { recursive: true });
});

async function send(headers: Record<string, string> = {}) {
  const body = new FormData();
  const picture = await paint([{ colour: '#ff0000', x: 32, y: 32, width: 16, height: 16 }]);
  body.append('image', new Blob([new Uint8Array(picture)], { type: 'image/png' }), 'picture.png');
  return api.call('/v1/tire/detect?wait=true', { method: 'POST', key: customer.keys.live, body, headers });
}

it('an endpoint without a model refuses requests', async () => {
  const { status, json } = await send();
  expect(status).toBe(503);
  expect(json).toMatchObject({ error: { code: 'endpoint_unavailable' } });
});

it('an endpoint accepts requests once the guide’s folder is installed', async () => {
  installModel(modelsDirectory, manifestOfGuide(), 'yolo-detection');
  backend = await createBackend({
    modelsDirectory,
    // On a machine that is busy with other tests.
    patienceMs: 150_000,
    store: api.store,
    writeArtefact: () => Promise.reject(new Error('tire.detect makes no file')),
    children: 1,
    threads: 1,
    logger: api.log.logger,
  });
  await announceInstalledEndpoints(api.orm.em.fork(), backend.installedEndpoints(), []);
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(api.orm),
    ...inferenceWorkers(api.orm, backend),
  ]);
  const { status, json } = await send({ 'Model-Version': 'my-tires@2026-12-01' });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    status: 'succeeded',
    livemode: true,
    model_version: 'my-tires@2026-12-01',
    credits: { reserved: 30, charged: 30 },
    result: { tires: [{ id: 'tire_1', bbox: { x: 28, y: 28, width: 24, height: 24 }, tread: null }], wheels: [] },
  });
});

it('the list of endpoints shows an installed model', async () => {
  const { json } = await api.call('/v1/endpoints', { key: customer.keys.live });
  expect((json as { data: { endpoint: string }[] }).data).toContainEqual(
    expect.objectContaining({ endpoint: 'tire.detect', available: true, model_version: 'my-tires@2026-12-01' }),
  );
});
