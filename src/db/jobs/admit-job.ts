import type { JobInput, JobStage } from '../../contracts/job.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { type ClaimRow, replayOf, type StoredResponse } from '../idempotency.ts';
import { type CallerKey, type CountedRate, RATE_WINDOW_SECONDS } from '../organizations/callers.ts';
import { type EntityManager, query } from '../orm.ts';

export interface Admission {
  job: {
    id: string;
    organizationId: string;
    apiKeyId: string;
    endpoint: string;
    livemode: boolean;
    isStaging: boolean;
    testScenario: string | null;
    /** The build that must answer, where the request pins one. */
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
  openJobsLimit: number;
  idempotency: {
    route: string;
    fingerprint: Uint8Array;
    /** What a replay answers unless the first request later stores something else. */
    response: StoredResponse;
    /** Until then a repeated request is told that the first is in progress; null when its answer is final at once. */
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
 * Creates a job and holds its credits, in one statement: nothing of it exists unless all of it does, and all of it is on
 * disk when this resolves. Not within a transaction: the statement commits. Answers null, or the response that an earlier
 * request with the same idempotency key was given.
 * @throws ServiceError `insufficient_credits`, `concurrency_limit_exceeded`, `resource_not_found` (an upload that is
 *   gone), `idempotency_key_reuse`, `idempotency_request_in_progress`
 */
export async function admitJob(em: EntityManager, admission: Admission): Promise<StoredResponse | null> {
  const [row] = await query<ClaimRow<'admitted'>>(em, ADMIT_JOB, valuesOf(admission)).catch((error: unknown) => {
    throw asRefusal(error, admission) ?? error;
  });
  return replayOf(row);
}

/** A caller as it was found before, by an earlier request or when this one began. */
export interface KnownCaller extends CallerKey {
  secretHash: Uint8Array;
  /** What its request is counted under, and the most in a window; null where it was counted before. */
  rate: { name: string; limit: number } | null;
  /** Told that the caller is as it was known, and of its requests where they were counted: before anything else is refused. */
  confirm: (rate: CountedRate | null) => void;
}

/**
 * Checks the caller, counts the request and admits the job: what `findCaller` and `admitJob` do, in one statement. Answers
 * null, and has done nothing, when the caller is no longer as it was known, the request is one too many or the endpoint
 * has no model.
 * @throws ServiceError as `admitJob` does; the request is not counted then
 */
export async function admitJobOfKnownCaller(
  em: EntityManager,
  admission: Admission,
  { secretHash, scopes, rate, confirm }: KnownCaller,
): Promise<{ replay: StoredResponse | null } | null> {
  // As of now: the body may have been long in coming.
  const now = admission.job.createdAt;
  const values = [...valuesOf(admission), secretHash, now, scopes.join(' '), rate?.name ?? null, rate?.limit ?? null];
  const [row] = await query<KnownCallerRow>(em, ADMIT_JOB_OF_KNOWN_CALLER, values).catch((error: unknown) => {
    throw asRefusal(error, admission) ?? error;
  });
  if (row?.outcome === 'not_as_known') return null;
  if (row) confirm(rate && { requests: row.requests ?? 0, resetSeconds: row.reset_seconds ?? 0 });
  return { replay: replayOf(row) };
}

type KnownCallerRow = ClaimRow<'admitted' | 'not_as_known'> & {
  requests: number | null;
  reset_seconds: number | null;
};

/** Of the parameters that both statements begin with. */
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
    [...new Set(job.inputs.flatMap((input) => input.uploadId ?? []))],
    idempotency.route,
    idempotency.fingerprint,
    idempotency.response.status,
    idempotency.response.body,
    idempotency.inProgressUntil,
  ];
}

/** The errors that admit_job raises, by their SQLSTATE. */
function asRefusal(error: unknown, { job, openJobsLimit }: Admission): ServiceError | undefined {
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
        `${detail} jobs are open and ${openJobsLimit} may be. Wait for some of them to end, then repeat the request.`,
        { headers: { 'Retry-After': '1' } },
      );
    case 'VI404':
      return new ServiceError('resource_not_found', 'An upload has expired. Upload the file again.', {
        param: 'input_ref',
      });
    default:
      return undefined;
  }
}

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
