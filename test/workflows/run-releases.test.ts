/** An operator tries a second release of a real model, by the command and without a restart: in the shadow, then for all jobs. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createShadowActivities } from '../../src/activities/shadow-activities.ts';
import { shadowWorkflowId } from '../../src/contracts/shadow-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { tireDetect } from '../../src/endpoints/tire.detect/contract.ts';
import { type Backend, createBackend } from '../../src/inference/backends/create-backend.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { readChoices } from '../../src/releases/release-choices-store.ts';
import { AnnouncedModels } from '../../src/workers/announced-models.ts';
import { installModel, manifestOfGuide, paint } from '../inference/support/exported-models.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const FIRST = 'my-tires@2026-12-01';
const SECOND = 'my-tires@2026-12-24';
const ENDPOINT = 'tire.detect';

const metrics = createMetrics();
let modelsDirectory: string;
let api: TestApi;
let backend: Backend;
let models: AnnouncedModels;
let workers: TestWorkers;
let customer: Customer;

beforeAll(async () => {
  modelsDirectory = await mkdtemp(join(tmpdir(), 'releases-'));
  installModel(modelsDirectory, manifestOfGuide(), 'yolo-detection');
  api = await startTestApi();
  backend = await createBackend({
    modelsDirectory,
    readChoices: () => readChoices(api.orm.em.fork()),
    // On a machine that is busy with other tests.
    patienceMs: 150_000,
    store: api.store,
    writeArtefact: () => Promise.reject(new Error('tire.detect makes no file')),
    children: 1,
    threads: 1,
    logger: api.log.logger,
    endpoints: [tireDetect],
  });
  models = new AnnouncedModels({ orm: api.orm, backend, endpoints: [ENDPOINT], logger: api.log.logger });
  await models.announce();
  const { orm, store } = api;
  workers = await startTestWorkers(api.temporal, [
    await orchestrationWorker(orm),
    ...inferenceWorkers(orm, backend),
    {
      taskQueue: TASK_QUEUES.inferenceShadow,
      activities: createShadowActivities({ orm, backend, store, onRecorded: (run) => metrics.shadowEnded(run) }),
    },
  ]);
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await workers.stop();
  await backend.close();
  await api.close();
  await rm(modelsDirectory, { recursive: true });
});

/** The command as an operator runs it; workers look a moment later. */
async function releases(...words: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/releases/releases-main.ts', ...words], {
    cwd: PROJECT_DIRECTORY,
    env: { DATABASE_URL: api.databaseUrl },
  });
  await models.reload({ now: true });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function send(headers: Record<string, string> = {}): Promise<JobResource> {
  const picture = await paint([{ colour: '#ff0000', x: 32, y: 32, width: 16, height: 16 }]);
  const body = new FormData();
  body.append('image', new Blob([new Uint8Array(picture)], { type: 'image/png' }), 'picture.png');
  const path = '/v1/tire/detect?wait=true';
  return (await api.call(path, { method: 'POST', key: customer.keys.live, headers, body })).job;
}

const choiceOf = async () => (await releases('show', ENDPOINT)).choice;

it.each([
  [['shadow', ENDPOINT, FIRST, '--share', '10'], `${FIRST} serves ${ENDPOINT} already`],
  [['shadow', ENDPOINT, SECOND, '--share', '0'], '--share must be a whole number of percent'],
  [['canary', 'vehicle.analyze', SECOND, '--share', '10'], 'runs no model of its own'],
  [['shadow', 'vin.read', SECOND, '--share', '10'], 'no worker serves it'],
  [['promote', ENDPOINT], 'No release of tire.detect is tried'],
  [['rollback', ENDPOINT], 'none was promoted'],
  [['newest', ENDPOINT], 'serves already'],
  [['show', 'no.endpoint'], 'There is no endpoint'],
])('the releases command refuses %j and says why', async (words, reason) => {
  await expect(releases(...words)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
});

it('a release is tried in the shadow: customers get what they got, and the operator sees by field what would change', async () => {
  // Before its folder comes, which would serve at once.
  await releases('shadow', ENDPOINT, SECOND, '--share', '100');
  const [detector] = Object.values(manifestOfGuide().files);
  // It sees nothing of what the first is sure of.
  const blind = { ...detector, decoder: { ...(detector?.decoder as object), score: 0.999 } };
  installModel(
    modelsDirectory,
    { ...manifestOfGuide(), release: '2026-12-24', files: { detector: blind } },
    'yolo-detection',
  );
  await models.reload({ now: true });

  const before = await readAccount(api.orm, customer.organizationId, true);
  const job = await send();
  expect(job).toMatchObject({ status: 'succeeded', model_version: FIRST, result: { tires: [{ id: 'tire_1' }] } });
  const { workflow } = api.temporal.client;
  await workflow.getHandle(job.id).result();
  await workflow.getHandle(shadowWorkflowId(job.id)).result();
  const after = await readAccount(api.orm, customer.organizationId, true);
  expect(before.available - after.available).toBe(job.credits.charged);
  const seen = await api.call(`/v1/jobs/${job.id}`, { key: customer.keys.live });
  expect(seen.job).toEqual(job);

  const { shadow } = (await releases('show', ENDPOINT, '--field', 'tires')) as { shadow: Record<string, unknown> };
  expect(shadow).toMatchObject({ modelVersion: SECOND, runs: { compared: 1 } });
  expect(shadow.fields).toContainEqual({ field: 'tires', compared: 1, agreed: 0 });
  expect(shadow.fields).toContainEqual({ field: 'quality_issues', compared: 1, agreed: 1 });
  expect(shadow.examples).toEqual([
    {
      job: job.id,
      organization: customer.organizationId,
      field: 'tires',
      served: [expect.objectContaining({ id: 'tire_1' })],
      shadow: [],
    },
  ]);
  const exported = await metrics.registry.metrics();
  const labels = `endpoint="${ENDPOINT}",model="${SECOND}"`;
  expect(exported).toContain(`vehicle_inference_shadow_runs_total{${labels},outcome="compared"} 1`);
  expect(exported).toContain(`vehicle_inference_shadow_fields_total{${labels},field="tires",agrees="false"} 1`);
  expect(exported).toContain(`vehicle_inference_shadow_fields_total{${labels},field="tires",agrees="true"} 0`);

  expect((await send({ 'Model-Version': SECOND })).model_version).toBe(SECOND);
});

it('a release is promoted and rolled back, each by one command and without a restart', async () => {
  await releases('promote', ENDPOINT);
  expect(await send()).toMatchObject({ model_version: SECOND, result: { tires: [] } });
  await releases('rollback', ENDPOINT);
  expect((await send()).model_version).toBe(FIRST);
  expect(await choiceOf()).toEqual({ endpoint: ENDPOINT, serving: FIRST, previous: null, trial: null });
});

it('a canary runs the jobs of its share, and jobs that pin another release run on that one', async () => {
  await releases('canary', ENDPOINT, SECOND, '--share', '100');
  expect((await send()).model_version).toBe(SECOND);
  expect((await send({ 'Model-Version': FIRST })).model_version).toBe(FIRST);
  await releases('rollback', ENDPOINT);
  expect((await send()).model_version).toBe(FIRST);
});

it('the newest release serves once the choice is forgotten', async () => {
  await releases('newest', ENDPOINT);
  expect((await send()).model_version).toBe(SECOND);
  expect(await releases('list')).toEqual([{ endpoint: ENDPOINT, serving: SECOND, others: [FIRST], choice: null }]);
});

it('a release that no worker has is not promoted', async () => {
  await releases('shadow', ENDPOINT, 'my-tires@2027-01-01', '--share', '1');
  await expect(releases('promote', ENDPOINT)).rejects.toMatchObject({
    stderr: expect.stringContaining('no worker has it'),
  });
  await releases('newest', ENDPOINT);
});
