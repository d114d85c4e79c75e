/**
 * The statement with which the service checks a caller and admits a job, taken from the service itself: what is measured
 * beside it is, letter for letter, what it sends.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { EndpointContract } from '../src/contracts/endpoint-contract.ts';
import { type Admission, admitJobOfKnownCaller, type KnownCaller } from '../src/db/jobs/admit-job.ts';
import type { EntityManager } from '../src/db/orm.ts';
import { fingerprint } from '../src/domain/idempotency.ts';
import { newId } from '../src/domain/ids.ts';
import { renderJob } from '../src/domain/job-resource.ts';
import { SCOPE_CATALOGUE } from '../src/domain/scopes.ts';
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

/** The open jobs are never settled here, and must not run into the limit. */
export const OPEN_JOBS_LIMIT = 1_000_000;
/** Nor are requests held up. */
const RATE_LIMIT = 1_000_000_000;

/** An admission as the API makes it of a multipart request with one picture and an Idempotency-Key. */
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
  // Counted apart from the requests that come through HTTP: those are held to the rate.
  const rate = { name: 'benchmark', limit: RATE_LIMIT };
  return { admission, caller: { ...key, secretHash: organization.secretHash, rate, confirm() {} } };
}

/** As the API does for a caller that it has let in before. */
export async function admit(em: EntityManager, { admission, caller }: KnownCallersAdmission): Promise<void> {
  const admitted = await admitJobOfKnownCaller(em, admission, caller);
  if (!admitted) throw new Error('the caller was not as it was made');
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

/** Sends what `admit` sends through one `pg` connection, as a prepared statement. */
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
