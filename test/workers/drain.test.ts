/** Each process gets SIGTERM with work in hand: nothing is lost, repeated or charged twice. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SLOW_PARAMETER } from '../../bench/processes/no-op-backend.ts';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { startRunJob } from '../../src/jobs/job-starter.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { createSteeredBackend } from '../support/backends.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, installEndpoints, readJob } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { type TestProcess, useProcesses } from '../support/processes.ts';
import { DASHBOARD_READ, form } from '../support/requests.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { inferenceWorker, startTestWorkers } from '../support/workers.ts';

/** The real inference worker with a model that takes 200 ms and one job at a time. */
const INFERENCE_WORKER = 'bench/processes/no-op-inference-worker.ts';
const ENDPOINT = endpointBySlug('dashboard.read');
/** More than two workers can hold, so some wait in the queue when one of them stops. */
const MANY_JOBS = 80;
/** `ACTIVITIES_PER_PROCESS` of an inference worker with one child process. */
const JOBS_IN_HAND = 16;
const STOPPED = { code: 0, signal: null };

const processes = useProcesses();
let database: TestDatabase;
let namespace: TestNamespace;
let orm: MikroORM;
let client: Client;
let customer: Customer;
let receiver: WebhookReceiver;
let apiPort: number;
let environment: Record<string, string>;
let orchestration: TestProcess;
/** The inference worker for tests that stop another process. */
let inference: TestProcess | null = null;

beforeAll(async () => {
  [database, namespace, receiver, apiPort] = await Promise.all([
    createTestDatabase(),
    createTestNamespace(),
    startWebhookReceiver(),
    findFreePort(),
  ]);
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  client = openTemporalClient(namespace);
  customer = await createCustomer(orm, { live: 100_000 });
  await installEndpoints(orm);
  environment = {
    SERVICE_ENVIRONMENT: 'development',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: namespace.address,
    TEMPORAL_NAMESPACE: namespace.namespace,
    STORAGE_DIRECTORY: mkdtempSync(join(tmpdir(), 'storage-')),
    API_HOST: '127.0.0.1',
    API_PORT: String(apiPort),
    PUBLIC_BASE_URL: `http://127.0.0.1:${apiPort}`,
    SECRET_SEALING_KEYS: 'sealing key of the tests',
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
  };
  orchestration = await start('src/workers/orchestration.ts');
}, 120_000);
afterAll(async () => {
  await client.connection.close();
  await receiver.close();
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
});

function start(entry: string): Promise<TestProcess> {
  const ready = { line: (line: string) => /"msg":"(?:worker|api) ready"/.test(line) };
  return processes.start({ entry, environment, ready, readyTimeoutMs: 90_000 });
}

async function ensureInference(): Promise<void> {
  if (inference === null) inference = await start(INFERENCE_WORKER);
}

/** Sends SIGTERM, and returns when the process has received it. */
async function tellToStop(process: TestProcess): Promise<void> {
  process.signal('SIGTERM');
  await process.waitForLine((line) => line.includes('"msg":"stopping"'), 30_000);
}

async function submit(count: number, parameters: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let job = 0; job < count; job += 1) {
    const id = await admit(orm, customer, { livemode: true, apiKeyId: customer.keyIds.live, parameters });
    await startRunJob(client, await readJob(orm, id), ENDPOINT);
    ids.push(id);
  }
  return ids;
}

async function countJobs(status: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    orm.em.fork(),
    'select count(*)::integer as count from jobs where status = $1',
    [status],
  );
  return row?.count ?? 0;
}

async function expectChargedOnce(ids: readonly string[]): Promise<void> {
  await until(async () => (await countJobs('queued')) + (await countJobs('processing')) === 0, 90_000);
  for (const id of ids) {
    const { status, chargedCredits } = await readJob(orm, id);
    expect({ id, status, chargedCredits }).toEqual({ id, status: 'succeeded', chargedCredits: 20 });
  }
  await expectLedgerToBalance(database.url);
}

/** The worker and attempt that completed a job's inference, and the failure of the attempt before. */
async function inferenceOf(id: string) {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const [started] = (events ?? []).flatMap(({ activityTaskStartedEventAttributes }) =>
    activityTaskStartedEventAttributes ? [activityTaskStartedEventAttributes] : [],
  );
  return {
    worker: started?.identity ?? '',
    attempt: started?.attempt,
    failedBefore: started?.lastFailure?.applicationFailureInfo?.type ?? null,
  };
}

describe('an inference worker that stops', () => {
  it('a stopping inference worker cancels jobs that outlast its grace, and another runs them with no heartbeat missed', async () => {
    const backend = createSteeredBackend();
    const worker = { ...inferenceWorker(orm, backend), shutdownGraceTime: '100 milliseconds' as const };
    const leaving = await startTestWorkers(namespace, [worker]);
    const [id = ''] = await submit(1);
    const { signal } = await backend.next();
    const staying = await startTestWorkers(namespace, [worker]);
    await leaving.stop();
    expect(signal.aborted).toBe(true);
    (await backend.next()).finish();
    await expectChargedOnce([id]);
    await staying.stop();
    expect(await inferenceOf(id)).toMatchObject({ attempt: 2, failedBefore: 'WorkerShutdown' });
  });

  it('a stopping inference worker takes no more jobs, finishes its own, and leaves the rest to another: each runs once', async () => {
    const ids = await submit(MANY_JOBS, { [SLOW_PARAMETER]: false });
    const [leaving, staying] = await Promise.all([start(INFERENCE_WORKER), start(INFERENCE_WORKER)]);
    // More than one worker can hold, so both have some.
    await until(async () => (await countJobs('processing')) > JOBS_IN_HAND, 60_000);
    inference = staying;
    await tellToStop(leaving);
    expect(await leaving.exited).toEqual(STOPPED);
    expect(await countJobs('queued')).toBeGreaterThan(0);
    await expectChargedOnce(ids);

    const inferences = await Promise.all(ids.map(inferenceOf));
    expect(inferences.map(({ attempt }) => attempt)).toEqual(ids.map(() => 1));
    const workers = new Set(inferences.map(({ worker }) => Number(worker.split('@')[0])));
    expect(workers).toEqual(new Set([leaving.pid, staying.pid]));
  }, 180_000);
});

it('a stopping orchestration worker leaves its jobs to another: each ends and is charged once', async () => {
  await ensureInference();
  const leaving = orchestration;
  orchestration = await start('src/workers/orchestration.ts');
  const ids = await submit(MANY_JOBS / 2, { [SLOW_PARAMETER]: false });
  const endedBefore = await countJobs('succeeded');
  await until(async () => (await countJobs('succeeded')) > endedBefore, 60_000);
  await tellToStop(leaving);
  expect(await leaving.exited).toEqual(STOPPED);
  await expectChargedOnce(ids);
}, 180_000);

it('a stopping webhook worker finishes and records its attempt: the event arrives once', async () => {
  await ensureInference();
  const answered = Promise.withResolvers<void>();
  receiver.answerWith((response) => void answered.promise.then(() => response.writeHead(200).end()));
  await createWebhookEndpoint(orm, customer.organizationId, { url: receiver.url, livemode: true });
  const worker = await start('src/workers/webhooks.ts');
  const [id = ''] = await submit(1);
  await receiver.waitFor(({ rawBody }) => rawBody.includes(id), 60_000);
  await tellToStop(worker);
  answered.resolve();
  expect(await worker.exited).toEqual(STOPPED);
  expect(
    await query(
      orm.em.fork(),
      `select status, count(attempt)::integer as attempts from webhook_deliveries
       join events on events.id = event_id left join webhook_attempts on delivery_id = webhook_deliveries.id
       where events.job_id = $1 group by status`,
      [id],
    ),
  ).toEqual([{ status: 'delivered', attempts: 1 }]);
  expect(receiver.deliveries.filter(({ rawBody }) => rawBody.includes(id))).toHaveLength(1);
}, 180_000);

it('a stopping API completes the current request, closes its connection and accepts no other', async () => {
  await ensureInference();
  const api = await start('src/api/main.ts');
  // The request waits behind these, which take 200 ms each, one after another.
  const ahead = await submit(JOBS_IN_HAND, { [SLOW_PARAMETER]: false });
  const answer = readWaiting('under-way');
  await until(() => hasJobOf('under-way'), 60_000);
  await tellToStop(api);
  await expect(readWaiting('too-late')).rejects.toThrow(TypeError);
  const response = await answer;
  expect({ status: response.status, connection: response.headers.get('connection') }).toEqual({
    status: 200,
    connection: 'close',
  });
  expect(await response.json()).toMatchObject({ status: 'succeeded', credits: { charged: 20 } });
  expect(await api.exited).toEqual(STOPPED);
  expect(await hasJobOf('too-late')).toBe(false);
  await expectChargedOnce(ahead);
}, 180_000);

/** Posts a picture over HTTP and waits for the job's end. */
function readWaiting(idempotencyKey: string): Promise<Response> {
  return fetch(`${environment.PUBLIC_BASE_URL}${DASHBOARD_READ}?wait=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.keys.live}`, 'idempotency-key': idempotencyKey },
    body: form({ fields: { [SLOW_PARAMETER]: 'false' } }),
  });
}

async function hasJobOf(idempotencyKey: string): Promise<boolean> {
  return (await query(orm.em.fork(), 'select from jobs where idempotency_key = $1', [idempotencyKey])).length > 0;
}
