/** kill -9 of the workers at every critical point. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { postUntilAdmitted } from './customer.ts';
import { type FaultStack, type Part, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';
import type { Moment } from './statement-proxy.ts';

const MOMENTS: readonly Moment[] = ['before', 'after'];
const tries = rounds.flatMap((round) => MOMENTS.map((moment) => [moment, round] as const));

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes);
}, 600_000);
afterAll(() => stack.close());

/** Kills a worker when the statement of a new job has reached the moment, and returns the job's end. */
async function killAt(part: Part, statement: string, moment: Moment, scenario?: string) {
  const reached = part.postgres.holdNext((sql) => sql.includes(statement), moment);
  const { job } = await postUntilAdmitted(stack, { key: randomUUID(), ...(scenario && { scenario }) });
  await reached;
  await part.kill();
  await part.start();
  await expectInvariants(stack);
  return stack.client('test').getJob<'dashboard.read'>(job.id);
}

describe('an inference worker', () => {
  it.each(tries)(
    'a job whose inference worker is killed %s it records the pick-up ends, with one charge (round %i)',
    async (moment) => {
      const job = await killAt(stack.parts.inference, 'update jobs', moment);
      expect(job).toMatchObject({ status: 'succeeded', credits: { reserved: 20, charged: 20 } });
    },
    600_000,
  );

  it.each(tries)(
    'a job whose inference worker is killed %s it settles what it found ends, with one charge (round %i)',
    async (moment) => {
      const job = await killAt(stack.parts.inference, 'settle_job', moment);
      expect(job).toMatchObject({ status: 'succeeded', credits: { reserved: 20, charged: 20 } });
    },
    600_000,
  );

  it.each(tries)(
    'nothing is charged where an inference worker is killed %s it settles a job that its model failed (round %i)',
    async (moment) => {
      const job = await killAt(stack.parts.inference, 'settle_job', moment, 'model_error');
      expect(job).toMatchObject({ status: 'failed', credits: { reserved: 20, charged: 0 } });
    },
    600_000,
  );

  it.each(rounds)(
    'a job whose worker is killed during inference ends on another worker, with one charge (round %i)',
    async () => {
      const { job } = await postUntilAdmitted(stack, { key: randomUUID(), scenario: 'slow' });
      await until(async () => (await statusOf(job.id)) === 'processing', 300_000);
      await stack.parts.inference.kill();
      await stack.parts.inference.start();
      await expectInvariants(stack);
      expect(await statusOf(job.id)).toBe('succeeded');
    },
    600_000,
  );
});

describe('an orchestration worker', () => {
  it.each(tries)(
    'nothing is charged where an orchestration worker is killed %s it settles a job that was stopped (round %i)',
    async (moment) => {
      const { orchestration } = stack.parts;
      const reached = orchestration.postgres.holdNext((sql) => sql.includes('settle_job'), moment);
      const { job } = await postUntilAdmitted(stack, { key: randomUUID(), scenario: 'slow' });
      await until(async () => (await statusOf(job.id)) === 'processing', 300_000);
      await stack.temporal.client.workflow.getHandle(job.id).cancel();
      await reached;
      await orchestration.kill();
      await orchestration.start();
      await expectInvariants(stack);
      expect(await stack.client('test').getJob<'dashboard.read'>(job.id)).toMatchObject({
        status: 'failed',
        credits: { reserved: 20, charged: 0 },
      });
    },
    600_000,
  );
});

it.each(tries)(
  'an event whose worker is killed %s it records an attempt is delivered at least once, under one id (round %i)',
  async (moment) => {
    const job = await killAt(stack.parts.webhooks, 'webhook_attempts', moment);
    const deliveries = stack.receiver.deliveries.map(({ rawBody }) => JSON.parse(rawBody));
    const events = deliveries.filter(({ data }) => data.object.id === job.id);
    expect(events.length).toBeGreaterThanOrEqual(1);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
  },
  600_000,
);

async function statusOf(jobId: string): Promise<string | undefined> {
  const [row] = await query<{ status: string }>(stack.orm.em.fork(), 'select status from jobs where id = $1', [jobId]);
  return row?.status;
}
