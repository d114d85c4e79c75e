/** The public HTTP API as the demonstration uses it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../endpoints/dashboard.read/result.ts';

export interface Job {
  id: string;
  status: string;
  livemode: boolean;
  created: number;
  started_at: number | null;
  completed_at: number | null;
  model_version: string | null;
  credits: { reserved: number; charged: number };
  result: Result | null;
  error: { type: string; code: string; message: string } | null;
}

export interface Access {
  apiUrl: string;
  key: string;
  signal: AbortSignal;
}

const POLL_INTERVAL_MS = 15;
const JOB_TIMEOUT_MS = 120_000;

/** @throws when the API doesn't answer 202. */
export async function createJob(
  access: Access,
  { file, picture }: { file: string; picture: Uint8Array },
): Promise<Job> {
  const form = new FormData();
  form.append('image', new Blob([Uint8Array.from(picture)], { type: 'image/jpeg' }), file);
  return request(access, '/v1/dashboard/read', 202, { method: 'POST', body: form });
}

/** Polls until the job is terminal; tells every status that is new. */
export async function followJob(access: Access, created: Job, onStatus: (status: string) => void): Promise<Job> {
  const deadlineMs = performance.now() + JOB_TIMEOUT_MS;
  let job = created;
  while (job.status === 'queued' || job.status === 'processing') {
    if (performance.now() > deadlineMs) {
      throw new Error(`${job.id} is still ${job.status} after ${JOB_TIMEOUT_MS / 1000} s`);
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: access.signal });
    const next = await request(access, `/v1/jobs/${job.id}`, 200);
    if (next.status !== job.status) onStatus(next.status);
    job = next;
  }
  return job;
}

async function request({ apiUrl, key, signal }: Access, path: string, status: number, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${apiUrl}${path}`, { ...init, headers, signal });
  if (response.status === status) return (await response.json()) as Job;
  throw new Error(`${init.method ?? 'GET'} ${path} answered ${response.status}: ${await response.text()}`);
}
