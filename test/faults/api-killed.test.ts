/** kill -9 of the API at every point of an admission. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '../../src/platform/database/orm.ts';
import { useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { post, postUntilAdmitted } from './customer.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';
import type { Moment } from './statement-proxy.ts';

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds.flatMap((round) => (['before', 'after'] as const).map((moment) => [moment, round] as const)))(
  'a retry after kill -9 of the API %s each statement of an admission is one job and one charge (round %i)',
  async (moment) => {
    const statements = await statementsOfAnAdmission();
    expect(statements.some((sql) => sql.includes('admit_job'))).toBe(true);
    for (const index of statements.keys()) await killAt(index, moment);
    await expectInvariants(stack);
  },
  600_000,
);

it.each(rounds)(
  'a retry after kill -9 of the API once its workflow has started is one job and one charge (round %i)',
  async () => {
    const { api } = stack.parts;
    const key = randomUUID();
    await postUntilAdmitted(stack, { key: randomUUID() });
    api.temporal.mute();
    const lost = post(stack, { key });
    await until(async () => {
      const [id] = await jobsWith(key);
      return id !== undefined && (await isStarted(id));
    }, 300_000);
    await api.kill();
    expect(await lost).toBeNull();
    await api.start();
    expect([(await postUntilAdmitted(stack, { key })).job.id]).toEqual(await jobsWith(key));
    await expectInvariants(stack);
  },
  600_000,
);

/** Kills the API at one statement of a request; the customer then repeats the request, twice. */
async function killAt(index: number, moment: Moment): Promise<void> {
  const { api } = stack.parts;
  const key = randomUUID();
  let seen = 0;
  const reached = api.postgres.holdNext((sql) => isOfRequest(sql) && seen++ === index, moment);
  const lost = post(stack, { key });
  await reached;
  await api.kill();
  expect(await lost).toBeNull();
  await api.start();
  const first = await postUntilAdmitted(stack, { key });
  const second = await post(stack, { key });
  expect(second).toMatchObject({ status: 202, text: first.text, isReplay: true });
  expect(await jobsWith(key)).toEqual([first.job.id]);
}

/** Not what the process says by itself, at any time: that it listens, and when keys were used. */
function isOfRequest(sql: string): boolean {
  return !/^listen |update api_keys as known set last_used_at/.test(sql);
}

/** What one request says to PostgreSQL, when nothing else goes on. */
async function statementsOfAnAdmission(): Promise<string[]> {
  const { postgres } = stack.parts.api;
  await postUntilAdmitted(stack, { key: randomUUID() });
  const before = postgres.statements.length;
  await postUntilAdmitted(stack, { key: randomUUID() });
  return postgres.statements.slice(before).filter(isOfRequest);
}

async function jobsWith(key: string): Promise<string[]> {
  const rows = await query<{ id: string }>(stack.orm.em.fork(), 'select id from jobs where idempotency_key = $1', [
    key,
  ]);
  return rows.map(({ id }) => id);
}

async function isStarted(jobId: string): Promise<boolean> {
  return stack.temporal.client.workflow
    .getHandle(jobId)
    .describe()
    .then(
      () => true,
      () => false,
    );
}
