/** `npm start` as a person uses it, and as a machine mistreats it. */
import { existsSync, mkdtempSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { openDatabase } from '../../src/database.ts';
import { identifyProcess, isRunning, type ProcessIdentity } from '../../src/embedded/process-identity.ts';
import { createDevelopmentWebhookEndpoint } from '../../src/embedded/seed.ts';
import { readSealingKeys } from '../../src/platform/config/config.ts';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { useProcesses } from '../support/processes.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import {
  ANY_PORTS,
  admitJob,
  isPickedUp,
  isTerminal,
  type Job,
  OWN_TEMPORAL,
  type RunningService,
  readJob,
  recordedProcesses,
  startWholeService,
  waitForJob,
} from './service-client.ts';

const processes = useProcesses();
const JOBS_AT_ONCE = 6;
/** A delivery lost with its worker is made again once Temporal misses the worker. */
const WEBHOOK_TIMEOUT_MS = 300_000;

function newDataDirectory(): string {
  return join(mkdtempSync(join(tmpdir(), 'whole-service-')), 'data');
}

/** A start from nothing takes seconds of CPU time, so each test continues with what the previous one left running. */
let leftRunning: RunningService | null = null;

async function takeService(): Promise<RunningService> {
  const taken = leftRunning ?? (await startWholeService(processes, newDataDirectory(), OWN_TEMPORAL));
  leftRunning = null;
  return taken;
}

describe('a service that runs', () => {
  let service: RunningService;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    service = await takeService();
    receiver = await startWebhookReceiver();
    const { databaseUrl, organizationId } = service.description;
    const sealedSecrets = createSealedSecrets(readSealingKeys());
    const endpoint = { organizationId, url: receiver.url, livemode: true, sealedSecrets };
    await createDevelopmentWebhookEndpoint(databaseUrl, endpoint);
  });
  afterAll(async () => {
    leftRunning = service;
    await receiver.close();
  });

  it('the service reads a picture for a live key, responds within the request and charges once', async () => {
    const job = await admitJob(service, { wait: true });
    expect(job).toMatchObject({ status: 'succeeded', credits: { reserved: 20, charged: 20 } });
    await expectChargedOnce(service, [job]);
  });

  it('npm start shows addresses, keys and a call that can be pasted', () => {
    const shown = service.process.lines.join('\n');
    const { apiUrl, temporalWebUrl, keys } = service.description;
    for (const fact of [apiUrl, temporalWebUrl, keys.live, keys.staging, keys.test]) expect(shown).toContain(fact);
    expect(shown).toMatch(/curl -sS .*\n.*Bearer chk_live_.*\n.*-F 'image=@.*training\/examples\/.*\.jpg'/);
  });

  it('the service keeps its secrets from other users of the machine', () => {
    for (const name of ['keys.json', 'service.json', 'postgres-password', 'secrets.json', 'identity-provider.json']) {
      expect(statSync(join(service.dataDirectory, name)).mode & 0o077).toBe(0);
    }
  });

  it('Temporal Web lists the workflow of a job', async () => {
    const { id } = await admitJob(service);
    await waitForJob(service, id, isTerminal);
    const { temporalWebUrl, temporalNamespace } = service.description;
    const answer = await fetch(`${temporalWebUrl}/api/v1/namespaces/${temporalNamespace}/workflows/${id}`);
    expect(answer.status).toBe(200);
  });

  it('a second start on the same data is refused, naming the process', async () => {
    const second = await processes.start({
      entry: 'src/embedded/main.ts',
      environment: { ...ANY_PORTS, DATA_DIRECTORY: service.dataDirectory },
    });
    expect((await second.exited).code).toBe(1);
    expect(second.lines.join('\n')).toContain(`process ${service.process.pid}`);
  });

  it.each([
    ['API', isAdmitted],
    ['Orchestration worker', isAdmitted],
    ['Inference worker', isPickedUp],
    ['Webhook worker', isPickedUp],
    ['Temporal', isAdmitted],
    ['PostgreSQL', isAdmitted],
  ])('after kill -9 of %s in mid-job each job ends, is charged once and its webhook arrives', async (name, reached) => {
    const admissions = Array.from({ length: JOBS_AT_ONCE }, () => admitJob(service));
    const first = await Promise.race(admissions);
    await waitForJob(service, first.id, reached);
    const pid = recordedProcesses(service.dataDirectory).get(name) as number;
    process.kill(pid, 'SIGKILL');
    const admitted = await Promise.all(admissions);
    const jobs = await Promise.all(admitted.map(({ id }) => waitForJob(service, id, isTerminal)));
    expect(jobs.map(({ status }) => status)).toEqual(jobs.map(() => 'succeeded'));
    await expectChargedOnce(service, jobs);
    for (const { id } of jobs) await receiver.waitFor(({ rawBody }) => rawBody.includes(id), WEBHOOK_TIMEOUT_MS);
    await service.process.waitForLine((line) => line.startsWith(`${name} runs again`), 300_000);
    expect(recordedProcesses(service.dataDirectory).get(name)).not.toBe(pid);
  });
});

it('SIGTERM stops everything and leaves no process; a second start finds all data', async () => {
  const first = await takeService();
  const { dataDirectory } = first;
  const { id } = await admitJob(first);
  const job = await waitForJob(first, id, isTerminal);
  // One that missed a server of the tests before may still be on its way back.
  await until(() => identities(first).length === 7, 300_000);
  const children = identities(first);

  expect(await first.process.stop()).toEqual({ code: 0, signal: null });
  expect(children.filter(isRunning)).toEqual([]);
  expect(existsSync(join(dataDirectory, 'service.json'))).toBe(false);

  const second = await startWholeService(processes, dataDirectory, OWN_TEMPORAL);
  expect(second.description.keys).toEqual(first.description.keys);
  expect(await readJob(second, id)).toEqual(job);
  leftRunning = second;
});

it('after kill -9 of the supervisor the next start stops what it left and continues', async () => {
  const first = await takeService();
  const { dataDirectory } = first;
  const left = identities(first);
  const { id } = await admitJob(first);
  await first.process.kill();
  expect(left.some(isRunning)).toBe(true);

  const second = await startWholeService(processes, dataDirectory, OWN_TEMPORAL);
  expect(left.filter(isRunning)).toEqual([]);
  const job = await waitForJob(second, id, isTerminal);
  expect(job.status).toBe('succeeded');
  await expectChargedOnce(second, [job]);
  await second.process.stop();
});

it('with TEMPORAL_ADDRESS the server of the caller serves, and none is started', async () => {
  const { address, namespace } = await createTestNamespace();
  const environment = { ...ANY_PORTS, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
  const service = await startWholeService(processes, newDataDirectory(), environment);
  expect(service.description).toMatchObject({ temporalAddress: address, temporalWebUrl: null });
  expect([...recordedProcesses(service.dataDirectory).keys()]).not.toContain('Temporal');
  expect(await admitJob(service, { wait: true })).toMatchObject({ status: 'succeeded' });
  await service.process.stop();
});

it('a port that the caller chose and that is taken is a clear error, and nothing is left running', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const dataDirectory = newDataDirectory();
  const service = await processes.start({
    entry: 'src/embedded/main.ts',
    environment: { ...ANY_PORTS, API_PORT: String(port), DATA_DIRECTORY: dataDirectory },
  });
  expect((await service.exited).code).toBe(1);
  expect(service.lines.join('\n')).toContain(`Port ${port}, which API_PORT asks for`);
  expect(existsSync(join(dataDirectory, 'lock.json'))).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

function isAdmitted(): boolean {
  return true;
}

function identities({ dataDirectory }: RunningService): ProcessIdentity[] {
  return [...recordedProcesses(dataDirectory).values()].map(identifyProcess).filter((identity) => identity !== null);
}

async function expectChargedOnce({ description }: RunningService, jobs: Job[]): Promise<void> {
  const client = new pg.Client({ connectionString: description.databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `select job_id, kind, count(*)::int as times from credit_transfers where job_id = any($1) group by 1, 2`,
    [jobs.map(({ id }) => id)],
  );
  await client.end();
  for (const { id } of jobs) {
    const kinds = rows.filter((row) => row.job_id === id).map(({ kind, times }) => `${kind} ${times}`);
    expect(kinds.toSorted()).toEqual(['capture 1', 'hold 1']);
  }
  const orm = await openDatabase({ url: description.databaseUrl, poolSize: 1 });
  try {
    expect(await findLedgerDrift(orm.em.fork())).toEqual([]);
  } finally {
    await orm.close();
  }
}
