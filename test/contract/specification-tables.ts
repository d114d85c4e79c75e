/**
 * The interface specification's tables, transcribed once. What they say of the inference interface is proven by
 * `specification.test.ts`, a test a row. Rows of operations that do not exist yet name their operation in `later`.
 */
/** Operations that later work builds. Each answers 404 until then; whoever builds one moves its rows over. */
export const LATER_OPERATIONS = [
  'GET /v1/api-keys/self',
  'POST /v1/sdk-licenses/{sdk}',
  'GET /mgmt/v1/sdk-licenses',
  'GET /mgmt/v1/api-key-scopes',
  'POST /mgmt/v1/api-keys',
  'POST /mgmt/v1/webhook-endpoints',
] as const;
export type LaterOperation = (typeof LATER_OPERATIONS)[number];

/** JSON types, with `null` where the table says "or null". */
export type FieldTypes = readonly ('string' | 'boolean' | 'integer' | 'number' | 'object' | 'array' | 'null')[];

export interface Field {
  field: string;
  types: FieldTypes;
  /** Absent from some objects of the kind. */
  optional?: true;
  values?: readonly unknown[];
  pattern?: string;
}

export const VERSION_LABEL = '2026-10-04';
export const MODEL_VERSION_PATTERN = /^[^@]+@\d{4}-\d{2}-\d{2}$/;

export const JOB_STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled'];

/** Every slug of the one listing and of the others. */
export const ENDPOINT_SLUGS = [
  'vehicle.pose',
  'vehicle.segment',
  'vehicle.identify',
  'vin.read',
  'driver_license.read',
  'plate.read',
  'document.read',
  'dashboard.read',
  'engine.detect',
  'damage.detect',
  'damage.severity',
  'tire.read',
  'tire.detect',
  'parts.recognize',
  'parts.segment',
  'parts.decompose',
  'pricing.vehicle',
  'pricing.repair',
  'render.background',
  'render.enhance',
  'render.plate',
  'render.360',
  'render.video',
  'render.hotspots',
  'vehicle.analyze',
  'video.onboard',
  'viewer.hotspots',
  'inspections',
];

/** Video, 360 and bundle endpoints. */
export const WITHOUT_WAIT = ['vehicle.analyze', 'video.onboard', 'inspections', 'render.360', 'render.video'];

export const MARKED_PREVIEW = ['driver_license.read', 'pricing.vehicle'];

export const JOB_FIELDS: readonly Field[] = [
  { field: 'id', types: ['string'], pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$' },
  { field: 'object', types: ['string'], values: ['job'] },
  { field: 'endpoint', types: ['string'], values: ENDPOINT_SLUGS },
  { field: 'status', types: ['string'], values: JOB_STATUSES },
  { field: 'livemode', types: ['boolean'] },
  { field: 'is_staging', types: ['boolean'] },
  { field: 'created', types: ['integer'] },
  { field: 'started_at', types: ['integer', 'null'] },
  { field: 'completed_at', types: ['integer', 'null'] },
  { field: 'model_version', types: ['string', 'null'] },
  { field: 'credits', types: ['object'] },
  { field: 'credits.reserved', types: ['integer'] },
  { field: 'credits.charged', types: ['integer'] },
  { field: 'result', types: ['object', 'null'] },
  { field: 'error', types: ['object', 'null'] },
  { field: 'error.type', types: ['string'] },
  { field: 'error.code', types: ['string'] },
  { field: 'error.message', types: ['string'] },
  { field: 'stages', types: ['array'], optional: true },
  { field: 'test_scenario', types: ['string'], optional: true },
];

export const DASHBOARD_RESULT: readonly Field[] = [
  { field: 'cluster_lit', types: ['boolean', 'null'] },
  { field: 'odometer', types: ['object', 'null'] },
  { field: 'odometer.value', types: ['number'] },
  { field: 'odometer.unit', types: ['string', 'null'], values: ['km', 'mi'] },
  { field: 'odometer.display_type', types: ['string'], values: ['digital', 'analogue'] },
  { field: 'odometer.confidence', types: ['number'] },
  { field: 'odometer.bbox', types: ['object'] },
  { field: 'odometer.bbox.x', types: ['number'] },
  { field: 'odometer.bbox.y', types: ['number'] },
  { field: 'odometer.bbox.width', types: ['number'] },
  { field: 'odometer.bbox.height', types: ['number'] },
  { field: 'warning_lights', types: ['array'] },
  { field: 'warning_lights.code', types: ['string'] },
  { field: 'warning_lights.label', types: ['string'] },
  { field: 'warning_lights.severity', types: ['string'], values: ['advisory', 'stop', 'info'] },
  { field: 'warning_lights.confidence', types: ['number'] },
  { field: 'warning_lights.bbox', types: ['object'] },
  { field: 'fuel_level_percent', types: ['number', 'null'] },
];

const MEGABYTE = 1024 * 1024;
const PICTURES = ['image/jpeg', 'image/png', 'image/webp'];

export interface FilesRow {
  endpoint: string;
  field: string;
  minimum: number;
  maximum: number;
  mediaTypes: readonly string[];
  bytes: number;
}

export const FILES: readonly FilesRow[] = [
  { endpoint: 'dashboard.read', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  {
    endpoint: 'driver_license.read',
    field: 'images',
    minimum: 1,
    maximum: 2,
    mediaTypes: [...PICTURES, 'image/avif'],
    bytes: 20 * MEGABYTE,
  },
  { endpoint: 'pricing.vehicle', field: 'images', minimum: 0, maximum: 30, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  { endpoint: 'tire.read', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  { endpoint: 'render.enhance', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
  { endpoint: 'vin.read', field: 'image', minimum: 1, maximum: 1, mediaTypes: PICTURES, bytes: 10 * MEGABYTE },
];

export interface ParameterRow {
  endpoint: string;
  field: string;
  required?: true;
  accepts: readonly unknown[];
  refuses: readonly unknown[];
  /** What the field is when it is left out. */
  default?: unknown;
}

const COUNTRIES =
  'AT BE BG CA CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK US'.split(' ');
const OPERATIONS = [
  'denoise',
  'sharpen',
  'deblur',
  'upscale',
  'exposure_correction',
  'white_balance',
  'reflection_removal',
  'perspective_correction',
];

/** Where the specification does not show a name, the service's own stands. */
export const PARAMETERS: readonly ParameterRow[] = [
  { endpoint: 'dashboard.read', field: 'read_warning_lights', accepts: [true, false], refuses: ['yes', 2, null] },
  { endpoint: 'dashboard.read', field: 'unit_hint', accepts: ['km', 'mi'], refuses: ['miles', 'KM', null] },

  { endpoint: 'driver_license.read', field: 'country_hint', accepts: COUNTRIES, refuses: ['GB', 'CH', 'at', 'XX'] },
  {
    endpoint: 'driver_license.read',
    field: 'region_hint',
    accepts: ['US-CA', 'CA-ON', 'FR-75', 'AT-9', 'ES-CAT'],
    refuses: ['US', 'us-ca', 'US-', 'US-CALI', 'US_CA'],
  },

  {
    endpoint: 'pricing.vehicle',
    field: 'vehicle',
    required: true,
    accepts: [
      { make: 'Talvera', model: 'Lumo', year: 2021, mileage_km: 42_000 },
      { vin: '7ZZBX2C45N1048215' },
      { vin: '7ZZBX2C45N1048215', make: 'Talvera', model: 'Lumo', year: 2021, mileage_km: 42_000 },
    ],
    refuses: ['Talvera Lumo', [], { make: 1 }],
  },
  { endpoint: 'pricing.vehicle', field: 'condition_grade', accepts: ['A', 'B', 'C', 'D', 'E'], refuses: ['F', 'a', 1] },
  { endpoint: 'pricing.vehicle', field: 'repair_estimate_total', accepts: [0, 125_000], refuses: [-1, 0.5, '12'] },
  { endpoint: 'pricing.vehicle', field: 'price_book', accepts: ['eu-de'], refuses: [1, {}] },
  { endpoint: 'pricing.vehicle', field: 'currency', accepts: ['EUR', 'USD'], refuses: ['eur', 'EURO', '€'] },
  { endpoint: 'pricing.vehicle', field: 'country', accepts: ['DE', 'GB'], refuses: ['de', 'DEU'] },
  { endpoint: 'pricing.vehicle', field: 'margin_pct', accepts: [0, 12.5], refuses: ['12', {}] },
  { endpoint: 'pricing.vehicle', field: 'include_comparables', accepts: [true, false], refuses: ['no'], default: true },

  {
    endpoint: 'tire.read',
    field: 'position',
    accepts: ['front_left', 'front_right', 'rear_left', 'rear_right', 'spare', 'unknown'],
    refuses: ['left', 'middle', ''],
  },

  {
    endpoint: 'render.enhance',
    field: 'enhancer_model',
    accepts: ['GAN', 'fine_grain'],
    refuses: ['gan', 'diffusion'],
  },
  {
    endpoint: 'render.enhance',
    field: 'operations',
    accepts: [OPERATIONS, ...OPERATIONS.map((operation) => [operation])],
    refuses: [['colorize'], 'denoise'],
  },
  { endpoint: 'render.enhance', field: 'upscale_factor', accepts: [1, 2, 4], refuses: [0, 3, 8, '2'] },
  { endpoint: 'render.enhance', field: 'strength', accepts: [0, 0.5, 1], refuses: [-0.01, 1.01, '0.5'] },
  { endpoint: 'render.enhance', field: 'fidelity', accepts: [0, 0.5, 1], refuses: [-0.01, 1.01, '0.5'] },
  { endpoint: 'render.enhance', field: 'output_format', accepts: ['jpg', 'png', 'webp'], refuses: ['jpeg', 'gif'] },

  { endpoint: 'vin.read', field: 'validate_check_digit', accepts: [true, false], refuses: ['yes'] },
  {
    endpoint: 'vin.read',
    field: 'location_hint',
    accepts: ['windscreen', 'door_jamb', 'chassis_stamping', 'engine_bay', 'registration_document'],
    refuses: ['roof', ''],
  },
];

/** What the results say whose fields the specification leaves open: a place in the result for each of its words. */
export const RESULT_CONTENTS = [
  { endpoint: 'pricing.vehicle', says: 'a valuation in three channels', field: 'channels.trade_in.value' },
  { endpoint: 'pricing.vehicle', says: 'a valuation in three channels', field: 'channels.private.value' },
  { endpoint: 'pricing.vehicle', says: 'a valuation in three channels', field: 'channels.retail.value' },
  { endpoint: 'pricing.vehicle', says: 'the adjustments that produced it', field: 'adjustments.amount' },
  { endpoint: 'pricing.vehicle', says: 'the market observations behind it', field: 'comparables.price' },
  { endpoint: 'pricing.vehicle', says: 'the currency of its amounts', field: 'currency' },
  { endpoint: 'tire.read', says: 'what the tire is', field: 'size.text' },
  { endpoint: 'tire.read', says: 'the position, carried through', field: 'position' },
  { endpoint: 'render.enhance', says: 'the improved image', field: 'image.url' },
  { endpoint: 'render.enhance', says: 'which operations were applied', field: 'operations_applied.operation' },
  { endpoint: 'vin.read', says: 'the seventeen characters', field: 'vin.text' },
  { endpoint: 'vin.read', says: 'a confidence per character', field: 'vin.characters.confidence' },
  { endpoint: 'vin.read', says: 'where they were read from', field: 'vin.location' },
  { endpoint: 'vin.read', says: 'whether the check digit agrees', field: 'vin.check_digit.valid' },
] as const;

/** Each is a test of this name. */
export const CONVENTIONS = [
  'every inference endpoint is a POST under /v1',
  'an inference call answers 202 with a queued Job',
  'the result is collected by GET /v1/jobs/{id}',
  'with wait=true the answer is 200 with the settled Job',
  'when the ceiling of wait passes, the answer is 202 and the job goes on',
  'a multipart part carries the file and JSON refers to an upload, with the same effect',
  'input_refs names the uploads of an endpoint that takes several',
  'a video comes as an upload only',
  'an Idempotency-Key makes a replay answer the stored response, and bills nothing',
  'an Idempotency-Key has 8 to 255 characters',
  'test jobs carry livemode false and draw on the test balance alone',
  'live keys ignore X-Service-Test-Scenario',
  'GET /v1/endpoints tells availability and preview',
  'every response carries Request-Id',
  'paths of inference are under /v1 and of management under /mgmt/v1',
] as const;

export const SCENARIOS = [
  { scenario: null, effect: 'Deterministic success with the default fixture' },
  { scenario: 'empty_result', effect: 'Success with nothing detected: empty lists, null readings' },
  { scenario: 'low_confidence', effect: 'Success with every confidence below 0.5' },
  { scenario: 'model_error', effect: 'Job settles failed; the credit reservation is released' },
  { scenario: 'slow', effect: 'Completion after about 30 s, so wait=true times out' },
  { scenario: 'insufficient_credits', effect: '402 at admission, no job created' },
] as const;

export const TRANSITIONS = [
  { from: null, to: 'queued', also: 'credits reserved are held' },
  { from: 'queued', to: 'processing', also: 'started_at set' },
  { from: 'processing', to: 'succeeded', also: 'completed_at set, charged the real cost' },
  { from: 'processing', to: 'partial', also: 'completed_at set, charged the real cost, unused credits released' },
  { from: 'processing', to: 'failed', also: 'completed_at set, unused credits released' },
  { from: 'queued', to: 'expired', also: 'error populated' },
  { from: 'queued', to: 'canceled', also: 'cancelled before starting' },
] as const;

interface ErrorRow {
  status: number;
  condition: string;
  code: string;
  later?: LaterOperation;
}

export const ERROR_ROWS = [
  { status: 400, condition: 'wait on a video, 360 or bundle endpoint', code: 'wait_not_supported' },
  { status: 400, condition: 'a test scenario unknown to the endpoint', code: 'test_scenario_not_supported' },
  { status: 401, condition: 'an invalid API key', code: 'invalid_api_key' },
  { status: 402, condition: 'insufficient credits at admission', code: 'insufficient_credits' },
  { status: 403, condition: "a call outside the key's scopes", code: 'scope_not_granted' },
  { status: 409, condition: 'an Idempotency-Key with a different payload', code: 'idempotency_key_reuse' },
  { status: 429, condition: 'too many requests', code: 'rate_limit_exceeded' },
  { status: 400, condition: 'unknown SDK', code: 'parameter_invalid', later: 'POST /v1/sdk-licenses/{sdk}' },
  { status: 403, condition: 'SDK scope', code: 'scope_not_granted', later: 'POST /v1/sdk-licenses/{sdk}' },
  { status: 403, condition: 'test key', code: 'license_environment_forbidden', later: 'POST /v1/sdk-licenses/{sdk}' },
  { status: 409, condition: 'not paid', code: 'subscription_unpaid', later: 'POST /v1/sdk-licenses/{sdk}' },
  { status: 409, condition: 'quota', code: 'sdk_quota_exceeded', later: 'POST /v1/sdk-licenses/{sdk}' },
  { status: 409, condition: 'not current', code: 'sdk_license_not_current', later: 'POST /v1/sdk-licenses/{sdk}' },
  { status: 503, condition: 'no key', code: 'license_signing_unconfigured', later: 'POST /v1/sdk-licenses/{sdk}' },
] as const satisfies readonly ErrorRow[];

export const LIMITS = [
  { limit: 'a file sent as multipart', value: 10 * MEGABYTE },
  { limit: 'a file sent to the driver licence reader as multipart', value: 20 * MEGABYTE },
  { limit: 'the ceiling of wait in seconds', value: 30 },
  { limit: 'the shortest Idempotency-Key', value: 8 },
  { limit: 'the longest Idempotency-Key', value: 255 },
  { limit: 'hours for which an idempotent response is stored', value: 24 },
  { limit: 'images of the driver licence reader', value: 2 },
  { limit: 'images of pricing', value: 30 },
  { limit: 'seconds that a webhook destination has to answer', value: 10 },
  { limit: 'hours for which a delivery is retried', value: 24 },
  { limit: 'seconds that the slow scenario takes', value: 30 },
  { limit: 'characters of the name of an API key', value: 128, later: 'POST /mgmt/v1/api-keys' },
  { limit: 'characters of the description', value: 255, later: 'POST /mgmt/v1/webhook-endpoints' },
  { limit: 'least events of a webhook endpoint', value: 1, later: 'POST /mgmt/v1/webhook-endpoints' },
] as const;

/** Tables whose every row is for later: objects and bodies that only these operations show. */
export const LATER_TABLES: readonly { table: string; operation: LaterOperation }[] = [
  { table: 'Webhook endpoint', operation: 'POST /mgmt/v1/webhook-endpoints' },
  { table: 'API key', operation: 'POST /mgmt/v1/api-keys' },
  { table: 'Key identity', operation: 'GET /v1/api-keys/self' },
  { table: 'SDK licence view', operation: 'GET /mgmt/v1/sdk-licenses' },
  { table: 'SDK licence', operation: 'POST /v1/sdk-licenses/{sdk}' },
  { table: 'Catalogue of scopes', operation: 'GET /mgmt/v1/api-key-scopes' },
];
