/** Raw requests, for cases that the typed client hides. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from '../../src/client/index.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { until } from '../support/until.ts';
import type { FaultStack } from './fault-stack.ts';

export const PICTURE = readFileSync(join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg'));
/** A time-out means a hang. */
const PATIENCE_MS = 300_000;
/** Longer than a request waits for the restart of any process. */
const ATTEMPT_TIMEOUT_MS = 120_000;

export interface Submission {
  key: string;
  mode?: keyof FaultStack['seed']['keys'];
  scenario?: string;
  parameters?: Record<string, string>;
}

export interface Answer {
  status: number;
  text: string;
  isReplay: boolean;
  /** 0 when the response requests no pause. */
  retryAfterMs: number;
  job: Job;
}

/** One POST, never repeated; null when no response arrived. */
export async function post(
  { apiUrl, seed }: FaultStack,
  { key, mode = 'test', scenario, parameters = {} }: Submission,
): Promise<Answer | null> {
  const form = new FormData();
  form.append('image', new Blob([PICTURE], { type: 'image/jpeg' }), 'dashboard.jpg');
  for (const [name, value] of Object.entries(parameters)) form.append(name, value);
  try {
    const response = await fetch(`${apiUrl}/v1/dashboard/read`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${seed.keys[mode]}`,
        'Idempotency-Key': key,
        ...(scenario !== undefined && { 'X-Service-Test-Scenario': scenario }),
      },
      body: form,
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      isReplay: response.headers.get('Idempotent-Replayed') === 'true',
      retryAfterMs: Number(response.headers.get('Retry-After') ?? '0') * 1_000,
      get job() {
        return JSON.parse(text) as Job;
      },
    };
  } catch {
    return null;
  }
}

/** Repeats the same request until it is admitted, as a careful customer does. */
export function postUntilAdmitted(stack: FaultStack, submission: Submission): Promise<Answer> {
  return postUntil(stack, submission, ({ status }) => status === 202);
}

/** Repeats the same request for as long as it is only asked to come again. */
export function postUntilDecided(stack: FaultStack, submission: Submission): Promise<Answer> {
  return postUntil(stack, submission, ({ status }) => status !== 429 && status !== 503);
}

async function postUntil(
  stack: FaultStack,
  submission: Submission,
  isEnough: (answer: Answer) => boolean,
): Promise<Answer> {
  let answer: Answer | null = null;
  await until(async () => {
    answer = await post(stack, submission);
    // Many rounds in a minute reach the rate limit; further attempts would not lift it.
    if (answer?.status === 429) await delay(answer.retryAfterMs);
    return answer !== null && isEnough(answer);
  }, PATIENCE_MS);
  return answer as unknown as Answer;
}
