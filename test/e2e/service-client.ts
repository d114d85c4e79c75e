/** A customer of the whole service: sends pictures, tries again when something was killed, waits for the end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job as AnyJob, VehicleInferenceClient } from '../../src/client/index.ts';
import type { ServiceDescription } from '../../src/embedded/service-description.ts';
import { PROJECT_DIRECTORY, type TestProcess, type TestProcesses } from '../support/processes.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { untilAvailable } from '../support/until.ts';

export type Job = AnyJob<'dashboard.read'>;

export interface RunningService {
  process: TestProcess;
  dataDirectory: string;
  description: ServiceDescription;
}

const PICTURE = join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg');
const START_TIMEOUT_MS = 300_000;
const PATIENCE_MS = 300_000;
const ATTEMPT_PAUSE_MS = 200;

/** Every port a free one: several services, and a developer's own, run side by side. */
export const ANY_PORTS = {
  API_PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_WEB_PORT: '0',
  POSTGRES_PORT: '0',
  IDENTITY_PORT: '0',
};

/** With a Temporal of its own, also where the tests were given a server: for tests of what `npm start` starts. */
export const OWN_TEMPORAL = { ...ANY_PORTS, TEMPORAL_ADDRESS: '' };

/** On the server that the tests were given, if they were: several services do not share a namespace. */
export async function anyTemporal(): Promise<NodeJS.ProcessEnv> {
  if (!process.env.TEMPORAL_ADDRESS) return {};
  const { address, namespace } = await createTestNamespace();
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
}

/** `npm start` on a data folder; comes back once it has said that everything runs. */
export async function startWholeService(
  processes: TestProcesses,
  dataDirectory: string,
  given?: NodeJS.ProcessEnv,
): Promise<RunningService> {
  const environment = given ?? { ...ANY_PORTS, ...(await anyTemporal()) };
  const process = await processes.start({
    entry: 'src/embedded/main.ts',
    environment: { ...environment, DATA_DIRECTORY: dataDirectory },
    ready: { line: (line) => line.startsWith('Ctrl-C stops everything') },
    readyTimeoutMs: START_TIMEOUT_MS,
  });
  const description = JSON.parse(readFileSync(join(dataDirectory, 'service.json'), 'utf8')) as ServiceDescription;
  return { process, dataDirectory, description };
}

/** The processes which the supervisor has on record now, by name. */
export function recordedProcesses(dataDirectory: string): Map<string, number> {
  const text = readFileSync(join(dataDirectory, 'processes.json'), 'utf8');
  const recorded = JSON.parse(text) as { name: string; pid: number }[];
  return new Map(recorded.map(({ name, pid }) => [name, pid]));
}

/** Sends a picture as a live job, again and again under one idempotency key until it is admitted. */
export async function admitJob(service: RunningService, { wait = false } = {}): Promise<Job> {
  const image = new Uint8Array(readFileSync(PICTURE));
  await untilAvailable(connect(service), 'dashboard.read');
  return connect(service).submit('dashboard.read', { image }, wait ? { waitSeconds: 30 } : {});
}

export function readJob(service: RunningService, id: string): Promise<Job> {
  return connect(service).getJob<'dashboard.read'>(id);
}

/** Polls until `reached` accepts the job. */
export async function waitForJob(service: RunningService, id: string, reached: (job: Job) => boolean): Promise<Job> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const job = await readJob(service, id);
    if (reached(job)) return job;
    if (performance.now() > deadlineMs) throw new Error(`${id} is still ${job.status} after ${PATIENCE_MS / 1000} s`);
    await sleep(50);
  }
}

export const isPickedUp = (job: Job) => job.status !== 'queued';
export const isTerminal = (job: Job) => job.status !== 'queued' && job.status !== 'processing';

/** Tolerates a service that recovers: retries failed connections and error responses. */
function connect({ description }: RunningService): VehicleInferenceClient {
  return new VehicleInferenceClient({
    apiKey: description.keys.live,
    baseUrl: description.apiUrl,
    attempts: PATIENCE_MS / ATTEMPT_PAUSE_MS,
    attemptTimeoutMs: 120_000,
    sleep: () => sleep(ATTEMPT_PAUSE_MS),
  });
}
