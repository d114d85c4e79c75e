/** Example request and response of every operation except the inference endpoints, all for one organisation. */
import { createHash } from 'node:crypto';
import { API_VERSION } from '../../contracts/api-version.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { creditsInUsd } from '../../credits/money.ts';
import { endpointPath } from '../../endpoints/shared/endpoint-path.ts';
import { mayDo, PERMISSIONS, type Permission } from '../../organizations/roles.ts';
import { SCOPE_CATALOGUE } from '../../organizations/scopes.ts';
import { exampleQueuedJob, exampleSettledJob } from './examples.ts';

export interface OperationExample {
  /** JSON. */
  body?: object;
  /** By status and summary. */
  answers?: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
}

/** Examples by `operationId`. The first endpoint stands for all. */
export function operationExamples(
  endpoints: readonly EndpointContract[],
  publicBaseUrl: string,
): Readonly<Record<string, OperationExample>> {
  return {
    ...jobExamples(endpoints, publicBaseUrl),
    ...uploadExamples(publicBaseUrl),
    ...keyExamples,
    ...licenseExamples,
    ...organizationExamples,
    ...webhookExamples,
    ...creditExamples,
    ...billingExamples(endpoints),
  };
}

const seconds = (time: string) => Date.parse(time) / 1000;
const CREATED = seconds('2026-11-21T10:34:31Z');
const DAY = 86_400;

const ID = {
  organization: 'org_1CoTsd5kMvWzrNbUoFgrYo',
  user: 'usr_1CoTsd5kMvWzrNbUoFgrYo',
  key: 'key_1CoTsd5kMvWzrNbUoFgrYo',
  upload: 'upl_1CoTsd5kMvWzrNbUoFgrYo',
  event: 'evt_1CoTsd5kMvWzrNbUoFgrYo',
  job: 'job_1CoTsd5kMvWzrNbUoFgrYo',
  request: 'req_1CoTsd5kMvWzrNbUoFgrYp',
  endpoint: 'whe_1CoTsd5kMvWzrNbUoFgrYo',
  delivery: 'whd_1CoTsd5kMvWzrNbUoFgrYo',
  grant: 'grt_1CoTsd5kMvWzrNbUoFgrYo',
  entry: 'aud_1CoTsd5kMvWzrNbUoFgrYo',
  license: '0a8f5b0e-6a54-4b0b-9a55-5a1f8c9a6a11',
} as const;

const SHA_256 = createHash('sha256').update('example').digest('hex');

const pageOf = (...data: unknown[]) => ({ object: 'list', data, has_more: false });
const answered = (status: number, answer: unknown) => ({ answers: { [status]: { Example: answer } } });
const ok = (answer: unknown) => answered(200, answer);

// ---- Jobs, events, endpoints --------------------------------------------------------------------------------------

function jobExamples(endpoints: readonly EndpointContract[], publicBaseUrl: string): Record<string, OperationExample> {
  const [endpoint] = endpoints;
  if (!endpoint) return {};
  const queued = exampleQueuedJob(endpoint);
  const settled = exampleSettledJob(endpoint);
  const ended = settled ?? { ...queued, status: 'canceled', completed_at: CREATED + 1 };
  const event = {
    id: ID.event,
    object: 'event',
    type: 'job.succeeded',
    created: ended.completed_at,
    livemode: ended.livemode,
    is_staging: ended.is_staging,
    api_version: API_VERSION,
    data: { object: ended },
    request: { id: ID.request, idempotency_key: null },
  };
  const streamed = [queued, ended].map(
    (job) => `event: job.${job.status}\nid: ${job.status}\ndata: ${JSON.stringify(job)}`,
  );
  const job = { answers: { 200: { 'A queued job': queued, 'A settled job': ended } } };
  const described = {
    endpoint: endpoint.slug,
    path: endpointPath(endpoint.slug),
    title: endpoint.title,
    family: endpoint.family,
    scope: `${endpoint.family}:write`,
    preview: endpoint.preview,
    available: true,
    model_version: 'example-model@2026-11-21',
    model_versions: ['example-model@2026-11-21', 'example-model@2026-10-04'],
    available_values: {},
    price_credits: endpoint.priceCredits,
    rate_limit_per_minute: endpoint.rateLimitPerMinute,
    wait: endpoint.acceptsWait,
    expires_after_seconds: endpoint.expiryMs / 1000,
    test_scenarios: Object.keys(endpoint.scenarios),
  };
  return {
    listJobs: ok(pageOf(ended)),
    getJob: job,
    cancelJob: ok({ ...queued, status: 'canceled', completed_at: CREATED + 1 }),
    streamJob: ok(`${streamed.join('\n\n')}\n\n`),
    listEvents: ok(pageOf(event)),
    getEvent: ok(event),
    listEndpoints: ok(pageOf({ object: 'endpoint', ...described })),
    listOrganizationEndpoints: ok(
      pageOf({
        object: 'organization_endpoint',
        ...described,
        description: endpoint.description,
        files: {
          field: endpoint.files.field,
          minimum: endpoint.files.minimum,
          maximum: endpoint.files.maximum,
          media_types: endpoint.files.mediaTypes,
          direct_media_types: endpoint.files.directMediaTypes,
          maximum_bytes: endpoint.files.maximumBytes,
        },
        parameters: { type: 'object', properties: { max_results: { type: 'integer' } } },
        scenarios: endpoint.scenarios,
      }),
    ),
    listOrganizationJobs: ok(pageOf(ended)),
    getOrganizationJob: job,
    listOrganizationJobFiles: ok(
      pageOf({
        object: 'job_file',
        field: endpoint.files.field,
        media_type: 'image/jpeg',
        bytes: 2_411_724,
        sha256: SHA_256,
        upload_id: null,
        url: `${publicBaseUrl}/job-files/${ID.job}/0?expires=${CREATED + 600}&signature=${SHA_256}`,
        expires_at: CREATED + 600,
      }),
    ),
    listOrganizationJobEvents: ok(pageOf({ object: 'job_event', event, deliveries: [delivery] })),
  };
}

// ---- Uploads -----------------------------------------------------------------------------------------------------

function uploadExamples(publicBaseUrl: string): Record<string, OperationExample> {
  const announcement = { filename: 'walk-around.mp4', bytes: 104_857_600, mime_type: 'video/mp4' };
  const expiresAt = CREATED + DAY;
  const pending = {
    id: ID.upload,
    object: 'upload',
    status: 'pending',
    livemode: true,
    ...announcement,
    received_bytes: 0,
    sha256: null,
    created: CREATED,
    expires_at: expiresAt,
    upload_url: `${publicBaseUrl}/v1/uploads/${ID.upload}/content?expires=${expiresAt}&signature=${SHA_256}`,
    upload_headers: { 'Content-Type': announcement.mime_type },
  };
  const { upload_url: _url, upload_headers: _headers, ...whole } = pending;
  const ready = { ...whole, status: 'ready', received_bytes: whole.bytes, sha256: SHA_256 };
  const image = {
    ...ready,
    filename: 'front-left.jpg',
    bytes: 2_411_724,
    received_bytes: 2_411_724,
    mime_type: 'image/jpeg',
  };
  return {
    createUpload: {
      body: announcement,
      answers: { 201: { 'Announced as JSON': pending, 'Sent as multipart': image } },
    },
    getUpload: { answers: { 200: { 'Content received': ready, 'Content pending': pending } } },
    putUploadContent: {
      answers: {
        200: { 'Last part received': ready },
        308: { 'More parts to send': { ...pending, received_bytes: 67_108_864 } },
      },
    },
  };
}

// ---- API keys ----------------------------------------------------------------------------------------------------

const apiKey = {
  id: ID.key,
  object: 'api_key',
  name: 'Claims desk',
  prefix: 'chk_live_7Gm2',
  livemode: true,
  is_staging: false,
  scopes: ['jobs:read', 'understand:write'],
  created: CREATED,
  created_by: ID.user,
  last_used_at: CREATED + 3_600,
  revoked_at: null,
  expires_at: null,
  rotates_at: null,
};
/** Truncated, so nobody mistakes it for a working key. */
const SECRET = 'chk_live_7Gm2…';

const keyExamples: Record<string, OperationExample> = {
  getKeyIdentity: ok({
    id: ID.key,
    organization_id: ID.organization,
    livemode: true,
    is_staging: false,
    permissions: apiKey.scopes,
    scopes: apiKey.scopes,
    expires_at: null,
    rotates_at: null,
  }),
  listApiKeyScopes: ok({ data: SCOPE_CATALOGUE }),
  createApiKey: {
    body: { name: apiKey.name, livemode: true, scopes: ['understand:write', 'jobs:read'] },
    ...answered(201, { ...apiKey, last_used_at: null, secret: SECRET }),
  },
  listApiKeys: ok(pageOf(apiKey)),
  getApiKey: ok(apiKey),
  updateApiKey: { body: { name: 'Claims desk, Hamburg' }, ...ok({ ...apiKey, name: 'Claims desk, Hamburg' }) },
  rotateApiKey: { body: { grace_seconds: DAY }, ...ok({ ...apiKey, rotates_at: CREATED + 2 * DAY, secret: SECRET }) },
  revokeApiKey: ok({ ...apiKey, revoked_at: CREATED + DAY }),
};

// ---- SDK licences ------------------------------------------------------------------------------------------------

const sdkLicense = {
  sdk: 'player',
  state: 'active',
  max_sdks: 2,
  consumed: 1,
  available: 1,
  license: {
    id: ID.license,
    organization_id: ID.organization,
    sdk: 'player',
    created_at: '2026-11-01T00:00:00.000Z',
    issued_at: '2026-11-21T10:34:31.000Z',
    valid_from: '2026-11-21T10:34:31.000Z',
    expires_at: '2027-11-01T00:00:00.000Z',
    proof: 'eyJhbGciOiJFZERTQSIs…',
  },
};

const licenseExamples: Record<string, OperationExample> = {
  getSdkLicense: ok(sdkLicense),
  issueSdkLicense: { body: { regenerate: false }, ...ok(sdkLicense) },
  listSdkLicenses: ok({ data: [sdkLicense] }),
  getLicenseKeys: ok({
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        kid: '2026-11',
        alg: 'EdDSA',
        use: 'sig',
      },
    ],
  }),
};

// ---- Organisation and audit log -----------------------------------------------------------------------------------

const organization = { id: ID.organization, object: 'organization', name: 'Hanse Claims GmbH', created: CREATED };

const organizationExamples: Record<string, OperationExample> = {
  getOrganization: ok(organization),
  getMember: ok({
    user_id: ID.user,
    object: 'member',
    organization_id: ID.organization,
    role: 'billing_manager',
    permissions: Object.keys(PERMISSIONS).filter((permission) => mayDo('billing_manager', permission as Permission)),
  }),
  updateOrganization: { body: { name: organization.name }, ...ok(organization) },
  listAuditLogEntries: ok(
    pageOf({
      id: ID.entry,
      object: 'audit_log_entry',
      user_id: ID.user,
      role: 'admin',
      action: 'createApiKey',
      target_id: ID.key,
      details: { name: apiKey.name, livemode: true, is_staging: false, scopes: ['understand:write', 'jobs:read'] },
      request_id: ID.request,
      created: CREATED,
    }),
  ),
};

// ---- Webhooks ----------------------------------------------------------------------------------------------------

const events = ['job.succeeded', 'job.failed'];
const webhookEndpoint = {
  id: ID.endpoint,
  object: 'webhook_endpoint',
  url: 'https://hooks.example.com/vehicle-inference',
  description: 'Claims desk',
  events,
  status: 'enabled',
  livemode: true,
  is_staging: false,
  created: CREATED,
  consecutive_failures: 0,
  failing_since: null,
  last_success_at: CREATED + 3_600,
  last_error: null,
  previous_secret_expires_at: null,
};
const WEBHOOK_SECRET = 'whsec_MfKQ9r8G…';
const delivery = {
  id: ID.delivery,
  object: 'webhook_delivery',
  webhook_endpoint_id: ID.endpoint,
  event_id: ID.event,
  event_type: 'job.succeeded',
  test: false,
  replay_of: null,
  status: 'delivered',
  created: CREATED + 2,
  completed_at: CREATED + 8,
  next_attempt_at: null,
  attempts: [
    {
      attempt: 1,
      attempted_at: CREATED + 2,
      duration_ms: 10_000,
      http_status: null,
      error: 'no complete response in time',
    },
    { attempt: 2, attempted_at: CREATED + 8, duration_ms: 41, http_status: 204, error: null },
  ],
};

const webhookExamples: Record<string, OperationExample> = {
  createWebhookEndpoint: {
    body: { url: webhookEndpoint.url, events, livemode: true, description: webhookEndpoint.description },
    ...answered(201, { ...webhookEndpoint, last_success_at: null, secret: WEBHOOK_SECRET }),
  },
  listWebhookEndpoints: ok(pageOf(webhookEndpoint)),
  getWebhookEndpoint: ok(webhookEndpoint),
  updateWebhookEndpoint: {
    body: { events: ['job.succeeded', 'job.partial', 'job.failed'] },
    ...ok({ ...webhookEndpoint, events: ['job.succeeded', 'job.partial', 'job.failed'] }),
  },
  enableWebhookEndpoint: ok(webhookEndpoint),
  rotateWebhookSecret: {
    body: { grace_seconds: DAY },
    ...ok({ ...webhookEndpoint, previous_secret_expires_at: CREATED + 2 * DAY, secret: WEBHOOK_SECRET }),
  },
  testWebhookEndpoint: ok({
    ...delivery,
    test: true,
    completed_at: CREATED + 2,
    attempts: [{ attempt: 1, attempted_at: CREATED + 2, duration_ms: 41, http_status: 204, error: null }],
  }),
  listWebhookDeliveries: ok(pageOf(delivery)),
  getWebhookDelivery: ok(delivery),
  getWebhookDeliveryBody: ok({
    object: 'webhook_delivery_body',
    webhook_delivery_id: ID.delivery,
    event_id: ID.event,
    body: '{"id":"evt_1CoTsd5kMvWzrNbUoFgrYo","object":"event","type":"job.succeeded"}',
  }),
  replayWebhookDelivery: answered(201, {
    ...delivery,
    id: 'whd_1CoTsd5kMvWzrNbUoFgrYp',
    replay_of: ID.delivery,
    status: 'pending',
    completed_at: null,
    next_attempt_at: CREATED + DAY,
    attempts: [],
  }),
  replayFailedWebhookDeliveries: {
    body: { since: CREATED },
    ...ok({ object: 'webhook_replay', replayed: 12, has_more: false }),
  },
};

// ---- Credits -----------------------------------------------------------------------------------------------------

const balance = {
  object: 'credit_balance',
  livemode: true,
  available: 48_120,
  held: 380,
  promotional: {
    credits: 1_500,
    grants: [{ id: ID.grant, granted: 5_000, credits: 1_500, expires_at: CREATED + 30 * DAY }],
  },
  low_balance_threshold: 10_000,
  is_low: false,
  top_up: 'checkout',
};

const creditExamples: Record<string, OperationExample> = {
  getCredits: ok(pageOf(balance)),
  updateCredits: { body: { livemode: true, low_balance_threshold: 10_000 }, ...ok(balance) },
  listCreditTransfers: ok(
    pageOf({
      id: 'ctr_4711',
      object: 'credit_transfer',
      livemode: true,
      kind: 'capture',
      from: 'held',
      to: 'revenue',
      credits: 20,
      job_id: ID.job,
      grant_id: null,
      reason: null,
      created: CREATED + 2,
    }),
  ),
  topUpCredits: {
    body: { livemode: true, credits: 50_000, return_url: 'https://claims.example.com/billing' },
    answers: {
      201: {
        'Live credits, awaiting payment': {
          object: 'credit_top_up',
          livemode: true,
          credits: 50_000,
          status: 'awaiting_payment',
          checkout_url: 'https://checkout.example.com/pay/cs_live_a1b2c3',
          checkout_expires_at: CREATED + DAY,
        },
        'Test credits, free of charge': {
          object: 'credit_top_up',
          livemode: false,
          credits: 50_000,
          status: 'completed',
          checkout_url: null,
          checkout_expires_at: null,
        },
      },
    },
  },
};

// ---- Usage and billing --------------------------------------------------------------------------------------------

function billingExamples([endpoint]: readonly EndpointContract[]): Record<string, OperationExample> {
  if (!endpoint) return {};
  const { slug, title, family, preview, priceCredits } = endpoint;
  const creditsPerUsd = 1_000;
  const usd = (credits: number) => creditsInUsd(credits, creditsPerUsd);
  const amount = (credits: number) => ({ credits, usd: usd(credits) });
  const [opening, bought, captures] = [12_000, 50_000, 700];
  const statement = {
    object: 'statement',
    month: '2026-11',
    livemode: true,
    is_final: false,
    credits_per_usd: creditsPerUsd,
    opening_balance: amount(opening),
    lines: [
      { kind: 'top_up', endpoint: null, count: 1, ...amount(bought) },
      { kind: 'capture', endpoint: slug, count: captures, ...amount(-captures * priceCredits) },
    ],
    closing_balance: amount(opening + bought - captures * priceCredits),
  };
  const ofMonth = {
    ...statement,
    lines: statement.lines.map((line) => (line.kind === 'capture' ? { ...line, endpoint: null } : line)),
  };
  const jobs = { queued: 2, processing: 1, succeeded: 700, partial: 0, failed: 3, canceled: 1, expired: 0 };
  return {
    getUsage: ok({
      object: 'usage',
      from: '2026-11-21',
      to: '2026-11-21',
      data: [
        {
          day: '2026-11-21',
          endpoint: slug,
          api_key_id: null,
          mode: null,
          jobs: { total: Object.values(jobs).reduce((sum, count) => sum + count, 0), ...jobs },
          credits_charged: captures * priceCredits,
          charged_usd: usd(captures * priceCredits),
        },
      ],
    }),
    listPrices: ok({
      object: 'price_list',
      credits_per_usd: creditsPerUsd,
      data: [
        {
          endpoint: slug,
          title,
          family,
          preview,
          price_credits: priceCredits,
          price_usd: usd(priceCredits),
          depends_on_request: endpoint.price !== undefined,
        },
      ],
    }),
    listStatements: ok(pageOf(ofMonth)),
    getStatement: ok(statement),
  };
}
