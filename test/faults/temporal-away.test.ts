/** Temporal is killed, or cannot be reached, while customers continue. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { type Answer, post, postUntilAdmitted } from './customer.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { ROUNDS, rounds } from './rounds.ts';

/** A minute where there is time for it. */
const AWAY_MS = ROUNDS > 1 ? 60_000 : 3_000;
const CUSTOMERS = 8;
/** Of each customer, however long the fault lasts on a busy machine: their jobs must also end within the time of the test. */
const MOST_REQUESTS = 40;
const PAUSE_MS = Math.max(200, AWAY_MS / MOST_REQUESTS);

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds)(
  'killed in mid-job (round %i): everything admitted ends, nothing is started twice',
  async () => {
    await expectToSurvive(async () => {
      await stack.temporal.kill();
      await sleep(1_000);
      await stack.temporal.start();
    });
  },
  600_000,
);

it.each(rounds)(
  'out of reach (round %i): 202 or a clean 503, and the outbox drains',
  async () => {
    await expectToSurvive(async () => {
      const proxies = Object.values(stack.parts).map(({ temporal }) => temporal);
      await Promise.all(proxies.map((proxy) => proxy.goAway()));
      await sleep(AWAY_MS);
      await Promise.all(proxies.map((proxy) => proxy.comeBack()));
    });
  },
  600_000,
);

/** Customers post throughout, then repeat the requests that got no job. */
async function expectToSurvive(fault: () => Promise<void>): Promise<void> {
  const keys: string[] = [];
  const answers: Answer[] = [];
  const over = new AbortController();
  const customers = Array.from({ length: CUSTOMERS }, async () => {
    for (let sent = 0; sent < MOST_REQUESTS && !over.signal.aborted; sent += 1) {
      const key = randomUUID();
      keys.push(key);
      const answer = await post(stack, { key });
      if (answer) answers.push(answer);
      await sleep(PAUSE_MS);
    }
  });
  await sleep(1_000);
  await fault();
  over.abort();
  await Promise.all(customers);

  expect(answers.length).toBeGreaterThan(0);
  for (const { status } of answers) expect([202, 429, 503]).toContain(status);
  const admitted: string[] = [];
  for (const key of keys) admitted.push((await postUntilAdmitted(stack, { key })).job.id);
  expect(new Set(admitted).size).toBe(keys.length);
  await expectInvariants(stack);
  await expectOneRunEach(admitted);
}

/** No double start: there is one execution under the id of each job. */
async function expectOneRunEach(jobIds: readonly string[]): Promise<void> {
  const { workflowService } = stack.temporal.client;
  for (const jobId of jobIds.slice(0, 20)) {
    let runs = 0;
    // Temporal lists a workflow some time after it has begun.
    await until(async () => {
      const { executions } = await workflowService.listWorkflowExecutions({
        namespace: stack.temporal.client.options.namespace,
        query: `WorkflowId = '${jobId}'`,
      });
      runs = executions.length;
      return runs > 0;
    }, 240_000);
    expect([jobId, runs]).toEqual([jobId, 1]);
  }
}
