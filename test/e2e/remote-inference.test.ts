/**
 * Inference elsewhere with the service's own processes, configured by their environment: and nothing of a job that another
 * cluster runs lies in any of them.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { manifestOfGuide } from '../inference/support/exported-models.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { transfersOf } from '../support/jobs.ts';
import { type KserveTestServer, startKserveServer } from '../support/kserve-server.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { jpeg } from '../support/pictures.ts';
import { type TestProcess, useProcesses } from '../support/processes.ts';
import { filePart } from '../support/requests.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';

const CLUSTER_KEY = 'key of the cluster';
const SERVER_KEY = 'key of the server';
const processes = useProcesses();
const directory = mkdtempSync(join(tmpdir(), 'restarts-'));

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;
let environment: Record<string, string>;
let baseUrl: string;
let server: KserveTestServer;
let cluster: TestProcess;
let api: TestProcess;
let inference: TestProcess;

const isReady = { line: (line: string) => /"msg":"(?:worker|api) ready"/.test(line) };
const start = (entry: string): Promise<TestProcess> => processes.start({ entry, environment, ready: isReady });
const headers = () => ({ Authorization: `Bearer ${customer.keys.live}` });

function submit(path: string): Promise<Response> {
  const body = new FormData();
  body.append('image', filePart(jpeg), 'car.jpg');
  return fetch(baseUrl + path, { method: 'POST', headers: headers(), body });
}

beforeAll(async () => {
  const [namespace, apiPort] = [await createTestNamespace(), await findFreePort()];
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
  customer = await createCustomer(orm);
  baseUrl = `http://127.0.0.1:${apiPort}`;
  server = await startKserveServer();
  cluster = await processes.start({
    entry: 'docs/examples/remote-cluster.mjs',
    args: ['0'],
    environment: { CLUSTER_KEY, WORK_SECONDS: '3' },
    ready: { line: (line) => line.startsWith('listening on ') },
  });
  const [, clusterUrl] = /listening on (\S+)/.exec(cluster.lines.join('\n')) ?? [];
  environment = {
    SERVICE_ENVIRONMENT: 'development',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: namespace.address,
    TEMPORAL_NAMESPACE: namespace.namespace,
    STORAGE_DIRECTORY: join(directory, 'storage'),
    MODELS_DIRECTORY: join(directory, 'models'),
    API_HOST: '127.0.0.1',
    API_PORT: String(apiPort),
    PUBLIC_BASE_URL: baseUrl,
    KSERVE_SERVERS: JSON.stringify([
      { name: 'far', url: server.url, headers: { Authorization: `Bearer ${SERVER_KEY}` } },
    ]),
    REMOTE_ENDPOINTS: JSON.stringify([
      {
        endpoint: 'render.background',
        modelVersion: 'far-cutter@2026-11-02',
        url: `${clusterUrl}/dispatches`,
        headers: { Authorization: `Bearer ${CLUSTER_KEY}` },
        // The API is away for as long as a busy machine takes to start it.
        heartbeatTimeoutSeconds: 120,
      },
    ]),
  };
});
afterAll(async () => {
  await server.close();
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

it('npm run worker:inference asks a KServe server for the network of a model', async () => {
  const { files, ...manifest } = manifestOfGuide();
  const { path: _path, sha256: _sha256, ...detector } = files.detector;
  const folder = join(environment.MODELS_DIRECTORY ?? '', manifest.model, manifest.release);
  mkdirSync(folder, { recursive: true });
  const kserve = { server: 'far', model: 'tiny', version: '7' };
  writeFileSync(
    join(folder, 'model.json'),
    JSON.stringify({ ...manifest, files: { detector: { ...detector, kserve } } }),
  );
  server.metadata = {};
  server.onInfer = (response) => {
    const outputs = [{ name: 'output0', datatype: 'FP32', shape: [1, 7, 64], data: Array<number>(7 * 64).fill(0) }];
    response.writeHead(200).end(JSON.stringify({ outputs }));
  };
  await start('src/workers/orchestration.ts');
  [api, inference] = [await start('src/api/main.ts'), await start('src/workers/inference.ts')];
  const answer = await submit('/v1/tire/detect?wait=true');
  expect(await answer.json()).toMatchObject({
    status: 'succeeded',
    model_version: 'my-tires@2026-12-01',
    result: { tires: [] },
  });
  expect(server.requests.at(-1)).toMatchObject({
    path: '/v2/models/tiny/versions/7/infer',
    headers: { authorization: `Bearer ${SERVER_KEY}` },
  });
});

it('a job in another cluster outlives the worker that sent it, killed, and the API that it calls back, killed and started again', async () => {
  const submitted = await submit('/v1/render/background');
  expect(submitted.status).toBe(202);
  const { id } = (await submitted.json()) as JobResource;

  const isBegun = (line: string) => line.endsWith(' began, attempt 1');
  await cluster.waitForLine(isBegun, 300_000);
  await inference.kill();
  await api.kill();
  await start('src/api/main.ts');

  let job: JobResource | undefined;
  await until(async () => {
    const answer = await fetch(`${baseUrl}/v1/jobs/${id}`, { headers: headers() });
    job = (await answer.json()) as JobResource;
    return job.status !== 'processing';
  }, 300_000);
  expect(job).toMatchObject({
    status: 'succeeded',
    model_version: 'far-cutter@2026-11-02',
    result: { composite: { media_type: 'image/png' } },
  });
  expect(cluster.lines.filter((line) => line.includes(' began'))).toHaveLength(1);
  expect(await transfersOf(orm, id)).toEqual([
    ['hold', 100],
    ['capture', 100],
  ]);
});
