/**
 * The statement with which the service admits a job, taken from `admitJob` itself: what is measured beside the service
 * is, letter for letter, what the service sends.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { EndpointContract } from '../src/contracts/endpoint-contract.ts';
import { type Admission, admitJob } from '../src/db/jobs/admit-job.ts';
import type { EntityManager } from '../src/db/orm.ts';
import { fingerprint } from '../src/domain/idempotency.ts';
import { newId } from '../src/domain/ids.ts';
import { renderJob } from '../src/domain/job-resource.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
}

interface AdmissionOptions {
  endpoint: EndpointContract;
  organizationId: string;
  apiKeyId: string;
}

/** The open jobs are never settled here, and must not run into the limit. */
export const OPEN_JOBS_LIMIT = 1_000_000;

/** An admission as the API makes it of a multipart request with one picture and an Idempotency-Key. */
export function newAdmission({ endpoint, organizationId, apiKeyId }: AdmissionOptions): Admission {
  const createdAt = new Date();
  const id = newId('job');
  const sha256 = 'c8f5b3a1'.repeat(8);
  const job: Admission['job'] = {
    id,
    organizationId,
    apiKeyId,
    endpoint: endpoint.slug,
    livemode: true,
    isStaging: false,
    testScenario: null,
    parameters: { read_warning_lights: true },
    inputs: [
      {
        field: endpoint.files.field,
        storageKey: `jobs/${id}/0`,
        mediaType: 'image/png',
        bytes: 70,
        sha256,
        uploadId: null,
      },
    ],
    reservedCredits: endpoint.priceCredits,
    stages: null,
    requestId: newId('request'),
    idempotencyKey: randomUUID(),
    createdAt,
    expiryMs: 600_000,
    dueAt: new Date(createdAt.getTime() + endpoint.expiryMs),
  };
  const unsettled = { startedAt: null, completedAt: null, modelVersion: null, chargedCredits: 0 };
  return {
    job,
    openJobsLimit: OPEN_JOBS_LIMIT,
    idempotency: {
      route: endpoint.slug,
      fingerprint: fingerprint({ parameters: job.parameters, files: [sha256], testScenario: null }),
      response: { status: 202, body: JSON.stringify(renderJob({ ...job, status: 'queued', ...unsettled })) },
      inProgressUntil: null,
    },
  };
}

/** The statement and its values, without sending it. */
export async function admissionStatement(admission: Admission): Promise<Statement> {
  let sent: Statement | undefined;
  await admitJob(
    entityManagerOf(async (statement) => {
      sent = statement;
      return [{ outcome: 'admitted' }];
    }),
    admission,
  );
  if (!sent) throw new Error('admitJob sent no statement');
  return sent;
}

/** Sends what `admitJob` sends through one `pg` connection, as a prepared statement. */
export function preparedOn(client: pg.Client): EntityManager {
  return entityManagerOf(async ({ text, values }) => {
    const { rows } = await client.query({ name: 'admit_job', text, values: [...values] });
    return rows;
  });
}

/** The little of an EntityManager that `query` of `src/db/orm.ts` uses. */
function entityManagerOf(send: (statement: Statement) => Promise<unknown[]>): EntityManager {
  const pool = { query: async (statement: Statement) => ({ rows: await send(statement) }) };
  return {
    isInTransaction: () => false,
    getConnection: () => ({ getNativeClient: async () => pool }),
  } as unknown as EntityManager;
}
