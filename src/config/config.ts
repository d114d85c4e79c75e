/** The one reader of `process.env`: every variable of every process, parsed once, at boot. */

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
const listOf = <const Choice extends string>(...choices: Choice[]) =>
  variable((value) => value.split(',').map((item) => oneOf(...choices)('').parse(item.trim())));

const DEVELOPMENT_SIGNING_KEY = 'development';

/** Every variable. `docs/configuration.md` is checked against this table. */
export const VARIABLES = {
  SERVICE_ENVIRONMENT: oneOf('development', 'production')(
    'What the process serves; `production` refuses the settings meant for development.',
    'production',
  ),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace')('Least level that is logged.', 'info'),
  DATABASE_URL: url('PostgreSQL, as `postgres://user:password@host:port/database`.'),
  DATABASE_POOL_SIZE: wholeNumber(1, 200)('Most connections one process opens to PostgreSQL.', '10'),
  TEMPORAL_ADDRESS: text('Temporal frontend, as `host:port`.'),
  TEMPORAL_NAMESPACE: text('Temporal namespace.', 'default'),
  API_HOST: text('Address the API listens on.', '0.0.0.0'),
  API_PORT: wholeNumber(0, 65535)('Port the API listens on; 0 takes a free one.', '8080'),
  PUBLIC_BASE_URL: url('Where customers reach the API; links in answers begin with it.', 'http://127.0.0.1:8080'),
  OPEN_JOBS_LIMIT: wholeNumber(1, 1_000_000)(
    'Most jobs of one organisation and mode that may be open at once.',
    '1000',
  ),
  STORAGE_DIRECTORY: text('Folder of uploads and artefacts, shared by API and inference workers.', '.data/storage'),
  URL_SIGNING_KEY: text(
    'Key of signed links to artefacts and uploads, the same in every process; in production 32 random characters or more.',
    DEVELOPMENT_SIGNING_KEY,
  ),
  MODELS_DIRECTORY: text('Folder of the installed models, `<model>/<release date>/model.json`.', 'models'),
  INFERENCE_QUEUES: listOf('inference-gpu', 'inference-heavy')(
    'Task queues an inference worker serves, separated by commas.',
    'inference-gpu,inference-heavy',
  ),
  INFERENCE_PROCESSES: wholeNumber(1, 64)('Child processes that run models, in one inference worker.', '1'),
  INFERENCE_THREADS: wholeNumber(1, 256)('Threads of each ONNX Runtime session.', '1'),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: flag(
    'Whether webhooks may go to http and to private addresses. Refused in production.',
    'false',
  ),
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof VARIABLES;
type Value<Name extends VariableName> = ReturnType<(typeof VARIABLES)[Name]['parse']>;
export type Config<Name extends VariableName> = { readonly [Key in Name]: Value<Key> };

/** What each process reads, besides which it reads nothing. */
const SHARED = ['SERVICE_ENVIRONMENT', 'LOG_LEVEL', 'DATABASE_URL', 'DATABASE_POOL_SIZE'] as const;
const TEMPORAL = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'] as const;
export const PROCESS_VARIABLES = {
  migrate: ['DATABASE_URL', ...TEMPORAL],
  api: [
    ...SHARED,
    ...TEMPORAL,
    'API_HOST',
    'API_PORT',
    'PUBLIC_BASE_URL',
    'OPEN_JOBS_LIMIT',
    'STORAGE_DIRECTORY',
    'URL_SIGNING_KEY',
  ],
  'worker:orchestration': [...SHARED, ...TEMPORAL, 'STORAGE_DIRECTORY'],
  'worker:inference': [
    ...SHARED,
    ...TEMPORAL,
    'PUBLIC_BASE_URL',
    'STORAGE_DIRECTORY',
    'URL_SIGNING_KEY',
    'MODELS_DIRECTORY',
    'INFERENCE_QUEUES',
    'INFERENCE_PROCESSES',
    'INFERENCE_THREADS',
  ],
  'worker:webhooks': [...SHARED, ...TEMPORAL, 'WEBHOOK_ALLOW_PRIVATE_TARGETS'],
  'ledger:verify': ['DATABASE_URL'],
} as const satisfies Record<string, readonly VariableName[]>;

export type ProcessName = keyof typeof PROCESS_VARIABLES;

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Reads what one process needs. @throws ConfigurationError naming every variable that is missing or wrong. */
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
  if (values.SERVICE_ENVIRONMENT === 'production') problems.push(...productionProblems(values));
  if (problems.length > 0) {
    throw new ConfigurationError(`The configuration of ${processName} is not usable:\n  ${problems.join('\n  ')}`);
  }
  return values as Config<(typeof PROCESS_VARIABLES)[Name][number]>;
}

/** Settings that are fit for a laptop only. */
function productionProblems(values: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  if (values.WEBHOOK_ALLOW_PRIVATE_TARGETS === true) {
    problems.push('WEBHOOK_ALLOW_PRIVATE_TARGETS must be false when SERVICE_ENVIRONMENT is production');
  }
  const signingKey = values.URL_SIGNING_KEY;
  if (typeof signingKey === 'string' && signingKey.length < 32) {
    problems.push('URL_SIGNING_KEY must have 32 characters or more when SERVICE_ENVIRONMENT is production');
  }
  return problems;
}
