/**
 * The processes apart: each started by its own npm command, against a PostgreSQL and a Temporal known only by their addresses,
 * with the variables that docs/configuration.md lists and no others.
 */
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { VehicleInferenceClient, verifyWebhook } from '../../src/client/index.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';
import { type ProgramExit, type RunningProgram, startProgram, waitUntilReady } from '../../src/embedded/program.ts';
import { createDevelopmentWebhookEndpoint, type DevelopmentSeed, seedDevelopment } from '../../src/embedded/seed.ts';
import { readSealingKeys } from '../../src/platform/config/config.ts';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { bucketOfTests } from '../support/storage.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { untilAvailable } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const SCRIPTS = ['api', 'worker:orchestration', 'worker:inference', 'worker:webhooks'] as const;
type Script = (typeof SCRIPTS)[number] | 'migrate';

const directory = mkdtempSync(join(tmpdir(), 'processes-'));
const record = new ProcessRecord(join(directory, 'processes.json'));
const running = new Map<Script, RunningProgram>();
/** Ids of the Node processes, from their logs; the program that was started is npm. */
const processIds = new Map<Script, number>();

let database: TestDatabase;
let shared: { DATABASE_URL: string; TEMPORAL_ADDRESS: string; TEMPORAL_NAMESPACE: string };
let variables: Record<(typeof SCRIPTS)[number], Record<string, string>>;
let baseUrl: string;
let seed: DevelopmentSeed;
let receiver: WebhookReceiver;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  const { address, namespace } = await createTestNamespace();
  shared = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };

  const apiPort = await findFreePort();
  baseUrl = `http://127.0.0.1:${apiPort}`;
  const development = { ...shared, SERVICE_ENVIRONMENT: 'development' };
  const storage = { ...bucketOfTests(), STORAGE_DIRECTORY: join(directory, 'storage') };
  variables = {
    api: { ...development, ...storage, API_HOST: '127.0.0.1', API_PORT: String(apiPort), PUBLIC_BASE_URL: baseUrl },
    'worker:orchestration': { ...development, ...storage },
    'worker:inference': { ...development, ...storage },
    'worker:webhooks': { ...development, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
  };
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await Promise.all([...running.values()].map((program) => program.stop()));
  await receiver.close();
  await database.drop();
});

it('npm run migrate brings an empty database up to date, and changes nothing the second time', async () => {
  expect(await (await run('migrate', shared)).exited).toEqual({ code: 0, signal: null });
  expect(await (await run('migrate', shared)).exited).toEqual({ code: 0, signal: null });
  seed = await seedDevelopment(database.url);
});

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

describe('every process, started by npm run', () => {
  beforeAll(async () => {
    for (const script of SCRIPTS) running.set(script, await run(script, variables[script]));
    const readiness = { timeoutMs: 300_000, logPath: directory };
    for (const [script, program] of running) {
      const isReady = script === 'api' ? answers : () => processIds.has(script);
      await waitUntilReady(program, isReady, readiness);
    }
  });

  it('a live job is read by the installed models', async () => {
    const job = await readDashboard(seed.keys.live);
    expect(job).toMatchObject({ status: 'succeeded', livemode: true, credits: { reserved: 20, charged: 20 } });
    expect(job.model_version).toMatch(/^dashboard-reader@/);
  });

  it('a test job ends with its fixture, and a signed webhook reports it', async () => {
    const { organizationId } = seed;
    const sealedSecrets = createSealedSecrets(readSealingKeys());
    const endpoint = { organizationId, url: receiver.url, livemode: false, sealedSecrets };
    const { secret } = await createDevelopmentWebhookEndpoint(database.url, endpoint);
    const job = await readDashboard(seed.keys.test);
    expect(job).toMatchObject({ status: 'succeeded', livemode: false, result: { odometer: { value: 261645 } } });

    const { headers, rawBody } = await receiver.waitFor(({ rawBody: body }) => body.includes(job.id), 300_000);
    const signature = headers['service-signature'] as string;
    const event = await verifyWebhook({ body: rawBody, signature, secret });
    expect(event).toMatchObject({ type: 'job.succeeded', data: { object: job } });
  });

  it('each process started by npm run stops on SIGTERM, with nothing left of it', async () => {
    const exits = await Promise.all([...running].map(async ([script, program]) => [script, await program.stop()]));
    const stopped: ProgramExit = { code: 0, signal: null };
    expect(exits).toEqual(SCRIPTS.map((script) => [script, stopped]));
    for (const script of SCRIPTS) expect([script, isAlive(processIds.get(script))]).toEqual([script, false]);
  });
});

/** Runs a script of package.json with these variables and nothing else of this process but where its programs are. */
function run(script: Script, environment: Record<string, string>): Promise<RunningProgram> {
  return startProgram({
    name: `npm run ${script}`,
    command: 'npm',
    args: ['run', '--silent', script],
    workingDirectory: PROJECT_DIRECTORY,
    environment: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    logPath: join(directory, `${script.replace(':', '-')}.log`),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 240_000,
    record,
    onLine(line) {
      if (!/"msg":"(?:worker|api) ready"/.test(line)) return;
      processIds.set(script, (JSON.parse(line) as { pid: number }).pid);
    },
  });
}

async function readDashboard(apiKey: string) {
  const picture = await readFile(`${PROJECT_DIRECTORY}training/examples/day-miles-seven-segment.jpg`);
  const client = new VehicleInferenceClient({ apiKey, baseUrl });
  await untilAvailable(client, 'dashboard.read');
  return client.run('dashboard.read', { image: new Uint8Array(picture) });
}

async function answers(): Promise<boolean> {
  return fetch(`${baseUrl}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) throw new Error('the process never said that it was ready');
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
