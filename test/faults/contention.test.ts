/** Concurrent requests compete for the same thing, on real processes. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readHeadroom } from '../../src/credits/credit-balances-store.ts';
import { adjustCredits } from '../../src/credits/credit-bookings-store.ts';
import { query } from '../../src/platform/database/orm.ts';
import { useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { post, postUntilAdmitted, postUntilDecided } from './customer.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds)(
  '100 requests with one key are one job; the key with another payload is refused (round %i)',
  async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(stack, { key })));
    // 503: a busy machine has no connection to PostgreSQL for all of them in time.
    for (const answer of answers) expect([202, 409, 429, 503]).toContain(answer?.status);
    const texts = answers.filter((answer) => answer?.status === 202).map((answer) => answer?.text);
    const { text } = await postUntilAdmitted(stack, { key });
    expect(new Set([...texts, text]).size).toBe(1);
    const other = await postUntilDecided(stack, { key, parameters: { read_warning_lights: 'false' } });
    expect(other.status).toBe(409);
    const jobs = await query(stack.orm.em.fork(), 'select id from jobs where idempotency_key = $1', [key]);
    expect(jobs).toHaveLength(1);
    await expectInvariants(stack);
  },
  600_000,
);

it.each(rounds)(
  'with credits for exactly 5 jobs, 50 requests are 5 jobs (round %i)',
  async () => {
    const { organizationId } = stack.seed;
    await leaveCredits(organizationId, 100);
    // Live jobs hold 20 credits each and give none back when they have read something.
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postUntilDecided(stack, { key: randomUUID(), mode: 'live' })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([...Array<number>(5).fill(202), ...Array<number>(45).fill(402)]);
    await expectInvariants(stack);
  },
  600_000,
);

it.each(rounds)(
  'cancellation against pick-up: exactly one wins, 30 times (round %i)',
  async () => {
    const ends = await Promise.all(Array.from({ length: 30 }, cancelAtOnce));
    for (const { answer, status, charged } of ends) {
      if (answer === 200) expect({ status, charged }).toEqual({ status: 'canceled', charged: 0 });
      else expect({ answer, status, charged }).toEqual({ answer: 409, status: 'succeeded', charged: 20 });
    }
    await expectInvariants(stack);
  },
  600_000,
);

async function cancelAtOnce() {
  const { job } = await postUntilAdmitted(stack, { key: randomUUID() });
  let answer = 0;
  await until(async () => {
    const response = await fetch(`${stack.apiUrl}/v1/jobs/${job.id}/cancel`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stack.seed.keys.test}` },
    });
    answer = response.status;
    // A busy machine has no connection to PostgreSQL for all of them in time.
    return answer !== 503;
  }, 300_000);
  const client = stack.client('test');
  const ended = await client.waitFor(await client.getJob(job.id));
  return { answer, status: ended.status, charged: ended.credits.charged };
}

/** Leaves exactly so many live credits. */
async function leaveCredits(organizationId: string, credits: number): Promise<void> {
  const em = stack.orm.em.fork();
  const { available } = await readHeadroom(em, { organizationId, livemode: true });
  if (available === credits) return;
  await adjustCredits(em, { organizationId, livemode: true, change: credits - available, reason: 'test' });
}
