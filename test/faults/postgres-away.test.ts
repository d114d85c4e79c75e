/** PostgreSQL stops at once, drops its sessions or has none left, while customers continue. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { useProcesses } from '../support/processes.ts';
import { type Answer, post, postUntilAdmitted } from './customer.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';

const CUSTOMERS = 8;
/** Of each customer, however long the fault lasts on a busy machine: their jobs must also end within the time of the test. */
const MOST_REQUESTS = 40;
const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds)(
  'acknowledged jobs outlive a kill of PostgreSQL and succeed, and the service reconnects (round %i)',
  async () => {
    await expectToSurvive(async () => {
      stack.postgres.program.signal('SIGKILL');
      await stack.postgres.program.exited;
      // Longer than the attempts of an inference would last.
      await sleep(8_000);
      stack.postgres.program = await stack.postgres.server.start();
    });
  },
  600_000,
);

it.each(rounds)(
  'acknowledged jobs outlive the end of every PostgreSQL session, again and again, and succeed (round %i)',
  async () => {
    await expectToSurvive(async () => {
      for (let time = 0; time < 5; time += 1) {
        await query(
          stack.orm.em.fork(),
          `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
        );
        await sleep(300);
      }
    });
  },
  600_000,
);

it.each(rounds)(
  'each request gets a job or a clear refusal where PostgreSQL has fewer sessions than requests (round %i)',
  async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(stack, { key: randomUUID() })));
    for (const answer of answers) expect([202, 429, 503]).toContain(answer?.status);
    await expectInvariants(stack);
  },
  600_000,
);

/** Customers post throughout; everything acknowledged must exist afterwards. */
async function expectToSurvive(fault: () => Promise<void>): Promise<void> {
  const submissions: { key: string; answer: Answer | null }[] = [];
  const over = new AbortController();
  const customers = Array.from({ length: CUSTOMERS }, async () => {
    for (let sent = 0; sent < MOST_REQUESTS && !over.signal.aborted; sent += 1) {
      const key = randomUUID();
      const answer = await post(stack, { key });
      submissions.push({ key, answer });
      await sleep(answer?.status === 202 ? 100 : 1_000);
    }
  });
  await sleep(500);
  await fault();
  await sleep(500);
  over.abort();
  await Promise.all(customers);

  const acknowledged = submissions.flatMap(({ answer }) => (answer?.status === 202 ? [answer.job.id] : []));
  expect(acknowledged.length).toBeGreaterThan(0);
  const known = await query<{ id: string }>(stack.orm.em.fork(), 'select id from jobs where id = any($1)', [
    acknowledged,
  ]);
  expect(known).toHaveLength(acknowledged.length);
  for (const { key, answer } of submissions) {
    if (answer === null || answer.status !== 202) await postUntilAdmitted(stack, { key });
  }
  const [{ jobs } = { jobs: '' }] = await query<{ jobs: string }>(
    stack.orm.em.fork(),
    'select count(*) as jobs from jobs where idempotency_key = any($1)',
    [submissions.map(({ key }) => key)],
  );
  expect(Number(jobs)).toBe(submissions.length);
  await expectInvariants(stack);
  expect(await query(stack.orm.em.fork(), "select id, error from jobs where status <> 'succeeded'")).toEqual([]);
}
