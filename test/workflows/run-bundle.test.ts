/** Bundles through the real Temporal and the real PostgreSQL: stages side by side, and what becomes of each way to fail. */

import { Context } from '@temporalio/activity';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import { createStageRecordActivities } from '../../src/activities/stage-record-activities.ts';
import type { ErrorCode } from '../../src/contracts/error-codes.ts';
import type { BundleBackend } from '../../src/contracts/inference-backend.ts';
import type { JobStage } from '../../src/contracts/job.ts';
import type { PlannedStage, StagePlan } from '../../src/contracts/run-bundle.ts';
import {
  RUN_JOB_STATUS_QUERY,
  RUN_JOB_WORKFLOW,
  type RunJobInput,
  type RunJobStatus,
  type Settlement,
} from '../../src/contracts/run-job.ts';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { inspections } from '../../src/endpoints/inspections/contract.ts';
import type { Result as InspectionResult } from '../../src/endpoints/inspections/result.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { videoOnboard } from '../../src/endpoints/video.onboard/contract.ts';
import { FRAME_TASKS } from '../../src/endpoints/video.onboard/request.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import type { Job } from '../../src/jobs/entities.ts';
import { renderJob } from '../../src/jobs/job-resource.ts';
import { queuedStages } from '../../src/jobs/job-stages.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { standInArtefacts } from '../inference/support/tiny-endpoint.ts';
import { createBundleBackend, failedUnits, found, plannedStage, stagePlan } from '../support/bundle-backends.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { readableHistory } from '../support/histories.ts';
import { admit, readJob, transfersOf } from '../support/jobs.ts';
import type { TestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { inferenceWorkers, orchestrationWorker, startTestWorkers, type TestWorkers } from '../support/workers.ts';
import { closeWorkflowHarness, openWorkflowHarness, type WorkflowHarness } from '../support/workflow-harness.ts';

let harness: WorkflowHarness;
let orm: MikroORM;
let namespace: TestNamespace;
let client: Client;
let customer: Customer;
let inference: TestWorkers | null = null;
let handle: WorkflowHandle<(input: RunJobInput) => Promise<Settlement>> | null = null;

beforeAll(async () => {
  harness = await openWorkflowHarness();
  ({ orm, namespace, client } = harness);
});
afterAll(() => closeWorkflowHarness(harness));
beforeEach(async () => {
  customer = await createCustomer(orm, { test: 1_000 });
});
afterEach(async () => {
  await handle?.terminate().catch(() => {});
  await inference?.stop();
  inference = null;
});

const planOf = (...stages: PlannedStage[]): StagePlan => stagePlan(stages);

interface Started {
  jobId: string;
  result: () => Promise<Settlement>;
  handle: WorkflowHandle<(input: RunJobInput) => Promise<Settlement>>;
}

/** Admits a bundle of the plan, for what its stages cost together, and starts its workflow and a worker. */
async function start(
  plan: StagePlan,
  backend: BundleBackend,
  changes: Partial<RunJobInput> = {},
  onStagePickUp?: (pickUp: unknown) => void,
  activities?: object,
): Promise<Started> {
  const stages = queuedStages(
    { stages: plan.stages.map(({ name }) => name), stagePlan: () => plan.stages },
    { parameters: {}, files: [] },
  );
  const jobId = await admit(orm, customer, {
    endpoint: 'inspections',
    reservedCredits: plan.stages.reduce((sum, { priceCredits }) => sum + priceCredits, 0),
    stages: plan.isShown ? stages : null,
  });
  await serve(backend, onStagePickUp, activities);
  const run = await startWorkflow(jobId, changes);
  handle = run;
  return { jobId, handle: run, result: () => run.result() };
}

async function serve(
  backend: BundleBackend,
  onStagePickUp?: (pickUp: unknown) => void,
  activities: object = createInferenceActivities({ orm, backend, ...(onStagePickUp && { onStagePickUp }) }),
): Promise<void> {
  const workers = inferenceWorkers(orm, backend).map((worker) => ({ ...worker, activities }));
  inference = await startTestWorkers(namespace, workers);
}

const startWorkflow = (jobId: string, changes: Partial<RunJobInput> = {}) =>
  client.workflow.start<(input: RunJobInput) => Promise<Settlement>>(RUN_JOB_WORKFLOW, {
    workflowId: jobId,
    taskQueue: TASK_QUEUES.orchestration,
    args: [
      {
        jobId,
        endpoint: 'inspections',
        inferenceTaskQueue: TASK_QUEUES.inferenceHeavy,
        expiryMs: 60_000,
        inferenceTimeoutMs: 30_000,
        inferenceAttempts: 2,
        ...changes,
      },
    ],
  });

const account = () => readAccount(orm, customer.organizationId, false);
const ends = (stages: readonly JobStage[] | null) =>
  (stages ?? []).map(({ name, status, credits }) => [name, status, credits.charged]);
/** As the customer sees them. */
const shownEnds = (job: Job) => ends(renderJob(job).stages ?? []);
const unreadable = new ServiceError('input_unreadable', 'The picture is truncated.');

async function keptOutcomes(jobId: string): Promise<number> {
  const rows = await query(orm.em.fork(), 'select from stage_outcomes where job_id = $1', [jobId]);
  return rows.length;
}

/** A gate that the test opens. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('a bundle that succeeds', () => {
  const plan = planOf(
    plannedStage({ name: 'identify', units: 25, priceCredits: 50 }),
    plannedStage({ name: 'detect', units: 25, priceCredits: 75 }),
    plannedStage({ name: 'merge', after: ['identify', 'detect'], isOptional: false }),
  );

  it('a bundle runs independent stages side by side and dependent ones after them', async () => {
    const held = gate();
    const backend = createBundleBackend({
      plan,
      runUnits: async ({ units, stage }) => {
        if (stage.name !== 'merge') await held.opened;
        return found(units);
      },
    });
    const { result } = await start(plan, backend);
    await until(() => backend.begun.length >= 4);
    expect(backend.begun.toSorted()).toEqual(['detect 0-9', 'detect 10-19', 'identify 0-9', 'identify 10-19']);
    held.open();
    expect(await result()).toMatchObject({ status: 'succeeded' });
    expect(backend.begun.at(-1)).toBe('merge 0-0');
    expect(new Set(backend.begun).size).toBe(backend.begun.length);
  });

  it('a bundle captures the cost of its stages once and deletes their outcomes', async () => {
    const { jobId, result } = await start(plan, createBundleBackend({ plan }));
    expect(await result()).toEqual({ status: 'succeeded', chargedCredits: 125, deliveryIds: [] });
    const job = await readJob(orm, jobId);
    expect(ends(job.stages)).toEqual([
      ['identify', 'succeeded', 50],
      ['detect', 'succeeded', 75],
      ['merge', 'succeeded', 0],
    ]);
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 125],
      ['capture', 125],
    ]);
    expect(await keptOutcomes(jobId)).toBe(0);
  });

  it('a bundle shows its progress to customer and operator', async () => {
    const held = gate();
    const backend = createBundleBackend({
      plan,
      runUnits: async ({ stage, units, firstUnit }) => {
        if (stage.name === 'detect' && firstUnit === 20) await held.opened;
        return found(units);
      },
    });
    const { jobId, handle: run, result } = await start(plan, backend);
    const shown = async () => (await readJob(orm, jobId)).stages ?? [];
    await until(async () => (await shown())[0]?.status === 'succeeded' && (await shown())[1]?.progress === 0.8);
    expect(await shown()).toMatchObject([
      { name: 'identify', progress: 1, credits: { reserved: 50, charged: 50 }, completed_at: expect.any(Number) },
      { name: 'detect', status: 'processing', credits: { reserved: 75, charged: 60 }, started_at: expect.any(Number) },
      { name: 'merge', status: 'queued', progress: 0, started_at: null },
    ]);
    const status = await run.query<RunJobStatus>(RUN_JOB_STATUS_QUERY);
    expect(status).toMatchObject({
      step: 'inference',
      stages: [{ endedUnits: 25 }, { endedUnits: 20, units: 25 }, {}],
    });
    const details = await run.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(details.currentDetails).toContain('- **detect**: processing, 20 of 25, 60 credits');
    held.open();
    await result();
    expect(await readableHistory(run)).toContain('detect: views 21 to 25 of 25');
  });

  it('a bundle measures each stage’s queue time and duration to the millisecond, even when the job shows no stages', async () => {
    const timed: { ended: unknown[]; pickedUp: unknown[] } = { ended: [], pickedUp: [] };
    await harness.orchestration.stop();
    const worker = await orchestrationWorker(orm);
    const activities = {
      ...worker.activities,
      ...createStageRecordActivities({ orm, onStageEnded: (stage) => timed.ended.push(stage) }),
    };
    harness.orchestration = await startTestWorkers(namespace, [{ ...worker, activities }]);
    const backend = createBundleBackend({ plan });
    const hidden = stagePlan(plan.stages, { isShown: false });
    const { result } = await start(hidden, backend, {}, (pickUp) => timed.pickedUp.push(pickUp));
    await result();
    const measured = { endpoint: 'inspections', livemode: false };
    expect(timed.ended).toEqual(
      plan.stages.map(({ name }) => ({
        ...measured,
        stage: name,
        status: 'succeeded',
        durationMs: expect.any(Number),
      })),
    );
    for (const { durationMs } of timed.ended as { durationMs: number }[]) expect(durationMs).toBeGreaterThan(0);
    expect(timed.pickedUp).toHaveLength(backend.begun.length);
    expect(timed.pickedUp).toContainEqual({ ...measured, stage: 'merge', queuedMs: expect.any(Number) });
  });
});

/** What Temporal Web shows of a workflow, also of one that has ended. */
async function currentDetails(run: WorkflowHandle): Promise<string> {
  return (await run.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

describe('the stages of an ended bundle in Temporal Web', () => {
  it('Temporal Web shows whether a stage of a bundle succeeded, failed in part or did not run, with duration and charge', async () => {
    const plan = planOf(
      plannedStage({ name: 'identify', units: 20, priceCredits: 60 }),
      plannedStage({ name: 'grade', after: ['identify'], units: { foundBy: 'identify' } }),
    );
    const runUnits = ({ firstUnit, units }: { firstUnit: number; units: number }) =>
      firstUnit === 0 ? found(units) : failedUnits(units, unreadable);
    const { handle: run, result } = await start(plan, createBundleBackend({ plan, runUnits }));
    await result();
    expect((await currentDetails(run)).split('\n')).toEqual([
      'Ended **partial**, 30 credits charged.',
      '',
      expect.stringMatching(
        /^- \*\*identify\*\*: succeeded in \d+\.\d s, 20 of 20, 10 failed \(input_unreadable\), 30 credits$/,
      ),
      '- **grade**: did not run',
    ]);
  });

  it('Temporal Web shows no charges for the stages of a bundle whose job failed', async () => {
    const plan = planOf(plannedStage({ name: 'identify', isOptional: false, priceCredits: 60 }));
    const runUnits = ({ units }: { units: number }) => failedUnits(units, unreadable);
    const { handle: run, result } = await start(plan, createBundleBackend({ plan, runUnits }));
    await result();
    expect(await currentDetails(run)).toMatch(
      /^Ended \*\*failed\*\* \(input_unreadable\), 0 credits charged\.\n\n- \*\*identify\*\*: failed in [\d.]+ s, 1 of 1, 1 failed \(input_unreadable\)$/,
    );
  });
});

it('a stage whose worker is lost on every attempt says so to operators', async () => {
  const plan = planOf(plannedStage({ name: 'identify', priceCredits: 50 }), plannedStage({ name: 'detect' }));
  const backend = createBundleBackend({ plan });
  const activities = createInferenceActivities({ orm, backend });
  const runStage = (range: Parameters<typeof activities.runStage>[0]) =>
    range.stage.name === 'detect' ? Context.current().cancelled : activities.runStage(range);
  const silent = { ...activities, runStage };
  const { handle: run, result } = await start(plan, backend, { inferenceAttempts: 1 }, undefined, silent);
  expect(await result()).toMatchObject({ status: 'partial', chargedCredits: 50 });
  expect((await currentDetails(run)).split('\n').at(-1)).toMatch(
    /^- \*\*detect\*\*: failed in [\d.]+ s, 1 of 1, 1 failed \(model_inference_failed\), worker lost, 0 credits$/,
  );
});

describe('a stage that fails', () => {
  it('an optional stage that fails makes the job partial: successes are charged, the rest is released', async () => {
    const plan = planOf(
      plannedStage({ name: 'identify', units: 10, priceCredits: 50 }),
      plannedStage({ name: 'detect', units: 10, priceCredits: 75 }),
    );
    const runUnits = ({ stage, units }: { stage: PlannedStage; units: number }) =>
      stage.name === 'detect' ? failedUnits(units, unreadable) : found(units);
    const { jobId, result } = await start(plan, createBundleBackend({ plan, runUnits }));
    expect(await result()).toMatchObject({ status: 'partial', chargedCredits: 50 });
    const job = await readJob(orm, jobId);
    expect(job.stages?.[1]).toMatchObject({ status: 'failed', error: unreadable.toJobError(), progress: 0 });
    expect(await account()).toEqual({ available: 950, held: 0, openJobs: 0 });
  });

  it('a stage that fails on some units is charged for the others', async () => {
    const plan = planOf(plannedStage({ name: 'detect', units: 20, priceCredits: 60 }));
    const runUnits = ({ firstUnit, units }: { firstUnit: number; units: number }) =>
      firstUnit === 0 ? found(units) : failedUnits(units, unreadable);
    const { jobId, result } = await start(plan, createBundleBackend({ plan, runUnits }));
    expect(await result()).toMatchObject({ status: 'partial', chargedCredits: 30 });
    const { stages } = await readJob(orm, jobId);
    expect(ends(stages)).toEqual([['detect', 'partial', 30]]);
    expect(stages?.[0]).toMatchObject({ progress: 0.5, error: unreadable.toJobError() });
  });

  it('the failure of a required stage fails the job: nothing is charged, and later stages are skipped', async () => {
    const plan = planOf(
      plannedStage({ name: 'identify', priceCredits: 50 }),
      plannedStage({ name: 'detect', after: ['identify'], isOptional: false, priceCredits: 75 }),
      plannedStage({ name: 'merge', after: ['detect'] }),
    );
    const runUnits = ({ stage, units }: { stage: PlannedStage; units: number }) =>
      stage.name === 'detect' ? failedUnits(units, unreadable) : found(units);
    const backend = createBundleBackend({ plan, runUnits });
    const { jobId, handle: run, result } = await start(plan, backend);
    expect(await result()).toMatchObject({ status: 'failed', chargedCredits: 0 });
    const job = await readJob(orm, jobId);
    expect(job).toMatchObject({ result: null, error: unreadable.toJobError() });
    expect(shownEnds(job)).toEqual([
      ['identify', 'succeeded', 0],
      ['detect', 'failed', 0],
      ['merge', 'skipped', 0],
    ]);
    expect(ends(job.stages)).toEqual(shownEnds(job));
    const { stages } = await run.query<RunJobStatus>(RUN_JOB_STATUS_QUERY);
    expect(stages.map(({ status, chargedCredits }) => [status, chargedCredits])).toEqual([
      ['succeeded', 0],
      ['failed', 0],
      ['skipped', 0],
    ]);
    expect(backend.begun).toEqual(['identify 0-0', 'detect 0-0']);
    expect(await account()).toEqual({ available: 1_000, held: 0, openJobs: 0 });
  });

  it('the failure of a required stage stops the stages beside it: their remaining units do not run', async () => {
    const plan = planOf(
      plannedStage({ name: 'detect', isOptional: false }),
      plannedStage({ name: 'identify', units: 60, priceCredits: 60 }),
    );
    const held = gate();
    const backend = createBundleBackend({
      plan,
      runUnits: async ({ stage, units }) => {
        if (stage.name === 'detect') return failedUnits(units, unreadable);
        await held.opened;
        return found(units);
      },
    });
    const { handle: run, result } = await start(plan, backend);
    const stageEnds = async () =>
      (await run.query<RunJobStatus>(RUN_JOB_STATUS_QUERY)).stages.map(({ status }) => status);
    await until(async () => (await stageEnds())[0] === 'failed');
    held.open();
    expect(await result()).toMatchObject({ status: 'failed', chargedCredits: 0 });
    expect(backend.begun.length).toBeLessThan(7);
  });

  it('a job fails when all its stages fail, although each was optional', async () => {
    const plan = planOf(plannedStage({ name: 'identify', priceCredits: 5 }), plannedStage({ name: 'detect' }));
    const runUnits = ({ units }: { units: number }) => failedUnits(units, unreadable);
    const { jobId, result } = await start(plan, createBundleBackend({ plan, runUnits }));
    expect(await result()).toMatchObject({ status: 'failed', chargedCredits: 0 });
    expect((await readJob(orm, jobId)).error).toEqual(unreadable.toJobError());
  });

  it('a stage that fails transiently is retried and charged once', async () => {
    const plan = planOf(plannedStage({ name: 'detect', priceCredits: 75 }));
    let calls = 0;
    const runUnits = ({ units }: { units: number }) => {
      calls += 1;
      if (calls === 1) throw new ServiceError('model_inference_failed', 'The process that ran the model ended.');
      return found(units);
    };
    const { result } = await start(plan, createBundleBackend({ plan, runUnits }));
    expect(await result()).toMatchObject({ status: 'succeeded', chargedCredits: 75 });
    expect(calls).toBe(2);
  });

  it('a stage that fails by a timeout or for an unforeseen reason reports only its code', async () => {
    const plan = planOf(
      plannedStage({ name: 'slow', priceCredits: 10 }),
      plannedStage({ name: 'broken', priceCredits: 10 }),
      plannedStage({ name: 'sound', priceCredits: 10 }),
    );
    const backend = createBundleBackend({
      plan,
      runUnits: ({ stage, units }, { signal }) => {
        if (stage.name === 'broken') throw new TypeError('the password is hunter2');
        if (stage.name === 'sound') return found(units);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      },
    });
    const { jobId, result } = await start(plan, backend, { inferenceTimeoutMs: 5_000, inferenceAttempts: 1 });
    expect(await result()).toMatchObject({ status: 'partial', chargedCredits: 10 });
    const job = await readJob(orm, jobId);
    expect(job.stages?.map(({ error }) => error?.code ?? null)).toEqual([
      'inference_timeout',
      'model_inference_failed',
      null,
    ]);
    expect(JSON.stringify(job.stages)).not.toContain('hunter2');
  });
});

describe('units that an earlier stage finds', () => {
  it('units run as an earlier stage finds them; a stage without units is skipped', async () => {
    const plan = planOf(
      plannedStage({ name: 'intake', units: 2, unitsPerActivity: 1 }),
      plannedStage({ name: 'detect', after: ['intake'], units: { foundBy: 'intake' }, priceCredits: 30 }),
      plannedStage({ name: 'grade', after: ['detect'], units: { foundBy: 'detect' }, priceCredits: 30 }),
    );
    const runUnits = ({ stage, units }: { stage: PlannedStage; units: number }) =>
      stage.name === 'intake' ? { units: [{ status: 'succeeded', value: 0, foundUnits: 6 } as const] } : found(units);
    const backend = createBundleBackend({ plan, runUnits });
    const { jobId, result } = await start(plan, backend);
    expect(await result()).toMatchObject({ status: 'succeeded', chargedCredits: 30 });
    expect(backend.begun.slice(2).toSorted()).toEqual(['detect 0-9', 'detect 10-11']);
    expect(ends((await readJob(orm, jobId)).stages).at(-1)).toEqual(['grade', 'skipped', 0]);
  });
});

describe('an operator', () => {
  const plan = planOf(
    plannedStage({ name: 'identify', units: 20, priceCredits: 50 }),
    plannedStage({ name: 'detect', after: ['identify'], priceCredits: 75 }),
  );

  it('an operator who cancels the workflow between stages fails the job, releases its hold and keeps no outcome', async () => {
    const held = gate();
    const runUnits = async ({ stage, units }: { stage: PlannedStage; units: number }) => {
      if (stage.name === 'detect') await held.opened;
      return found(units);
    };
    const backend = createBundleBackend({ plan, runUnits });
    const { jobId, handle: run, result } = await start(plan, backend);
    await until(() => backend.begun.includes('detect 0-0'));
    expect(await keptOutcomes(jobId)).toBe(2);
    await run.cancel();
    expect(await result()).toMatchObject({ status: 'failed', chargedCredits: 0 });
    const job = await readJob(orm, jobId);
    expect(job.error?.code).toBe('job_stopped' satisfies ErrorCode);
    expect(job.stages).toMatchObject([
      { status: 'succeeded', error: null, credits: { reserved: 50, charged: 0 } },
      { status: 'failed', error: job.error, completed_at: Math.floor(Number(job.completedAt) / 1_000) },
    ]);
    expect(await run.query<RunJobStatus>(RUN_JOB_STATUS_QUERY)).toMatchObject({
      step: 'ended',
      stages: [
        { status: 'succeeded', error: null, chargedCredits: 0 },
        { status: 'failed', error: 'job_stopped', completedAt: expect.any(Number), chargedCredits: 0 },
      ],
    });
    expect((await currentDetails(run)).split('\n').slice(2)).toEqual([
      expect.stringMatching(/^- \*\*identify\*\*: succeeded in [\d.]+ s, 20 of 20$/),
      '- **detect**: stopped, 0 of 1',
    ]);
    expect(shownEnds(await readJob(orm, jobId))).toEqual([
      ['identify', 'succeeded', 0],
      ['detect', 'failed', 0],
    ]);
    expect(await account()).toEqual({ available: 1_000, held: 0, openJobs: 0 });
    held.open();
    expect(await keptOutcomes(jobId)).toBe(0);
  });

  it('a terminated workflow loses nothing: the next run reuses the stages’ outcomes and charges once', async () => {
    const held = gate();
    const runUnits = async ({ stage, units }: { stage: PlannedStage; units: number }) => {
      if (stage.name === 'detect') await held.opened;
      return found(units);
    };
    const backend = createBundleBackend({ plan, runUnits });
    const { jobId, handle: run } = await start(plan, backend);
    await until(() => backend.begun.includes('detect 0-0'));
    await run.terminate();
    held.open();
    handle = await startWorkflow(jobId);
    expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 125 });
    expect(backend.begun.filter((range) => range.startsWith('identify'))).toHaveLength(2);
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 125],
      ['capture', 125],
    ]);
  });
});

describe('a bundle of many units', () => {
  it('a bundle of many units continues as new before its history grows long, and runs nothing twice', async () => {
    const stages = ['identify', 'detect'].map((name) =>
      plannedStage({ name, units: 40, unitsPerActivity: 1, priceCredits: 80 }),
    );
    const plan = stagePlan(stages, { isShown: false, eventsPerRun: 200 });
    const backend = createBundleBackend({ plan });
    const { jobId, handle: run, result } = await start(plan, backend);
    const first = await run.describe();
    expect(await result()).toMatchObject({ status: 'succeeded', chargedCredits: 160 });
    expect(backend.begun).toHaveLength(80);
    expect(new Set(backend.begun).size).toBe(80);
    const last = await client.workflow.getHandle(jobId).describe();
    expect(last.runId).not.toBe(first.runId);
    for (const { runId } of [first, last]) {
      // What is under way is waited for: some events each.
      expect((await client.workflow.getHandle(jobId, runId).describe()).historyLength).toBeLessThan(250);
    }
    expect(await transfersOf(orm, jobId)).toEqual([
      ['hold', 160],
      ['capture', 160],
    ]);
  });
});

it('a video of any length is one activity plus some for its key frames, at most 40', async () => {
  const parameters = { frames_per_view: 5, run: [...FRAME_TASKS] };
  const plan = stagePlan(videoOnboard.stagePlan({ parameters, files: [{ mediaType: 'video/mp4' }] }), {
    isShown: false,
  });
  customer = await createCustomer(orm, { test: 100_000 });
  const runUnits = ({ stage, units }: { stage: PlannedStage; units: number }) =>
    stage.name === 'key_frames'
      ? { units: [{ status: 'succeeded', value: 0, foundUnits: 40 } as const] }
      : found(units);
  const backend = createBundleBackend({ plan, runUnits });
  const { handle: run, result } = await start(plan, backend);
  expect(await result()).toMatchObject({
    status: 'succeeded',
    chargedCredits: videoOnboard.price({ parameters, files: [] }),
  });
  expect(backend.begun).toHaveLength(1 + FRAME_TASKS.length * 4);
  expect((await run.describe()).historyLength).toBeLessThan(250);
});

describe('an inspection of 200 pictures', () => {
  const pictures = Array.from({ length: 200 }, (_, index) => ({
    field: 'images',
    storageKey: `jobs/picture-${index}.jpg`,
    mediaType: 'image/jpeg',
    bytes: 1,
    sha256: '',
    uploadId: null,
  }));

  it('an inspection of 200 pictures runs in one short history that contains no result', async () => {
    const stages = inspections.stagePlan({ parameters: {}, files: pictures });
    customer = await createCustomer(orm, { test: 100_000 });
    const jobId = await admit(orm, customer, {
      endpoint: 'inspections',
      inputs: pictures,
      reservedCredits: inspections.price({ parameters: {}, files: pictures }),
      stages: queuedStages(inspections, { parameters: {}, files: pictures }),
    });
    const backend = createFixtureBackend({
      logger: { info: () => {}, warn: () => {}, error: () => {} },
      endpoints,
      endpointsDirectory: new URL('../../src/endpoints/', import.meta.url),
      writeArtefact: standInArtefacts,
    });
    await serve(backend);
    handle = await startWorkflow(jobId);
    expect(await handle.result()).toMatchObject({ status: 'succeeded', chargedCredits: 200 * 80 + 50 });
    const job = await readJob(orm, jobId);
    expect((job.result as InspectionResult).views).toHaveLength(200);
    expect(job.stages?.map(({ status }) => status)).toEqual(stages.map(() => 'succeeded'));
    expect((await handle.describe()).historyLength).toBeLessThan(500);
    const text = await readableHistory(handle);
    expect(text).toContain('damage_detection: views 181 to 200 of 200');
    for (const secret of ['front_left', 'rear_door', 'picture-1', 'bbox']) expect(text).not.toContain(secret);
  });
});
