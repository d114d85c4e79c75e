/**
 * The closed table of errors. It determines the `type` and HTTP status that a caller sees, whether a Temporal activity that
 * fails with the code is retried, and which page under `docs/errors/` explains it.
 */
interface ErrorEntry {
  /** The `type` of the error body. */
  readonly type: ErrorType;
  /** HTTP status; null for codes that appear only in the `error` of a job. */
  readonly status: number | null;
  /** Whether the same request can succeed later, unchanged. */
  readonly retryable: boolean;
}

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'billing_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error'
  | 'processing_error'
  | 'expired_error';

const invalid = (status = 400): ErrorEntry => ({ type: 'invalid_request_error', status, retryable: false });
const unauthenticated: ErrorEntry = { type: 'authentication_error', status: 401, retryable: false };
const overloaded: ErrorEntry = { type: 'rate_limit_error', status: 429, retryable: true };
const unavailable: ErrorEntry = { type: 'api_error', status: 503, retryable: true };
const processing = (retryable: boolean, status: number | null = null): ErrorEntry => ({
  type: 'processing_error',
  status,
  retryable,
});

export const ERRORS = {
  // The request itself
  malformed_request: invalid(),
  parameter_invalid: invalid(),
  parameter_missing: invalid(),
  parameter_unknown: invalid(),
  idempotency_key_invalid: invalid(),
  wait_not_supported: invalid(),
  test_scenario_not_supported: invalid(),
  unsupported_version: invalid(),
  model_version_not_installed: invalid(),
  resource_not_found: invalid(404),
  method_not_allowed: invalid(405),
  file_too_large: invalid(413),
  unsupported_media_type: invalid(415),
  range_not_satisfiable: invalid(416),
  job_not_cancelable: invalid(409),
  upload_already_ready: invalid(409),
  api_key_inactive: invalid(409),
  api_key_limit_reached: invalid(409),
  webhook_endpoint_disabled: invalid(409),
  webhook_endpoint_limit_reached: invalid(409),
  webhook_delivery_pending: invalid(409),
  dispatch_ended: invalid(410),

  // Callers and their permissions
  missing_api_key: unauthenticated,
  invalid_api_key: unauthenticated,
  api_key_expired: unauthenticated,
  api_key_revoked: unauthenticated,
  missing_token: unauthenticated,
  invalid_token: unauthenticated,
  token_expired: unauthenticated,
  role_not_permitted: { type: 'permission_error', status: 403, retryable: false },
  scope_not_granted: { type: 'permission_error', status: 403, retryable: false },
  insufficient_credits: { type: 'billing_error', status: 402, retryable: false },

  // SDK licences
  license_environment_forbidden: { type: 'permission_error', status: 403, retryable: false },
  subscription_unpaid: { type: 'billing_error', status: 409, retryable: false },
  sdk_quota_exceeded: { type: 'billing_error', status: 409, retryable: false },
  sdk_license_not_current: invalid(409),
  license_signing_unconfigured: { type: 'api_error', status: 503, retryable: false },

  // Repeated requests and limits
  idempotency_key_reuse: { type: 'idempotency_error', status: 409, retryable: false },
  idempotency_request_in_progress: { type: 'idempotency_error', status: 409, retryable: true },
  rate_limit_exceeded: overloaded,
  concurrency_limit_exceeded: overloaded,

  // The service
  internal_error: { type: 'api_error', status: 500, retryable: true },
  endpoint_unavailable: unavailable,
  service_unavailable: unavailable,
  management_unconfigured: { type: 'api_error', status: 503, retryable: false },
  payments_unconfigured: { type: 'api_error', status: 503, retryable: false },

  // Jobs
  model_inference_failed: processing(true),
  model_unavailable: processing(true),
  // Of a job, and of a dry run.
  input_unreadable: processing(false, 400),
  inference_timeout: processing(true),
  job_stopped: processing(true),
  job_expired: { type: 'expired_error', status: null, retryable: true },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The `error` of a failed or expired job. */
export interface JobError {
  type: ErrorType;
  code: ErrorCode;
  message: string;
}
