import type { JobInput, JobStage } from '../contracts/job.ts';
import { type CallerKey, type CountedRate, RATE_WINDOW_SECONDS } from '../organizations/callers-store.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';
import { findGoneUploads } from '../uploads/uploads-store.ts';
import { type ClaimRow, replayOf, type StoredResponse } from './idempotency-claims-store.ts';

export interface Admission {
  job: {
    id: string;
    organizationId: string;
    apiKeyId: string;
    endpoint: string;
    livemode: boolean;
    isStaging: boolean;
    testScenario: string | null;
    /** The build that must run it, when the request pins one. */
    pinnedModelVersion?: string | null;
    parameters: Record<string, unknown>;
    inputs: readonly JobInput[];
    reservedCredits: number;
    stages: readonly JobStage[] | null;
    requestId: string;
    idempotencyKey: string | null;
    createdAt: Date;
    /** Longest time in the queue. */
    expiryMs: number;
    dueAt: Date;
  };
  /** The request parameter that names the uploads. */
  uploadsParam: string;
  openJobsLimit: number;
  idempotency: {
    route: string;
    fingerprint: Uint8Array;
    /** Response of a replay, unless the first request later stores another one. */
    response: StoredResponse;
    /** Until then a repeated request is refused as in progress; null when the response is final at once. */
    inProgressUntil: Date | null;
  };
}

const ADMISSION = `jsonb_populate_record(null::jobs, $1::jsonb), $2::integer, $3::text[], $4::text, $5::bytea,
    $6::integer, $7::text, $8::timestamptz, null, null, null`;
const ADMIT_JOB = `call admit_job(${ADMISSION})`;
const ADMIT_JOB_OF_KNOWN_CALLER = `
  call admit_job_of_known_caller($9::bytea, $10::timestamptz, $11::text, $12::text, $13::integer,
    interval '${RATE_WINDOW_SECONDS} seconds', ${ADMISSION}, null, null)`;

/**
 * Creates a job and holds its credits in one statement, all or nothing, durable when this resolves. The statement commits,
 * so it cannot run within a transaction. Returns null, or the stored response of an earlier request with the same
 * idempotency key.
 * @throws ServiceError `insufficient_credits`, `concurrency_limit_exceeded`, `resource_not_found` (an upload has
 *   expired), `idempotency_key_reuse`, `idempotency_request_in_progress`
 */
export async function admitJob(em: EntityManager, admission: Admission): Promise<StoredResponse | null> {
  const [row] = await query<ClaimRow<'admitted'>>(em, ADMIT_JOB, valuesOf(admission)).catch(async (error: unknown) => {
    throw (await asRefusal(em, error, admission)) ?? error;
  });
  return replayOf(row);
}

/** A caller that was looked up before: by an earlier request, or when this one began. */
export interface KnownCaller extends CallerKey {
  secretHash: Uint8Array;
  /** Name that the request is counted under, and the limit of a window; null when it has been counted. */
  rate: { name: string; limit: number } | null;
  /**
   * Called once the statement has verified the caller, with the count of its requests if they were counted. Runs before any
   * other refusal, so that what it throws comes first.
   */
  onVerified: (rate: CountedRate | null) => void;
}

/**
 * Checks the caller, counts the request and admits the job: `findCaller` and `admitJob` in one statement. Returns null, and
 * changes nothing, when the caller has changed since it was looked up, the rate limit is reached or the endpoint has no
 * model.
 * @throws ServiceError as `admitJob` does; the request is then not counted
 */
export async function admitJobOfKnownCaller(
  em: EntityManager,
  admission: Admission,
  { secretHash, scopes, rate, onVerified }: KnownCaller,
): Promise<{ replay: StoredResponse | null } | null> {
  // The time of admission: receiving the body may have taken long.
  const now = admission.job.createdAt;
  const values = [...valuesOf(admission), secretHash, now, scopes.join(' '), rate?.name ?? null, rate?.limit ?? null];
  const [row] = await query<KnownCallerRow>(em, ADMIT_JOB_OF_KNOWN_CALLER, values).catch(async (error: unknown) => {
    throw (await asRefusal(em, error, admission)) ?? error;
  });
  if (row?.outcome === 'not_as_known') return null;
  if (row) onVerified(rate && { requests: row.requests ?? 0, resetSeconds: row.reset_seconds ?? 0 });
  return { replay: replayOf(row) };
}

type KnownCallerRow = ClaimRow<'admitted' | 'not_as_known'> & {
  requests: number | null;
  reset_seconds: number | null;
};

/** The parameters that both statements share. */
function valuesOf({ job, idempotency, openJobsLimit }: Admission): unknown[] {
  const columns = {
    id: job.id,
    organization_id: job.organizationId,
    api_key_id: job.apiKeyId,
    endpoint: job.endpoint,
    status: 'queued',
    livemode: job.livemode,
    is_staging: job.isStaging,
    test_scenario: job.testScenario,
    pinned_model_version: job.pinnedModelVersion ?? null,
    parameters: job.parameters,
    inputs: job.inputs,
    reserved_credits: job.reservedCredits,
    charged_credits: 0,
    stages: job.stages,
    request_id: job.requestId,
    idempotency_key: job.idempotencyKey,
    created_at: job.createdAt,
    expiry_ms: job.expiryMs,
    due_at: job.dueAt,
  };
  return [
    JSON.stringify(columns),
    openJobsLimit,
    uploadIdsOf(job),
    idempotency.route,
    idempotency.fingerprint,
    idempotency.response.status,
    idempotency.response.body,
    idempotency.inProgressUntil,
  ];
}

const uploadIdsOf = ({ inputs }: Pick<Admission['job'], 'inputs'>): string[] => [
  ...new Set(inputs.flatMap((input) => input.uploadId ?? [])),
];

/** The errors that admit_job raises, by their SQLSTATE. */
async function asRefusal(em: EntityManager, error: unknown, admission: Admission): Promise<ServiceError | undefined> {
  const { job, openJobsLimit } = admission;
  if (!(error instanceof Error)) return undefined;
  const { code, detail } = findDatabaseError(error);
  switch (code) {
    case 'VI402':
      return new ServiceError(
        'insufficient_credits',
        `This request holds ${job.reservedCredits} credits and ${detail} are available in ` +
          `${job.livemode ? 'live' : 'test'} mode. Top up, then repeat the request.`,
      );
    case 'VI429':
      return new ServiceError(
        'concurrency_limit_exceeded',
        `${detail} jobs are open; the limit is ${openJobsLimit}. Wait for some of them to end, then repeat the request.`,
        { headers: { 'Retry-After': '1' } },
      );
    case 'VI404':
      // Null when another job has used the upload meanwhile, which keeps it.
      return (await refuseGoneUploads(em, admission)) ?? uploadsGone('An upload has', admission);
    default:
      return undefined;
  }
}

/** The refusal that names the uploads that have expired, or null. */
export async function refuseGoneUploads(
  em: EntityManager,
  admission: Pick<Admission, 'job' | 'uploadsParam'>,
): Promise<ServiceError | null> {
  const ids = await findGoneUploads(em, admission.job, uploadIdsOf(admission.job));
  if (ids.length === 0) return null;
  return uploadsGone(ids.length === 1 ? `The upload ${ids[0]} has` : `The uploads ${ids.join(', ')} have`, admission);
}

const uploadsGone = (which: string, { uploadsParam: param }: Pick<Admission, 'uploadsParam'>) =>
  new ServiceError('resource_not_found', `${which} expired. Upload the content again.`, { param });

interface DatabaseError {
  /** SQLSTATE */
  code?: string;
  detail?: string;
}

/** MikroORM wraps what the driver threw; the SQLSTATE is on one of the two. */
function findDatabaseError(error: Error & DatabaseError): DatabaseError {
  if (typeof error.code === 'string') return error;
  return error.cause instanceof Error ? findDatabaseError(error.cause) : {};
}
