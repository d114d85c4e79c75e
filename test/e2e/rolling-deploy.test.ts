/**
 * A rolling deploy of the workflow workers while jobs go through: two builds side by side, the newer one made current,
 * the older one taken away. Nothing is lost, nothing is charged twice, and each job stays with the build that began it.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, isGrpcDeadlineError, isGrpcServiceError } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { startRunJob } from '../../src/jobs/job-starter.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { createSteeredBackend, type RunningInference, type SteeredBackend } from '../support/backends.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, readJob } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { type TestProcess, useProcesses } from '../support/processes.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { inferenceWorkers, startTestWorkers, type TestWorkers } from '../support/workers.ts';

const DEPLOYMENT = 'vehicle-inference';
const KINDS = ['orchestration', 'webhooks'] as const;
const JOBS_BETWEEN_STEPS = 15;
const HELD_JOBS = 5;
const CUSTOMERS = 3;
/** A time-out means a hang. */
const PATIENCE_MS = 240_000;
/** gRPC: NOT_FOUND and FAILED_PRECONDITION, while Temporal has not seen all workers of a build. */
const NOT_YET: ReadonlySet<number> = new Set([5, 9]);
/** temporal.api.enums.v1.VersioningBehavior */
const AUTO_UPGRADE = 2;

const processes = useProcesses();
let database: TestDatabase;
let namespace: TestNamespace;
let client: Client;
let orm: MikroORM;
let customer: Customer;
let receiver: WebhookReceiver;
let backend: SteeredBackend;
let inference: TestWorkers;

beforeAll(async () => {
  database = await createTestDatabase();
  namespace = await createTestNamespace();
  client = openTemporalClient(namespace);
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  customer = await createCustomer(orm, { test: 1_000_000 });
  receiver = await startWebhookReceiver();
  await createWebhookEndpoint(orm, customer.organizationId, { url: receiver.url });
  backend = createSteeredBackend();
  // Inference workers belong to no build: an attempt is repeated elsewhere without harm.
  inference = await startTestWorkers(namespace, [...inferenceWorkers(orm, backend)]);
});
afterAll(async () => {
  await inference.stop();
  await client.connection.close();
  await receiver.close();
  await orm.close();
  await database.drop();
});

/** A worker of each kind that has workflows, as `docs/operations.md` has them deployed. */
async function startBuild(buildId: string): Promise<TestProcess[]> {
  const environment = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: namespace.address,
    TEMPORAL_NAMESPACE: namespace.namespace,
    TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT,
    TEMPORAL_BUILD_ID: buildId,
    SERVICE_ENVIRONMENT: 'development',
    STORAGE_DIRECTORY: mkdtempSync(join(tmpdir(), 'storage-')),
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    SECRET_SEALING_KEYS: 'sealing key of the tests',
  };
  const ready = { line: (line: string) => line.includes('"worker ready"') };
  return Promise.all(KINDS.map((kind) => processes.start({ entry: `src/workers/${kind}.ts`, environment, ready })));
}

async function makeCurrent(buildId: string): Promise<void> {
  for (const kind of KINDS) {
    const request = { namespace: namespace.namespace, deploymentName: `${DEPLOYMENT}-${kind}`, buildId };
    await until(async () => {
      try {
        await client.workflowService.setWorkerDeploymentCurrentVersion(request);
        return true;
      } catch (error) {
        if (isGrpcServiceError(error) && NOT_YET.has(error.code)) return false;
        throw error;
      }
    }, PATIENCE_MS);
  }
}

async function begin(id: string): Promise<void> {
  const job = await readJob(orm, id);
  await until(async () => {
    try {
      await startRunJob(client, job, endpointBySlug('dashboard.read'));
      return true;
    } catch (error) {
      // A busy machine took longer than a start may take. It is safe to repeat.
      if (isGrpcDeadlineError(error)) return false;
      throw error;
    }
  }, PATIENCE_MS);
}

async function submit(): Promise<string> {
  const id = await admit(orm, customer);
  await begin(id);
  return id;
}

const hasEnded = async (ids: readonly string[]) => {
  const [row] = await query<{ open: number }>(
    orm.em.fork(),
    'select count(*)::integer as open from jobs where id = any ($1) and completed_at is null',
    [ids],
  );
  return row?.open === 0;
};

async function versioningOf(workflowId: string) {
  const { workflowExecutionInfo } = (await client.workflow.getHandle(workflowId).describe()).raw;
  const info = workflowExecutionInfo?.versioningInfo;
  return { buildId: info?.deploymentVersion?.buildId, behavior: info?.behavior };
}

it('a job stays with the build that began it, a delivery moves on, and nothing is lost or charged twice', async () => {
  const heldIds = new Set<string>();
  const held = new Map<string, RunningInference>();
  void (async () => {
    for (;;) {
      const inference = await backend.next();
      if (heldIds.has(inference.request.jobId)) held.set(inference.request.jobId, inference);
      else inference.finish();
    }
  })();

  const older = await startBuild('older');
  await makeCurrent('older');

  // Its receiver refuses the event of this job, so its delivery outlasts the deploy.
  const refused = await submit();
  receiver.answerWith((response, { rawBody }) => response.writeHead(rawBody.includes(refused) ? 500 : 200).end());
  await receiver.waitFor(({ rawBody }) => rawBody.includes(refused), PATIENCE_MS);

  // These run while the builds change.
  const admitted = [refused];
  for (let count = 0; count < HELD_JOBS; count += 1) {
    const id = await admit(orm, customer);
    heldIds.add(id);
    admitted.push(id);
    await begin(id);
  }
  await until(() => held.size === HELD_JOBS, PATIENCE_MS);

  let isLoading = true;
  const load = Array.from({ length: CUSTOMERS }, async () => {
    while (isLoading) {
      const id = await submit();
      admitted.push(id);
      // A slow machine gets fewer jobs, not a queue of them.
      await client.workflow.getHandle(id).result();
    }
  });
  const moreJobs = async () => {
    const enough = admitted.length + JOBS_BETWEEN_STEPS;
    await until(() => admitted.length >= enough, PATIENCE_MS);
    return enough;
  };

  await moreJobs();
  await startBuild('newer');
  await makeCurrent('newer');
  const begunBefore = admitted.slice();
  await moreJobs();
  for (const inference of held.values()) inference.finish();
  await until(() => hasEnded(begunBefore), PATIENCE_MS);

  // What the older build began has ended, so it may go.
  expect(await Promise.all(older.map((process) => process.stop()))).toEqual(
    KINDS.map(() => ({ code: 0, signal: null })),
  );
  const begunWithoutOlder = await moreJobs();
  await moreJobs();
  isLoading = false;
  await Promise.all(load);
  await until(() => hasEnded(admitted), PATIENCE_MS);

  for (const id of admitted) {
    const { status, chargedCredits } = await readJob(orm, id);
    expect({ id, status, chargedCredits }).toEqual({ id, status: 'succeeded', chargedCredits: 20 });
  }
  await expectLedgerToBalance(database.url);
  for (const id of heldIds) expect(await versioningOf(id)).toMatchObject({ buildId: 'older' });
  for (const id of admitted.slice(begunWithoutOlder))
    expect(await versioningOf(id)).toMatchObject({ buildId: 'newer' });
  for (const id of admitted) await receiver.waitFor(({ rawBody }) => rawBody.includes(id), PATIENCE_MS);

  // The newer build replayed the delivery that began under the older one, and answers its query.
  const [delivery] = await query<{ id: string; status: string }>(
    orm.em.fork(),
    `select webhook_deliveries.id, webhook_deliveries.status from webhook_deliveries
     join events on events.id = webhook_deliveries.event_id where events.job_id = $1`,
    [refused],
  );
  expect(delivery?.status).toBe('pending');
  const handle = client.workflow.getHandle(delivery?.id ?? '');
  expect(await handle.query('status')).toMatchObject({ attempts: expect.any(Number) });
  expect(await versioningOf(delivery?.id ?? '')).toMatchObject({ behavior: AUTO_UPGRADE });
});
