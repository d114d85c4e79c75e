/**
 * The statement that checks a caller and admits a job, taken from the service itself, so that the measured yardstick
 * is exactly what the service sends.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { EndpointContract } from '../src/contracts/endpoint-contract.ts';
import { type Admission, admitJobOfKnownCaller, type KnownCaller } from '../src/jobs/admission-store.ts';
import { fingerprint } from '../src/jobs/idempotency.ts';
import { renderJob } from '../src/jobs/job-resource.ts';
import { SCOPE_CATALOGUE } from '../src/organizations/scopes.ts';
import type { EntityManager } from '../src/platform/database/orm.ts';
import { newId } from '../src/platform/ids.ts';
import type { Organization } from './organizations.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
}

interface AdmissionOptions {
  endpoint: EndpointContract;
  organization: Pick<Organization, 'id' | 'apiKeyId' | 'secretHash'>;
}

export interface KnownCallersAdmission {
  admission: Admission;
  caller: KnownCaller;
}

/** The open jobs are never settled here, and must not reach the limit. */
export const OPEN_JOBS_LIMIT = 1_000_000;
/** Requests must not reach the rate limit. */
const RATE_LIMIT = 1_000_000_000;

/** The admission that the API derives from a multipart request with one picture and an Idempotency-Key. */
export function newAdmission({ endpoint, organization }: AdmissionOptions): KnownCallersAdmission {
  const createdAt = new Date();
  const id = newId('job');
  const sha256 = 'c8f5b3a1'.repeat(8);
  const job: Admission['job'] = {
    id,
    organizationId: organization.id,
    apiKeyId: organization.apiKeyId,
    endpoint: endpoint.slug,
    livemode: true,
    isStaging: false,
    testScenario: null,
    parameters: { read_warning_lights: true },
    inputs: [
      {
        field: endpoint.files.field,
        storageKey: `jobs/${id}.0`,
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
  const admission: Admission = {
    job,
    uploadsParam: 'input_ref',
    openJobsLimit: OPEN_JOBS_LIMIT,
    idempotency: {
      route: endpoint.slug,
      fingerprint: fingerprint({ parameters: job.parameters, files: [sha256], testScenario: null }),
      response: { status: 202, body: JSON.stringify(renderJob({ ...job, status: 'queued', ...unsettled })) },
      inProgressUntil: null,
    },
  };
  const { id: organizationId, apiKeyId } = organization;
  const key = { id: apiKeyId, organizationId, livemode: true, isStaging: false, scopes: [...SCOPE_CATALOGUE] };
  // Counted separately from requests over HTTP, which must respect the rate limit.
  const rate = { name: 'benchmark', limit: RATE_LIMIT };
  return { admission, caller: { ...key, secretHash: organization.secretHash, rate, onVerified() {} } };
}

/** Like the API for a known caller. */
export async function admit(em: EntityManager, { admission, caller }: KnownCallersAdmission): Promise<void> {
  const admitted = await admitJobOfKnownCaller(em, admission, caller);
  if (!admitted) throw new Error('the caller that was created was refused');
}

/** The statement and its values, without sending it. */
export async function admissionStatement(admission: KnownCallersAdmission): Promise<Statement> {
  let sent: Statement | undefined;
  const keep = async (statement: Statement) => {
    sent = statement;
    return [{ outcome: 'admitted', requests: 1, reset_seconds: 1 }];
  };
  await admit(entityManagerOf(keep), admission);
  if (!sent) throw new Error('no statement was sent');
  return sent;
}

/** Sends the statement of `admit` through one `pg` connection, as a prepared statement. */
export function preparedOn(client: pg.Client): EntityManager {
  return entityManagerOf(async ({ text, values }) => {
    const { rows } = await client.query({ name: 'admit_job', text, values: [...values] });
    return rows;
  });
}

/** The part of an EntityManager that `query` of `src/platform/database/orm.ts` uses. */
function entityManagerOf(send: (statement: Statement) => Promise<unknown[]>): EntityManager {
  const pool = { query: async (statement: Statement) => ({ rows: await send(statement) }) };
  return {
    isInTransaction: () => false,
    getConnection: () => ({ getNativeClient: async () => pool }),
  } as unknown as EntityManager;
}
