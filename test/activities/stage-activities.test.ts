/** One attempt of some units of a stage, and the one outcome of all. */

import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStageActivities } from '../../src/activities/stage-activities.ts';
import { createStageRecordActivities } from '../../src/activities/stage-record-activities.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import type { StageProgress, StageRange } from '../../src/contracts/run-bundle.ts';
import { openDatabase } from '../../src/database.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { queuedStages } from '../../src/jobs/job-stages.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { MODEL_VERSION } from '../support/backends.ts';
import { createBundleBackend, failedUnits, found, plannedStage, stagePlan } from '../support/bundle-backends.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, readJob } from '../support/jobs.ts';

const STAGE = plannedStage({ name: 'detect', units: 20, priceCredits: 60 });
const PLAN = stagePlan([STAGE, plannedStage({ name: 'merge', after: ['detect'] })]);

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;
let jobId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  const contract = { stages: ['detect', 'merge'], stagePlan: () => PLAN.stages };
  const stages = queuedStages(contract, { parameters: {}, files: [] });
  jobId = await admit(orm, customer, { endpoint: 'inspections', reservedCredits: 60, stages });
  await pickUpJob(orm.em.fork(), jobId, MODEL_VERSION, new Date());
});

const range = (changes: Partial<StageRange> = {}): StageRange => ({
  jobId,
  stage: STAGE,
  firstUnit: 0,
  units: 10,
  totalUnits: 20,
  attempts: 3,
  ...changes,
});

const environmentOf = (attempt = 1) => new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });

function run(
  runUnits: Parameters<typeof createBundleBackend>[0]['runUnits'] = ({ units }) => found(units),
  attempt = 1,
) {
  const environment = environmentOf(attempt);
  const heartbeats: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  const backend = createBundleBackend({ plan: PLAN, runUnits });
  const activities = createStageActivities({ orm, backend });
  return { backend, heartbeats, stage: (at = range()) => environment.run(() => activities.runStage(at)) };
}

async function kept(): Promise<unknown[]> {
  return query(orm.em.fork(), 'select stage, first_unit from stage_outcomes where job_id = $1', [jobId]);
}

describe('units of a stage', () => {
  it('the units of a stage are charged their share, and their outcomes stay out of the report', async () => {
    const { stage } = run(({ units }) => found(units, { name: 'Erika Mustermann' }));
    expect(await stage()).toEqual({ failedUnits: 0, foundUnits: 0, chargedCredits: 30, isSkipped: false, error: null });
    expect(await kept()).toEqual([{ stage: 'detect', first_unit: 0 }]);
  });

  it('the units of a stage report their progress in heartbeats', async () => {
    const { stage, heartbeats } = run(({ units }, { onProgress }) => {
      onProgress(7);
      return found(units);
    });
    await stage();
    expect(heartbeats).toEqual(['7 of 10 views']);
  });

  it('the units of a stage are not run again when an earlier attempt kept their outcome', async () => {
    const first = await run(({ units }) =>
      failedUnits(units, new ServiceError('input_unreadable', 'Truncated.')),
    ).stage();
    const { stage, backend } = run();
    expect(await stage()).toEqual(first);
    expect(backend.begun).toEqual([]);
  });

  it('the units of a stage see the outcomes of earlier stages, and a failure for each lost one', async () => {
    await run().stage(range({ firstUnit: 10 }));
    let seen: unknown;
    const merge = run((_, context) => {
      seen = context.found.detect?.map(({ status }) => status);
      return found(1);
    });
    await merge.stage(range({ stage: plannedStage({ name: 'merge', after: ['detect'] }), units: 1, totalUnits: 1 }));
    expect(seen).toEqual([...Array<string>(10).fill('failed'), ...Array<string>(10).fill('succeeded')]);
  });

  it('units with a transient failure are left to another attempt, under the code of the failure', async () => {
    const lost = new ServiceError('model_unavailable', 'The worker is shutting down.');
    const { stage } = run(() => Promise.reject(lost));
    await expect(stage()).rejects.toMatchObject({ type: 'model_unavailable', nonRetryable: false });
    expect(await kept()).toEqual([]);
  });

  describe('units that require an endpoint which this worker does not serve', () => {
    const stage = { ...STAGE, requires: 'video.onboard' };
    const lacking = new ServiceError(
      'model_unavailable',
      'No inference worker that serves video.onboard took the job.',
    );
    const attempt = (changes: Partial<StageRange> = {}) =>
      run(() => Promise.reject(lacking), 2).stage(range({ stage, mayPassOn: true, ...changes }));
    beforeEach(async () => {
      await query(orm.em.fork(), `update jobs set livemode = true where id = $1`, [jobId]);
    });
    afterEach(async () => {
      await query(orm.em.fork(), 'delete from installed_endpoints');
    });

    it('units are left to another worker that announces the endpoint which they require', async () => {
      const installed = [{ endpoint: 'video.onboard', modelVersion: MODEL_VERSION }];
      await announceInstalledEndpoints(orm.em.fork(), installed, []);
      expect(await attempt()).toEqual({ kind: 'handed_back', isPassedOn: true, usedAttempts: 1 });
      await expect(attempt({ mayPassOn: false })).rejects.toMatchObject({ type: 'model_unavailable' });
      expect(await kept()).toEqual([]);
    });

    it('units fail the attempt where no worker announces the endpoint which they require', async () => {
      await expect(attempt()).rejects.toMatchObject({ type: 'model_unavailable' });
    });
  });

  it('the units of a stage keep no outcome when the job has ended meanwhile', async () => {
    const { stage } = run(async ({ units }) => {
      await query(orm.em.fork(), `update jobs set status = 'failed', completed_at = now() where id = $1`, [jobId]);
      return found(units);
    });
    await stage();
    expect(await kept()).toEqual([]);
  });
});

const progress = (changes: Partial<StageProgress>): StageProgress => ({
  name: 'detect',
  status: 'succeeded',
  units: 20,
  begunUnits: 20,
  endedUnits: 20,
  failedUnits: 0,
  foundUnits: 0,
  chargedCredits: 60,
  startedAt: 1,
  completedAt: 2,
  error: null,
  ...changes,
});

describe('the composed outcome of all stages', () => {
  async function composed(stages: StageProgress[]): Promise<InferenceOutcome | undefined> {
    const activities = createStageActivities({ orm, backend: createBundleBackend({ plan: PLAN }) });
    await environmentOf().run(() => activities.composeStages({ jobId, plan: PLAN, progress: stages }));
    const sql = 'select outcome from inference_outcomes where job_id = $1';
    const [row] = await query<{ outcome: InferenceOutcome }>(orm.em.fork(), sql, [jobId]);
    return row?.outcome;
  }
  const skipped = progress({ name: 'merge', status: 'skipped' });
  const halfLost = progress({ failedUnits: 10, chargedCredits: 30, error: 'inference_timeout' });

  it('the composed outcome counts lost units as failed', async () => {
    await run().stage();
    const outcome = await composed([halfLost, skipped]);
    expect(outcome).toMatchObject({ status: 'partial', chargedCredits: 30, error: null });
    expect(outcome?.stages).toMatchObject([
      { status: 'partial', credits: { charged: 30 }, error: { code: 'inference_timeout' } },
      { status: 'skipped', started_at: null },
    ]);
  });

  it('the composed outcome charges an outcome that an activity kept but could not report', async () => {
    await run().stage();
    await run().stage(range({ firstUnit: 10 }));
    const outcome = await composed([halfLost, skipped]);
    expect(outcome).toMatchObject({ status: 'succeeded', chargedCredits: 60 });
    expect(outcome?.stages?.[0]?.error).toBeNull();
  });

  it('the composed outcome keeps a stage failed that its workflow gave up, whatever outcomes were kept', async () => {
    await run().stage();
    const failed = progress({ status: 'failed', failedUnits: 20, chargedCredits: 0, error: 'inference_timeout' });
    const outcome = await composed([failed, skipped]);
    expect(outcome).toMatchObject({ status: 'failed', chargedCredits: 0, error: { code: 'inference_timeout' } });
  });

  it('the composed outcome stays the first one when it is composed again', async () => {
    await run().stage();
    const first = await composed([halfLost, skipped]);
    await run().stage(range({ firstUnit: 10 }));
    expect(await composed([halfLost, skipped])).toEqual(first);
  });
});

it('the stages of an ended job stay as its settlement left them', async () => {
  const records = createStageRecordActivities({ orm });
  await records.showStages({ jobId, progress: [progress({ status: 'processing', endedUnits: 5, completedAt: null })] });
  expect((await readJob(orm, jobId)).stages?.[0]).toMatchObject({ status: 'processing', progress: 0.25 });
  await query(orm.em.fork(), `update jobs set status = 'failed', completed_at = now() where id = $1`, [jobId]);
  await records.showStages({ jobId, progress: [progress({})] });
  expect((await readJob(orm, jobId)).stages?.[0]).toMatchObject({ status: 'processing', progress: 0.25 });
});
