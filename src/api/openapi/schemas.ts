/** Schemas of the resources that every endpoint shares. */
import { Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../../contracts/error-codes.ts';
import { CREDIT_EVENT_TYPES, EVENT_TYPES, JOB_STATUSES, STAGE_STATUSES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { SDKS } from '../../organizations/scopes.ts';
import { SDK_LICENSE_STATES } from '../../sdk-licenses/sdk-licenses.ts';

const codes = Object.keys(ERRORS) as ErrorCode[];
const epochSeconds = Type.Integer({ format: 'int64', description: 'Epoch seconds, UTC.' });
const credits = closed({ reserved: Type.Integer({ minimum: 0 }), charged: Type.Integer({ minimum: 0 }) });

const JobError = closed(
  { type: Type.String(), code: Type.Enum(codes), message: Type.String() },
  'Set when the job failed or expired.',
);

const JobStage = closed({
  name: Type.String(),
  status: Type.Enum([...STAGE_STATUSES], {
    description: '`partial`: some of its units, such as pictures, failed; `error` is that of the first.',
  }),
  progress: Type.Number({ minimum: 0, maximum: 1, description: 'Share of the units that ended without an error.' }),
  started_at: nullable(epochSeconds),
  completed_at: nullable(epochSeconds),
  credits,
  error: nullable({ ...JobError, description: 'Set when the stage, or one of its units, failed.' }),
});

/** Open, because each endpoint's response narrows `result`. */
const Job = Type.Object({
  id: Type.String({ pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('job'),
  endpoint: Type.String({ description: 'Dotted slug.' }),
  status: Type.Enum([...JOB_STATUSES]),
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  created: epochSeconds,
  started_at: nullable(epochSeconds),
  completed_at: nullable(epochSeconds),
  model_version: nullable(Type.String({ description: '`<model>@<release date>`' })),
  credits,
  result: nullable(Type.Object({}, { description: 'Payload of the endpoint; null until the job succeeds.' })),
  error: nullable(JobError),
  stages: Type.Optional(Type.Array(JobStage, { description: 'Present only on endpoints that run in stages.' })),
  test_scenario: Type.Optional(Type.String({ description: 'Present only on test-mode jobs steered by a scenario.' })),
});

const ErrorBody = closed({
  error: closed({
    type: Type.Enum([...new Set(codes.map((code) => ERRORS[code].type))]),
    code: Type.Enum(codes),
    message: Type.String({ description: 'Explains the error and what to change.' }),
    param: Type.Optional(Type.String({ description: 'The field, header or query parameter at fault.' })),
    doc_url: Type.String({ format: 'uri' }),
    request_id: Type.String(),
  }),
});

const Upload = closed({
  id: Type.String({ pattern: '^upl_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('upload'),
  status: Type.Enum(['pending', 'ready']),
  livemode: Type.Boolean(),
  filename: nullable(Type.String()),
  mime_type: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  received_bytes: Type.Integer({ minimum: 0 }),
  sha256: nullable(Type.String({ description: 'Hex; null while pending.' })),
  created: epochSeconds,
  expires_at: epochSeconds,
  upload_url: Type.Optional(
    Type.String({ format: 'uri', description: 'Present while pending: signed URL to PUT the content to.' }),
  ),
  upload_headers: Type.Optional(Type.Record(Type.String(), Type.String())),
});

const JobEvent = closed({
  id: Type.String({ pattern: '^evt_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('event'),
  type: Type.Enum([...EVENT_TYPES]),
  created: epochSeconds,
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  api_version: Type.String(),
  data: closed({ object: { $ref: '#/components/schemas/Job' } }),
  request: closed({ id: Type.String(), idempotency_key: nullable(Type.String()) }),
  test: Type.Optional(
    Type.Literal(true, { description: 'Present only on test events, which carry an example and are never listed.' }),
  ),
});

const CreditEvent = closed({
  id: Type.String({ pattern: '^evt_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('event'),
  type: Type.Enum([...CREDIT_EVENT_TYPES]),
  created: epochSeconds,
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  api_version: Type.String(),
  data: closed({
    object: closed({
      object: Type.Literal('credit_balance'),
      livemode: Type.Boolean(),
      balance: Type.Integer({ minimum: 0, description: 'Available plus held credits.' }),
      low_balance_threshold: Type.Integer({ minimum: 1 }),
    }),
  }),
  request: Type.Null(),
});

const Event = Type.Union([JobEvent, CreditEvent]);

const Endpoint = closed({
  object: Type.Literal('endpoint'),
  endpoint: Type.String({ description: 'Dotted slug.' }),
  path: Type.String(),
  title: Type.String(),
  family: Type.String(),
  scope: Type.String({ description: 'Scope that a key needs to call the endpoint.' }),
  preview: Type.Boolean(),
  available: Type.Boolean({
    description: 'Whether a model is installed for the mode of the calling key. Always true for a test key.',
  }),
  model_version: nullable(
    Type.String({ description: 'Default build in the mode of the calling key, used when a request pins none.' }),
  ),
  model_versions: Type.Array(Type.String(), {
    description: 'Every build that `Model-Version` can pin: the default, then newest first.',
  }),
  price_credits: Type.Integer({
    minimum: 0,
    description: 'Price of any request, or of the simplest request where the price depends on parameters.',
  }),
  available_values: Type.Record(Type.String(), Type.Array(Type.String()), {
    description:
      'By parameter, the values that `model_version` serves. Other parameters accept every value. A request with ' +
      'a value that is not available is refused with 503 `endpoint_unavailable`, a list if none of its values is.',
  }),
  rate_limit_per_minute: Type.Integer({
    minimum: 1,
    description: 'Requests per minute in the mode of the calling key.',
  }),
  wait: Type.Boolean(),
  expires_after_seconds: Type.Integer({ minimum: 1 }),
  test_scenarios: Type.Array(Type.String()),
});

const DryRun = closed({
  object: Type.Literal('dry_run'),
  endpoint: Type.String({ description: 'Dotted slug.' }),
  livemode: Type.Boolean(),
  credits: closed({
    reserved: Type.Integer({ minimum: 0, description: 'Credits the request would hold.' }),
    available: Type.Integer({ minimum: 0 }),
  }),
  sufficient: Type.Boolean({ description: 'Whether the available credits cover the hold.' }),
});

const KeyIdentity = closed({
  id: Type.String({ pattern: '^key_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  organization_id: Type.String(),
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  permissions: Type.Array(Type.String(), {
    description: 'Everything the key may do, including what its scopes imply.',
  }),
  scopes: Type.Array(Type.String(), { description: 'The scopes granted to the key.' }),
  expires_at: nullable(epochSeconds),
  rotates_at: nullable(epochSeconds),
});

const sdk = Type.Enum([...SDKS]);
const dateTime = Type.String({ format: 'date-time' });

const SdkLicense = closed({
  id: Type.String({ format: 'uuid', description: 'Unchanged by renewals.' }),
  organization_id: Type.String(),
  sdk,
  created_at: dateTime,
  issued_at: Type.String({ format: 'date-time', description: 'When the proof was signed.' }),
  valid_from: dateTime,
  expires_at: dateTime,
  proof: Type.String({
    description:
      'EdDSA JWT for offline verification with the keys of `/.well-known/jwks.json`. Never accepted as a credential.',
  }),
});

const SdkLicenseView = closed({
  sdk,
  state: Type.Enum([...SDK_LICENSE_STATES]),
  max_sdks: Type.Integer({ minimum: 0, description: 'SDKs covered by the current paid period.' }),
  consumed: Type.Integer({ minimum: 0, description: 'SDKs licensed in this period.' }),
  available: Type.Integer({ minimum: 0 }),
  license: nullable({ $ref: '#/components/schemas/SdkLicense' }),
});

export const schemas = {
  Job,
  DryRun,
  Event,
  Endpoint,
  Upload,
  KeyIdentity,
  SdkLicense,
  SdkLicenseView,
  Error: ErrorBody,
};
