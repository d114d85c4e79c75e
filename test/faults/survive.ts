/** Customers who continue while something breaks, and repeat their requests until each has a job. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { type Answer, post, postUntilAdmitted } from './customer.ts';
import type { FaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';

const CUSTOMERS = 8;
/** Of each customer, however long the fault lasts on a busy machine: their jobs must also end within the time of the test. */
const MOST_REQUESTS = 40;

/** @param awayMs how long the fault is to last: customers spread their requests over it */
export async function expectToSurvive(
  stack: FaultStack,
  { awayMs }: { awayMs: number },
  fault: () => Promise<void>,
): Promise<void> {
  const pauseMs = Math.max(200, awayMs / MOST_REQUESTS);
  const keys: string[] = [];
  const answers: Answer[] = [];
  const over = new AbortController();
  const customers = Array.from({ length: CUSTOMERS }, async () => {
    for (let sent = 0; sent < MOST_REQUESTS && !over.signal.aborted; sent += 1) {
      const key = randomUUID();
      keys.push(key);
      const answer = await post(stack, { key });
      if (answer) answers.push(answer);
      await sleep(pauseMs);
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
  await expectOneRunEach(stack, admitted);
}

/** No double start: there is one execution under the id of each job. */
async function expectOneRunEach({ temporal: { client } }: FaultStack, jobIds: readonly string[]): Promise<void> {
  for (const jobId of jobIds.slice(0, 20)) {
    let runs = 0;
    // Temporal lists a workflow some time after it has begun.
    await until(async () => {
      const { executions } = await client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query: `WorkflowId = '${jobId}'`,
      });
      runs = executions.length;
      return runs > 0;
    }, 240_000);
    expect([jobId, runs]).toEqual([jobId, 1]);
  }
}
