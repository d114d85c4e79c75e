/** Which error codes the operations of each surface can return. */
import { ERRORS, type ErrorCode } from '../../contracts/error-codes.ts';

/** Authenticated by API key, SDK licences, management by a member's token, and signed links that need neither. */
export type Surface = keyof typeof NAMES;

/** Prefix of the response names, before the HTTP status. */
const NAMES = { key: 'Error', license: 'LicenseError', management: 'ManagementError', link: 'LinkError' } as const;

const SURFACES = Object.keys(NAMES) as Surface[];

/** Surfaces with authenticated callers. */
const IDENTIFIED: readonly Surface[] = ['key', 'license', 'management'];
const WITH_KEY: readonly Surface[] = ['key', 'license'];

const SURFACES_OF: Readonly<Record<ErrorCode, readonly Surface[]>> = {
  malformed_request: SURFACES,
  parameter_invalid: SURFACES,
  parameter_missing: IDENTIFIED,
  parameter_unknown: IDENTIFIED,
  idempotency_key_invalid: IDENTIFIED,
  wait_not_supported: ['key'],
  test_scenario_not_supported: ['key'],
  unsupported_version: SURFACES,
  model_version_not_installed: ['key'],
  resource_not_found: SURFACES,
  method_not_allowed: ['key'],
  file_too_large: SURFACES,
  unsupported_media_type: SURFACES,
  range_not_satisfiable: ['link'],
  job_not_cancelable: ['key'],
  upload_already_ready: ['link'],
  api_key_inactive: ['management'],
  api_key_limit_reached: ['management'],
  webhook_endpoint_disabled: ['management'],
  webhook_endpoint_limit_reached: ['management'],
  webhook_delivery_pending: ['management'],
  // Internal API only, which the document omits.
  dispatch_ended: [],

  missing_api_key: WITH_KEY,
  invalid_api_key: WITH_KEY,
  api_key_expired: WITH_KEY,
  api_key_revoked: WITH_KEY,
  missing_token: ['management'],
  invalid_token: ['management'],
  token_expired: ['management'],
  role_not_permitted: ['management'],
  scope_not_granted: WITH_KEY,
  insufficient_credits: ['key'],

  license_environment_forbidden: ['license'],
  subscription_unpaid: ['license'],
  sdk_quota_exceeded: ['license'],
  sdk_license_not_current: ['license'],
  license_signing_unconfigured: ['license'],

  idempotency_key_reuse: IDENTIFIED,
  idempotency_request_in_progress: IDENTIFIED,
  rate_limit_exceeded: IDENTIFIED,
  concurrency_limit_exceeded: ['key'],

  internal_error: SURFACES,
  endpoint_unavailable: ['key'],
  service_unavailable: SURFACES,
  management_unconfigured: ['management'],
  payments_unconfigured: ['management'],

  // Errors of jobs. Only a dry run responds with one.
  input_unreadable: ['key'],
  model_inference_failed: [],
  model_unavailable: [],
  inference_timeout: [],
  job_stopped: [],
  job_expired: [],
};

/** Name of a response in `components.responses`. */
export const responseName = (surface: Surface, status: number | null) => `${NAMES[surface]}${status}`;

const codes = Object.keys(ERRORS) as ErrorCode[];

/** The codes that each response can carry, by response name. */
export const RESPONSE_CODES: Readonly<Record<string, readonly ErrorCode[]>> = Object.fromEntries(
  SURFACES.flatMap((surface) => {
    const possible = codes.filter((code) => SURFACES_OF[code].includes(surface));
    return [...new Set(possible.map((code) => ERRORS[code].status))].map((status) => [
      responseName(surface, status),
      possible.filter((code) => ERRORS[code].status === status),
    ]);
  }),
);
