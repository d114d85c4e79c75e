/** The only reader of `process.env`: every variable of every process, parsed once, at boot. */
import { parseLicenseSigningKeys } from './license-signing-keys.ts';
import { parseKserveServers, parseRemoteEndpoints } from './remote-servers.ts';

interface Variable<Value> {
  description: string;
  /** Undefined when the variable must be given. */
  default: string | undefined;
  parse(text: string): Value;
}

const variable =
  <Value>(parse: (text: string) => Value) =>
  (description: string, fallback?: string): Variable<Value> => ({ description, default: fallback, parse });

const text = variable((value) => value);
const flag = variable((value) => {
  if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
  return value === 'true';
});
const wholeNumber = (minimum: number, maximum: number) =>
  variable((value) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < minimum || number > maximum) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return number;
  });
const oneOf = <const Choice extends string>(...choices: Choice[]) =>
  variable((value) => {
    const choice = choices.find((known) => known === value);
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return choice;
  });
const url = variable((value) => {
  if (!URL.canParse(value)) throw new Error('must be a URL');
  return value.replace(/\/$/, '');
});
const list = variable((value) => {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new Error('must be a list without empty items');
  return items;
});
const optionalUrl = variable((value) => {
  if (value === '') return null;
  if (!URL.canParse(value)) throw new Error('must be a URL');
  return value.replace(/\/$/, '');
});
const listenAddress = variable((value) => {
  if (value !== '' && !/^\S+:\d{1,5}$/.test(value)) throw new Error('must be `host:port`');
  return value;
});
/** Temporal's SDK resolves no names. */
const listenIpAddress = variable((value) => {
  if (value !== '' && !/^(?:[\d.]+|\[[\da-fA-F:]+\]):\d{1,5}$/.test(value)) throw new Error('must be `ip:port`');
  return value;
});
const label = variable((value) => {
  if (!/^[A-Za-z0-9_-]{0,60}$/.test(value)) throw new Error('must be at most 60 letters, digits, `-` and `_`');
  return value;
});
const listOf = <const Choice extends string>(...choices: Choice[]) =>
  variable((value) => value.split(',').map((item) => oneOf(...choices)('').parse(item.trim())));

const listOfWholeNumbers = variable((value) => {
  const numbers = value.split(',').map((item) => item.trim());
  if (!numbers.every((item) => /^\d{1,4}$/.test(item))) throw new Error('must be a list of whole numbers');
  return [...new Set(numbers.map(Number))];
});

/** One of them, or both in an order. */
const stores = variable((value): readonly ['disk' | 'bucket', ('disk' | 'bucket')?] => {
  switch (value) {
    case 'disk':
    case 'bucket':
      return [value];
    case 'disk,bucket':
      return ['disk', 'bucket'];
    case 'bucket,disk':
      return ['bucket', 'disk'];
    default:
      throw new Error('must be `disk`, `bucket`, `disk,bucket` or `bucket,disk`');
  }
});
const bucketAndPrefix = variable((value) => {
  const [, bucket = '', prefix = ''] =
    /^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w-][\w.-]*(?:\/[\w-][\w.-]*)*))?$/.exec(value) ?? [];
  if (value !== '' && bucket === '') throw new Error('must be `bucket` or `bucket/prefix`');
  return { bucket, prefix };
});

const DEVELOPMENT_SIGNING_KEY = 'development';

/** Every variable. A test compares `docs/configuration.md` with this table. */
export const VARIABLES = {
  SERVICE_ENVIRONMENT: oneOf('development', 'production')(
    'Environment that the process serves; `production` refuses settings for development.',
    'production',
  ),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace')('Lowest level that is logged.', 'info'),
  DATABASE_URL: url('PostgreSQL, as `postgres://user:password@host:port/database`.'),
  DATABASE_POOL_SIZE: wholeNumber(1, 200)('Maximum of PostgreSQL connections in the pool of one process.', '10'),
  DATABASE_LISTEN_URL: optionalUrl(
    'PostgreSQL past a pooler, for the one connection that listens for settlements; `DATABASE_URL` when empty.',
    '',
  ),
  TEMPORAL_ADDRESS: text('Temporal frontend, as `host:port`.'),
  TEMPORAL_NAMESPACE: text('Temporal namespace.', 'default'),
  API_HOST: text('Address the API listens on.', '0.0.0.0'),
  API_PORT: wholeNumber(0, 65535)('Port the API listens on; 0 takes a free one.', '8080'),
  PUBLIC_BASE_URL: url(
    'Address at which customers reach the API; links in responses begin with it.',
    'http://127.0.0.1:8080',
  ),
  OPEN_JOBS_LIMIT: wholeNumber(1, 1_000_000)('Maximum of open jobs of one organisation and mode.', '1000'),
  STORAGE: stores(
    'Where uploads and artefacts are kept: in a folder (`disk`) or in a bucket of S3. Of two, the first is written to and ' +
      'both are read (docs/operations.md, "Moving files to a bucket").',
    'disk',
  ),
  STORAGE_DIRECTORY: text(
    'Folder of uploads and artefacts on the `disk`, shared by API and inference workers.',
    '.data/storage',
  ),
  STORAGE_BUCKET: bucketAndPrefix(
    'Bucket of uploads and artefacts, and the folder in it that the service keeps to. The AWS SDK finds the credentials.',
    '',
  ),
  STORAGE_REGION: label(
    'Region of the bucket; when empty as the AWS SDK finds it, and `us-east-1` with `STORAGE_ENDPOINT`.',
    '',
  ),
  STORAGE_ENDPOINT: optionalUrl('Address of a server of the S3 protocol; AWS when empty.', ''),
  STORAGE_PUBLIC_ENDPOINT: optionalUrl(
    'Address at which customers reach that server, for signed links; `STORAGE_ENDPOINT` when empty.',
    '',
  ),
  STORAGE_ENCRYPTION: oneOf(
    'none',
    'AES256',
    'aws:kms',
  )(
    'Server-side encryption that each write to the bucket asks for; with `none` the bucket does what it does by default.',
    'none',
  ),
  STORAGE_KMS_KEY_ID: text('Key of `aws:kms`; that of the account when empty.', ''),
  STORAGE_ARTEFACT_LINKS: oneOf('proxied', 'signed')(
    'Whether links to artefacts return the file, or redirect to a link that the bucket serves for five minutes.',
    'proxied',
  ),
  URL_SIGNING_KEY: text(
    'Key that signs links to artefacts and uploads and the tokens of dispatches, the same in every process; in production ' +
      '32 random characters or more.',
    DEVELOPMENT_SIGNING_KEY,
  ),
  SECRET_SEALING_KEYS: list(
    'Keys that seal secrets in the database, separated by commas: the first seals, all open; in production 32 random ' +
      'characters or more each.',
    DEVELOPMENT_SIGNING_KEY,
  ),
  MANAGEMENT_JWT_ISSUER: text(
    'Issuer (`iss`) of the tokens for the management API; nobody can sign in when empty.',
    '',
  ),
  MANAGEMENT_JWT_AUDIENCE: text('Audience (`aud`) that those tokens must have.', 'vehicle-inference-service'),
  MANAGEMENT_JWKS_URL: text('URL of the public keys of that issuer, a JSON Web Key Set.', ''),
  CONSOLE_CLIENT_ID: text(
    'Client id of the web console at that identity provider, a public client that uses PKCE; the console is not served ' +
      'when empty.',
    '',
  ),
  CONSOLE_AUTHORIZATION_URL: text(
    'Authorisation endpoint of the provider, with further parameters if it wants some, such as `?audience=…`.',
    '',
  ),
  CONSOLE_TOKEN_URL: text('Token endpoint of the provider, which must allow requests from the console (CORS).', ''),
  CONSOLE_TEMPORAL_URL: optionalUrl(
    'Address of Temporal Web, to which the console links jobs; no links when empty.',
    '',
  ),
  LICENSE_SIGNING_KEYS: variable(parseLicenseSigningKeys)(
    'Keys of SDK licences: the first signs, all are published at `/.well-known/jwks.json`; without a key, no licence is ' +
      'issued.',
    '{"keys":[]}',
  ),
  CREDITS_PER_USD: wholeNumber(1, 1_000_000)('Credits per US dollar.', '1000'),
  STRIPE_SECRET_KEY: text(
    'Secret key of the Stripe account that receives payments for live credits; none can be bought when empty.',
    '',
  ),
  STRIPE_WEBHOOK_SECRET: text('Signing secret of the Stripe webhook endpoint for `/billing/stripe/webhook`.', ''),
  MODELS_DIRECTORY: text('Folder of the installed models, `<model>/<release date>/model.json`.', 'models'),
  KSERVE_SERVERS: variable(parseKserveServers)(
    'Servers that run the networks of models, over the KServe v2 protocol: a JSON list of `name`, `url`, `headers` and ' +
      '`timeoutSeconds` (docs/remote-inference.md).',
    '[]',
  ),
  REMOTE_ENDPOINTS: variable(parseRemoteEndpoints)(
    'Endpoints that other clusters run in live mode: a JSON list of `endpoint`, `modelVersion`, `url`, `headers` and ' +
      '`heartbeatTimeoutSeconds` (docs/remote-inference.md).',
    '[]',
  ),
  INFERENCE_QUEUES: listOf(
    'inference-gpu',
    'inference-heavy',
    'inference-test',
    'inference-shadow',
  )(
    'Task queues an inference worker serves, separated by commas.',
    'inference-gpu,inference-heavy,inference-test,inference-shadow',
  ),
  INFERENCE_PROCESSES: wholeNumber(1, 64)(
    'Child processes of each model on each device, in one inference worker.',
    '1',
  ),
  INFERENCE_THREADS: wholeNumber(1, 256)('Threads of each ONNX Runtime session.', '1'),
  INFERENCE_EXECUTION_PROVIDER: oneOf(
    'cpu',
    'cuda',
    'tensorrt',
  )(
    'Provider that runs the networks; the worker does not start if it does not work (docs/operations.md, "GPUs").',
    'cpu',
  ),
  INFERENCE_DEVICES: listOfWholeNumbers(
    'Numbers of the GPUs to use, as CUDA counts them, separated by commas; ignored on the CPU.',
    '0',
  ),
  INFERENCE_MEMORY_MB: wholeNumber(0, 100_000_000)(
    'Megabytes that all loaded models together may need, by the `memoryMb` of their `model.json`; 0 sets no bound.',
    '0',
  ),
  INFERENCE_WORKING_MEMORY_MB: wholeNumber(0, 100_000_000)(
    'Megabytes that one child process may take for its work, beyond its memory when its model is warm; the kernel enforces ' +
      'it, on Linux only; 0 sets no bound.',
    '4096',
  ),
  LD_LIBRARY_PATH: text('Path of GPU libraries in unusual places, passed to child processes.', ''),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag(
    'Whether webhooks may use http and private addresses. Refused in production.',
    'false',
  ),
  METRICS_ADDRESS: listenAddress(
    'Address at which the process serves `/metrics`, `/health/live` and `/health/ready`, as `host:port`; none when empty.',
    '',
  ),
  TEMPORAL_METRICS_ADDRESS: listenIpAddress(
    'Address at which the Temporal SDK of a worker serves its own `/metrics`, as `ip:port`; none when empty.',
    '',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(
    'Collector that receives traces over OTLP/HTTP, such as `http://collector:4318`; no traces when empty.',
    '',
  ),
  TEMPORAL_DEPLOYMENT_NAME: label(
    'Worker deployment of this worker in Temporal; used only with `TEMPORAL_BUILD_ID`.',
    'vehicle-inference',
  ),
  TEMPORAL_BUILD_ID: label('Build of this worker in its worker deployment; workers are not versioned when empty.', ''),
  INPUT_RETENTION_DAYS: wholeNumber(1, 36_500)('Days to keep the files of an ended job and used uploads.', '30'),
  RESULT_RETENTION_DAYS: wholeNumber(0, 36_500)(
    'Days to keep the result and parameters of an ended job; 0 keeps them for ever.',
    '0',
  ),
  EVENT_RETENTION_DAYS: wholeNumber(30, 36_500)('Days to keep events and their deliveries.', '30'),
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof VARIABLES;
type Value<Name extends VariableName> = ReturnType<(typeof VARIABLES)[Name]['parse']>;
export type Config<Name extends VariableName> = { readonly [Key in Name]: Value<Key> };

/** The variables of each process; it reads no others. */
const SHARED = ['SERVICE_ENVIRONMENT', 'LOG_LEVEL', 'DATABASE_URL', 'DATABASE_POOL_SIZE'] as const;
const TEMPORAL = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'] as const;
const OBSERVED = ['METRICS_ADDRESS', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const WORKER = [...OBSERVED, 'TEMPORAL_METRICS_ADDRESS'] as const;
const VERSIONED = ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_BUILD_ID'] as const;
const STORAGE = [
  'STORAGE',
  'STORAGE_DIRECTORY',
  'STORAGE_BUCKET',
  'STORAGE_REGION',
  'STORAGE_ENDPOINT',
  'STORAGE_PUBLIC_ENDPOINT',
  'STORAGE_ENCRYPTION',
  'STORAGE_KMS_KEY_ID',
  'STORAGE_ARTEFACT_LINKS',
] as const;
const RETENTION = ['INPUT_RETENTION_DAYS', 'RESULT_RETENTION_DAYS', 'EVENT_RETENTION_DAYS'] as const;
export const PROCESS_VARIABLES = {
  migrate: ['DATABASE_URL', ...TEMPORAL],
  api: [
    ...SHARED,
    'DATABASE_LISTEN_URL',
    ...TEMPORAL,
    ...OBSERVED,
    'API_HOST',
    'API_PORT',
    'PUBLIC_BASE_URL',
    'OPEN_JOBS_LIMIT',
    ...STORAGE,
    'URL_SIGNING_KEY',
    'SECRET_SEALING_KEYS',
    'MANAGEMENT_JWT_ISSUER',
    'MANAGEMENT_JWT_AUDIENCE',
    'MANAGEMENT_JWKS_URL',
    'CONSOLE_CLIENT_ID',
    'CONSOLE_AUTHORIZATION_URL',
    'CONSOLE_TOKEN_URL',
    'CONSOLE_TEMPORAL_URL',
    'LICENSE_SIGNING_KEYS',
    'WEBHOOK_ALLOW_PRIVATE_TARGETS',
    'CREDITS_PER_USD',
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRET',
  ],
  'worker:orchestration': [
    ...SHARED,
    ...TEMPORAL,
    ...WORKER,
    ...VERSIONED,
    'PUBLIC_BASE_URL',
    ...STORAGE,
    'URL_SIGNING_KEY',
    ...RETENTION,
  ],
  'worker:inference': [
    ...SHARED,
    ...TEMPORAL,
    ...WORKER,
    'PUBLIC_BASE_URL',
    ...STORAGE,
    'URL_SIGNING_KEY',
    'MODELS_DIRECTORY',
    'KSERVE_SERVERS',
    'REMOTE_ENDPOINTS',
    'INFERENCE_QUEUES',
    'INFERENCE_PROCESSES',
    'INFERENCE_THREADS',
    'INFERENCE_EXECUTION_PROVIDER',
    'INFERENCE_DEVICES',
    'INFERENCE_MEMORY_MB',
    'INFERENCE_WORKING_MEMORY_MB',
    'LD_LIBRARY_PATH',
  ],
  'worker:webhooks': [
    ...SHARED,
    ...TEMPORAL,
    ...WORKER,
    ...VERSIONED,
    'WEBHOOK_ALLOW_PRIVATE_TARGETS',
    'SECRET_SEALING_KEYS',
  ],
  'ledger:verify': ['DATABASE_URL'],
  credits: ['DATABASE_URL'],
  subscriptions: ['DATABASE_URL'],
  'price-books': ['DATABASE_URL'],
  releases: ['DATABASE_URL'],
  storage: STORAGE,
} as const satisfies Record<string, readonly VariableName[]>;

export type ProcessName = keyof typeof PROCESS_VARIABLES;

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The keys that seal secrets, for scripts that write to a development database. */
export function readSealingKeys(environment: Readonly<Record<string, string | undefined>> = process.env): string[] {
  return VARIABLES.SECRET_SEALING_KEYS.parse(environment.SECRET_SEALING_KEYS || DEVELOPMENT_SIGNING_KEY);
}

/** Reads the variables of one process. @throws ConfigurationError that names every missing or wrong variable. */
export function readConfig<Name extends ProcessName>(
  processName: Name,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config<(typeof PROCESS_VARIABLES)[Name][number]> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of PROCESS_VARIABLES[processName]) {
    const entry: Variable<unknown> = VARIABLES[name];
    const given = environment[name] || entry.default;
    if (given === undefined) {
      problems.push(`${name} is missing: ${entry.description}`);
      continue;
    }
    try {
      values[name] = entry.parse(given);
    } catch (error) {
      problems.push(`${name} ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (values.MANAGEMENT_JWT_ISSUER && !URL.canParse(String(values.MANAGEMENT_JWKS_URL))) {
    problems.push('MANAGEMENT_JWKS_URL must be a URL when MANAGEMENT_JWT_ISSUER is set');
  }
  problems.push(...consoleProblems(values));
  if (Boolean(values.STRIPE_SECRET_KEY) !== Boolean(values.STRIPE_WEBHOOK_SECRET)) {
    problems.push('STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must be set together, or neither of them');
  }
  problems.push(...storageProblems(values));
  if (values.SERVICE_ENVIRONMENT === 'production') problems.push(...productionProblems(values));
  if (problems.length > 0) {
    throw new ConfigurationError(`The configuration of ${processName} is not usable:\n  ${problems.join('\n  ')}`);
  }
  return values as Config<(typeof PROCESS_VARIABLES)[Name][number]>;
}

function storageProblems({ STORAGE, STORAGE_BUCKET, ...values }: Partial<Config<VariableName>>): string[] {
  const problems: string[] = [];
  if (STORAGE?.includes('bucket') && STORAGE_BUCKET?.bucket === '') {
    problems.push('STORAGE_BUCKET must name a bucket when STORAGE has `bucket`');
  }
  if (values.STORAGE_KMS_KEY_ID && values.STORAGE_ENCRYPTION !== 'aws:kms') {
    problems.push('STORAGE_KMS_KEY_ID needs STORAGE_ENCRYPTION to be aws:kms');
  }
  return problems;
}

function consoleProblems(values: Readonly<Record<string, unknown>>): string[] {
  if (!values.CONSOLE_CLIENT_ID) return [];
  const urls = ['CONSOLE_AUTHORIZATION_URL', 'CONSOLE_TOKEN_URL'].filter((name) => !URL.canParse(String(values[name])));
  return [
    ...urls.map((name) => `${name} must be a URL when CONSOLE_CLIENT_ID is set`),
    ...(values.MANAGEMENT_JWT_ISSUER ? [] : ['MANAGEMENT_JWT_ISSUER must be set when CONSOLE_CLIENT_ID is set']),
  ];
}

/** Settings that only a laptop may use. */
function productionProblems(values: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  if (values.WEBHOOK_ALLOW_PRIVATE_TARGETS === true) {
    problems.push('WEBHOOK_ALLOW_PRIVATE_TARGETS must be false when SERVICE_ENVIRONMENT is production');
  }
  const signingKey = values.URL_SIGNING_KEY;
  if (typeof signingKey === 'string' && signingKey.length < 32) {
    problems.push('URL_SIGNING_KEY must have 32 characters or more when SERVICE_ENVIRONMENT is production');
  }
  const sealingKeys = values.SECRET_SEALING_KEYS;
  if (Array.isArray(sealingKeys) && sealingKeys.some((key) => String(key).length < 32)) {
    problems.push('SECRET_SEALING_KEYS must have 32 characters or more each when SERVICE_ENVIRONMENT is production');
  }
  return problems;
}
