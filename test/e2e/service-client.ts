/** A customer of the whole service: sends pictures, tries again when something was killed, waits for the end. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceDescription } from '../../src/embedded/service-parts.ts';
import { PROJECT_DIRECTORY, type TestProcess, type TestProcesses } from '../support/processes.ts';

export interface Job {
  id: string;
  status: string;
  started_at: number | null;
  credits: { reserved: number; charged: number };
  result: { odometer: { value: number } | null } | null;
}

export interface RunningService {
  process: TestProcess;
  dataDirectory: string;
  description: ServiceDescription;
}

const PICTURE = join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg');
const START_TIMEOUT_MS = 180_000;
const PATIENCE_MS = 150_000;

/** Every port a free one: several services, and a developer's own, run side by side. */
export const ANY_PORTS = { API_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_WEB_PORT: '0', POSTGRES_PORT: '0' };

/** `npm start` on a data folder; comes back once it has said that everything runs. */
export async function startWholeService(
  processes: TestProcesses,
  dataDirectory: string,
  environment: NodeJS.ProcessEnv = ANY_PORTS,
): Promise<RunningService> {
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
  const idempotencyKey = randomUUID();
  return untilAnswered(async () => {
    const form = new FormData();
    form.append('image', new Blob([readFileSync(PICTURE)], { type: 'image/jpeg' }), 'dashboard.jpg');
    return call(service, `/v1/dashboard/read?wait=${wait}`, { method: 'POST', body: form }, idempotencyKey);
  });
}

export async function readJob(service: RunningService, id: string): Promise<Job> {
  return untilAnswered(() => call(service, `/v1/jobs/${id}`));
}

/** Polls until the job has the status asked for, or a later one. */
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

function call({ description }: RunningService, path: string, init: RequestInit = {}, idempotencyKey?: string) {
  const headers = {
    authorization: `Bearer ${description.keys.live}`,
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  };
  return fetch(`${description.apiUrl}${path}`, { ...init, headers, signal: AbortSignal.timeout(40_000) });
}

/** A refused connection, a 5xx and "still in progress" are answers of a service being repaired: try again. */
async function untilAnswered(attempt: () => Promise<Response>): Promise<Job> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const outcome = await attempt().catch((error: Error) => error);
    if (outcome instanceof Response && outcome.ok) return (await outcome.json()) as Job;
    const passing = outcome instanceof Error || outcome.status >= 500 || outcome.status === 409;
    if (!passing || performance.now() > deadlineMs) {
      const reason = outcome instanceof Error ? outcome.message : `${outcome.status} ${await outcome.text()}`;
      throw new Error(`the service answers: ${reason}`);
    }
    await sleep(200);
  }
}
