/** Schemas of the resources that every endpoint shares. */
import { Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../../contracts/error-codes.ts';
import { CREDIT_EVENT_TYPES, EVENT_TYPES, JOB_STATUSES, STAGE_STATUSES } from '../../contracts/job.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { SDKS } from '../../domain/scopes.ts';
import { SDK_LICENSE_STATES } from '../../domain/sdk-licenses.ts';

const codes = Object.keys(ERRORS) as ErrorCode[];
const epochSeconds = Type.Integer({ format: 'int64', description: 'Epoch seconds, UTC.' });
const credits = closed({ reserved: Type.Integer({ minimum: 0 }), charged: Type.Integer({ minimum: 0 }) });

const JobError = closed(
  { type: Type.String(), code: Type.Enum(codes), message: Type.String() },
  'Set when failed or expired.',
);

const JobStage = closed({
  name: Type.String(),
  status: Type.Enum([...STAGE_STATUSES]),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  started_at: nullable(epochSeconds),
  completed_at: nullable(epochSeconds),
  credits,
  error: nullable(JobError),
});

/** Open, because each endpoint's answer narrows `result`. */
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
  result: nullable(Type.Object({}, { description: 'The payload of the endpoint; null until the job succeeds.' })),
  error: nullable(JobError),
  stages: Type.Optional(Type.Array(JobStage, { description: 'Only of endpoints that run in stages.' })),
  test_scenario: Type.Optional(Type.String({ description: 'Only on test-mode jobs that a scenario steered.' })),
});

const ErrorBody = closed({
  error: closed({
    type: Type.Enum([...new Set(codes.map((code) => ERRORS[code].type))]),
    code: Type.Enum(codes),
    message: Type.String({ description: 'Tells what to change.' }),
    param: Type.Optional(Type.String({ description: 'The field the message is about.' })),
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
    Type.String({ format: 'uri', description: 'While pending: where to PUT the content. Signed.' }),
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
    Type.Literal(true, { description: 'Only of a test event, which tells of an example. No list has it.' }),
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
      balance: Type.Integer({ minimum: 0, description: 'Available and held together.' }),
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
  scope: Type.String({ description: 'What a key needs to call it.' }),
  preview: Type.Boolean(),
  available: Type.Boolean({ description: 'Whether a model is installed for live mode. Test mode always works.' }),
  model_version: nullable(Type.String({ description: 'The build that answers where a request names none.' })),
  model_versions: Type.Array(Type.String(), {
    description: 'All that `Model-Version` can name: `model_version`, then the newest first.',
  }),
  price_credits: Type.Integer({ minimum: 0, description: 'Of any request, or of the plainest where it depends.' }),
  rate_limit_per_minute: Type.Integer({ minimum: 1 }),
  wait: Type.Boolean(),
  expires_after_seconds: Type.Integer({ minimum: 1 }),
  test_scenarios: Type.Array(Type.String()),
});

const DryRun = closed({
  object: Type.Literal('dry_run'),
  endpoint: Type.String({ description: 'Dotted slug.' }),
  livemode: Type.Boolean(),
  credits: closed({
    reserved: Type.Integer({ minimum: 0, description: 'What the request would hold.' }),
    available: Type.Integer({ minimum: 0 }),
  }),
  sufficient: Type.Boolean({ description: 'Whether the credits would do.' }),
});

const KeyIdentity = closed({
  id: Type.String({ pattern: '^key_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  organization_id: Type.String(),
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  permissions: Type.Array(Type.String(), {
    description: 'All that the key may do: what its scopes imply is spelt out.',
  }),
  scopes: Type.Array(Type.String(), { description: 'As the key was given them.' }),
  expires_at: nullable(epochSeconds),
  rotates_at: nullable(epochSeconds),
});

const sdk = Type.Enum([...SDKS]);
const dateTime = Type.String({ format: 'date-time' });

const SdkLicense = closed({
  id: Type.String({ format: 'uuid', description: 'The same through all renewals.' }),
  organization_id: Type.String(),
  sdk,
  created_at: dateTime,
  issued_at: Type.String({ format: 'date-time', description: 'When the proof was signed.' }),
  valid_from: dateTime,
  expires_at: dateTime,
  proof: Type.String({
    description: 'EdDSA JWT, verified offline with the keys of `/.well-known/jwks.json`. It opens nothing here.',
  }),
});

const SdkLicenseView = closed({
  sdk,
  state: Type.Enum([...SDK_LICENSE_STATES]),
  max_sdks: Type.Integer({ minimum: 0, description: 'Different SDKs that the present paid period covers.' }),
  consumed: Type.Integer({ minimum: 0, description: 'SDKs that were licensed in it.' }),
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
