/** kill -9 of the worker that runs a release in the shadow: customers notice nothing, and each comparison counts once. */
import { randomUUID } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shadowWorkflowId } from '../../src/contracts/shadow-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { isBuildInstalled } from '../../src/jobs/installed-endpoints-store.ts';
import { beginTrial } from '../../src/releases/release-choices-store.ts';
import { reportOn } from '../../src/releases/shadow-runs-store.ts';
import { readAccount } from '../support/customers.ts';
import { useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { postUntilAdmitted } from './customer.ts';
import { type FaultStack, type Part, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';

const ENDPOINT = 'dashboard.read';
const RELEASE = '2027-01-15';
const TRIED = `dashboard-reader@${RELEASE}`;
/** A time-out means a hang. */
const PATIENCE_MS = 300_000;
const { inferenceShadow, ...others } = TASK_QUEUES;
const QUEUES = [[others.inferenceGpu, others.inferenceHeavy, others.inferenceTest], [inferenceShadow]];

const MOMENTS = [
  { when: 'as it begins', moment: 'after', statement: "mode = 'shadow'" },
  { when: 'before it records what differs', moment: 'before', statement: 'insert into shadow_runs' },
  { when: 'after it has recorded what differs', moment: 'after', statement: 'insert into shadow_runs' },
] as const;

const processes = useProcesses();
let stack: FaultStack;
let shadow: Part;
let ran = 0;

beforeAll(async () => {
  stack = await startFaultStack(processes, undefined, {
    counts: { inference: QUEUES.length },
    environment: (name, index) => (name === 'inference' ? { INFERENCE_QUEUES: (QUEUES[index] ?? []).join() } : {}),
  });
  shadow = stack.replicas.filter(({ name }) => name === 'inference')[1] as Part;
  const em = () => stack.orm.em.fork();
  const trial = { modelVersion: TRIED, mode: 'shadow', sharePercent: 100 } as const;
  await until(async () => (await beginTrial(em(), ENDPOINT, trial)) !== null, PATIENCE_MS);
  installRelease(stack.modelsDirectory);
  await until(() => isBuildInstalled(em(), { endpoint: ENDPOINT, modelVersion: TRIED }), PATIENCE_MS);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds.flatMap((round) => MOMENTS.map((at) => ({ ...at, round }))))(
  'a shadow killed $when has nothing charged, nothing shown, and is counted once (round $round)',
  async ({ moment, statement }) => {
    const client = stack.client('live');
    const reached = shadow.postgres.holdNext((sql) => sql.includes(statement), moment);
    const { job } = await postUntilAdmitted(stack, { key: randomUUID(), mode: 'live' });
    // It has ended while its shadow is held.
    const ended = await client.waitFor(job);
    await reached;
    const account = await readAccount(stack.orm, stack.seed.organizationId, true);
    await shadow.kill();
    await shadow.start();

    const run = stack.temporal.client.workflow.getHandle(shadowWorkflowId(job.id));
    expect(await run.result()).toMatchObject({ outcome: 'compared', differing: [] });
    ran += 1;
    expect(ended).toMatchObject({ status: 'succeeded', credits: { reserved: 20, charged: 20 } });
    expect(await client.getJob(job.id)).toEqual(ended);
    expect(await readAccount(stack.orm, stack.seed.organizationId, true)).toEqual(account);
    // One event of each job, one charge.
    await expectInvariants(stack);
    const report = await reportOn(stack.orm.em.fork(), { endpoint: ENDPOINT, modelVersion: TRIED, field: null });
    expect(report).toMatchObject({ runs: { compared: ran }, examples: [] });
    expect(report?.fields.length).toBeGreaterThan(0);
    for (const { compared, agreed } of report?.fields ?? []) expect([compared, agreed]).toEqual([ran, ran]);
  },
  600_000,
);

/** The same networks under another date: it must agree. */
function installRelease(models: string): void {
  const [served, tried] = [join(models, 'dashboard-reader', '2026-11-24'), join(models, 'dashboard-reader', RELEASE)];
  const manifest = JSON.parse(readFileSync(join(served, 'model.json'), 'utf8')) as object;
  cpSync(served, tried, { recursive: true });
  writeFileSync(join(tried, 'model.json'), JSON.stringify({ ...manifest, release: RELEASE }));
}
