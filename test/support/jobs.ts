/** Creates jobs without HTTP. */
import { createHash } from 'node:crypto';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { type Admission, admitJob } from '../../src/jobs/admission-store.ts';
import { Job } from '../../src/jobs/entities.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { savePendingOutcome } from '../../src/jobs/pending-outcomes-store.ts';
import { pickUpJob } from '../../src/jobs/pick-up-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Customer } from './customers.ts';

/** Announces all endpoints like an inference worker, so that live mode accepts their jobs. */
export async function installEndpoints(orm: MikroORM): Promise<void> {
  const installed = endpoints.map(({ slug }) => ({ endpoint: slug, modelVersion: 'model-of-tests@2026-01-01' }));
  await announceInstalledEndpoints(orm.em.fork(), installed, []);
}

export type JobChanges = Partial<Admission['job']> & { openJobsLimit?: number; inProgressUntil?: Date | null };

export function admission(
  customer: Customer,
  { openJobsLimit = 1_000, inProgressUntil = null, ...changes }: JobChanges = {},
): Admission {
  const now = new Date();
  const job = {
    id: newId('job'),
    organizationId: customer.organizationId,
    apiKeyId: customer.keyIds.test,
    endpoint: 'dashboard.read',
    livemode: false,
    isStaging: false,
    testScenario: null,
    parameters: {},
    inputs: [],
    reservedCredits: 20,
    stages: null,
    requestId: newId('request'),
    idempotencyKey: null,
    createdAt: now,
    expiryMs: 600_000,
    dueAt: new Date(now.getTime() + 600_000),
    ...changes,
  };
  return {
    job,
    uploadsParam: 'input_refs',
    openJobsLimit,
    idempotency: {
      route: job.endpoint,
      fingerprint: createHash('sha256').update(JSON.stringify(job.parameters)).digest(),
      response: { status: 202, body: JSON.stringify({ id: job.id }) },
      inProgressUntil,
    },
  };
}

/** Admits a job and returns its id. */
export async function admit(orm: MikroORM, customer: Customer, changes: JobChanges = {}): Promise<string> {
  const admitted = admission(customer, changes);
  await admitJob(orm.em.fork(), admitted);
  return admitted.job.id;
}

export const SUCCESS: InferenceOutcome = {
  status: 'succeeded',
  result: { cluster_lit: true, odometer: null, warning_lights: [], fuel_level_percent: 50 },
  error: null,
  chargedCredits: 20,
};

/** Acts as a worker that picked the job up and left its outcome. */
export async function finishInference(
  orm: MikroORM,
  jobId: string,
  outcome: InferenceOutcome = SUCCESS,
): Promise<void> {
  const em = orm.em.fork();
  await pickUpJob(em, jobId, 'model-of-tests@2026-01-01', new Date());
  await savePendingOutcome(em, jobId, outcome);
}

/** As `finishInference`, and settles the job. */
export async function finishJob(orm: MikroORM, jobId: string, outcome: InferenceOutcome = SUCCESS): Promise<void> {
  await finishInference(orm, jobId, outcome);
  await createSettlementActivities({ orm }).settleJob({ jobId, failure: null });
}

export const readJob = (orm: MikroORM, id: string) => orm.em.fork().findOneOrFail(Job, { id });

/** Kind and amount of every transfer of a job, in order. */
export async function transfersOf(orm: MikroORM, jobId: string): Promise<[kind: string, amount: number][]> {
  const rows = await query<{ kind: string; amount: string }>(
    orm.em.fork(),
    'select kind, amount from credit_transfers where job_id = $1 order by id',
    [jobId],
  );
  return rows.map(({ kind, amount }) => [kind, Number(amount)]);
}

export async function countRows(orm: MikroORM, table: string, organizationId: string): Promise<number> {
  const sql = `select count(*)::integer as count from ${table} where organization_id = $1`;
  const [row] = await query<{ count: number }>(orm.em.fork(), sql, [organizationId]);
  return row?.count ?? 0;
}
