/**
 * `npm run fuzz`: holds a running service to its OpenAPI document with requests that schemathesis makes up. Brings the
 * whole service up in a throw-away folder, on loopback and free ports; runs for `--seconds` (180), from `--seed` if
 * given, over one `--operation` (its id) or over all. Ends with 0 only when every answer is as documented.
 */
import { spawn, spawnSync } from 'node:child_process';
import { openAsBlob, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { importJWK, type JWK, SignJWT } from 'jose';
import { migrate } from '../src/db/migrate.ts';
import { seedDevelopment } from '../src/db/seed.ts';
import { newId } from '../src/domain/ids.ts';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';
import type { IdentityProviderSettings } from '../src/embedded/identity-provider.ts';
import { createReporter } from '../src/embedded/reporter.ts';
import { processRecordOf, startService } from '../src/embedded/service.ts';
import type { ServiceDescription } from '../src/embedded/service-parts.ts';
import { readSettings } from '../src/embedded/settings.ts';
import { listenForStop } from '../src/embedded/stop-signals.ts';

const SCHEMATHESIS_VERSION = '4.32.5';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'missing_required_header',
  // negative_data_rejection for all but multipart, from the hooks.
  'negative_json_rejection',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
  'use_after_free',
  // Left out: positive_data_acceptance, because no schema says that a file is a picture, that two fields exclude each
  // other or that an upload exists; ensure_resource_availability, because a settled job is no new resource;
  // object_level_authorization, because test/api proves it with customers that know of each other's ids.
];

/** The test mode of one organisation allows few requests a minute; the hooks go on with the next one. */
const CUSTOMERS = 60;
/** Of the organisations, those that are managed too: a minute of theirs allows many requests. */
const MANAGED_CUSTOMERS = 10;
const CUSTOMERS_AT_ONCE = 6;
/** The longest that the management API lets a token live. */
const TOKEN_LIFE = '1h';
/** Where nobody listens: a delivery fails at once. */
const RECEIVER_URL = 'http://127.0.0.1:9/hook';
const EXAMPLES_PER_OPERATION = 40;
/** Longer than the 30 s for which the API may hold a request. */
const REQUEST_TIMEOUT_SECONDS = 40;

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
const fixturesDirectory = join(projectDirectory, 'src', 'endpoints');
const picturePath = join(fixturesDirectory, 'damage.detect', 'fixtures', 'example.jpg');
const videoPath = join(fixturesDirectory, 'render.video', 'fixtures', 'walk-around-16-9.mp4');
const reporter = createReporter((line) => console.log(line));

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '180' }, seed: { type: 'string' }, operation: { type: 'string' } },
});

/** The program, from a virtual environment in the user's cache, which the first run makes. */
async function findSchemathesis(): Promise<string> {
  const environment = join(dirname(cacheDirectoryOf(process.env)), `schemathesis-${SCHEMATHESIS_VERSION}`);
  const program = join(environment, 'bin', 'schemathesis');
  if (spawnSync(program, ['--version']).status === 0) return program;
  const python = spawnSync('python3', ['-c', 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))']);
  if (python.status !== 0) {
    throw new Error('Python 3.10 or newer is needed as python3 on the PATH, with its venv module (python3-venv).');
  }
  return reporter.step(`schemathesis ${SCHEMATHESIS_VERSION} installed in ${environment}`, async () => {
    await rm(environment, { recursive: true, force: true });
    await mkdir(dirname(environment), { recursive: true });
    install('python3', ['-m', 'venv', environment]);
    install(join(environment, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${SCHEMATHESIS_VERSION}`]);
    return program;
  });
}

function install(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

type Send = (path: string, body: FormData | object) => Promise<Record<string, unknown>>;

function sending(apiUrl: string, key: string): Send {
  return async (path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(apiUrl + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, ...(!isForm && { 'Content-Type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

/** An organisation with what requests of its keys can refer to. */
async function createCustomer({ apiUrl, databaseUrl }: ServiceDescription) {
  const { organizationId, keys } = await seedDevelopment(databaseUrl);
  const post = sending(apiUrl, keys.test);
  const announced = { filename: 'a.jpg', bytes: (await openAsBlob(picturePath)).size, mime_type: 'image/jpeg' };
  return {
    organizationId,
    key: keys.test,
    /** There are no licences in test mode. */
    liveKey: keys.live,
    picture: (await post('/v1/uploads', await form('file', picturePath))).id,
    video: (await post('/v1/uploads', await form('file', videoPath))).id,
    announced: (await post('/v1/uploads', announced)).upload_url,
    damage: (await post('/v1/damage/detect', await form('image', picturePath))).id,
    spin: (await post('/v1/render/360', await form('images', ...Array<string>(8).fill(picturePath)))).id,
  };
}

/**
 * What a token of the organisation can refer to. None of it is of use to the requests with API keys, so that whatever is
 * revoked or deleted, the run goes on.
 */
async function manage(apiUrl: string, token: string) {
  const post = sending(apiUrl, token);
  const endpoint = { url: RECEIVER_URL, events: ['job.succeeded'], livemode: false };
  const webhookEndpoint = String((await post('/mgmt/v1/webhook-endpoints', endpoint)).id);
  return {
    token,
    webhookEndpoint,
    delivery: (await post(`/mgmt/v1/webhook-endpoints/${webhookEndpoint}/test`, {})).id,
    apiKey: (await post('/mgmt/v1/api-keys', { name: 'Fuzz', livemode: false })).id,
  };
}

/**
 * Makes tokens of any organisation with the key of the service's identity provider, which itself gives tokens of one
 * organisation only: its rate limit would be spent in seconds.
 */
async function tokensOf(dataDirectory: string): Promise<(organizationId: string) => Promise<string>> {
  const path = join(dataDirectory, 'identity-provider.json');
  const { issuer, audience, tokenSigningKey } = JSON.parse(await readFile(path, 'utf8')) as IdentityProviderSettings;
  const alg = 'ES256';
  const key = await importJWK(tokenSigningKey as JWK, alg);
  return (organizationId) =>
    new SignJWT({ org_id: organizationId, role: 'owner' })
      .setProtectedHeader({ alg })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(newId('user'))
      .setIssuedAt()
      .setExpirationTime(TOKEN_LIFE)
      .sign(key);
}

async function form(field: string, ...paths: string[]): Promise<FormData> {
  const body = new FormData();
  for (const path of paths) body.append(field, await openAsBlob(path), 'a');
  return body;
}

async function fuzz(program: string, service: ServiceDescription, directory: string, signal: AbortSignal) {
  const customersPath = join(directory, 'customers.json');
  await reporter.step(`${CUSTOMERS} organisations`, async () => {
    const customers: Awaited<ReturnType<typeof createCustomer>>[] = [];
    while (customers.length < CUSTOMERS) {
      const some = Array.from({ length: CUSTOMERS_AT_ONCE }, () => createCustomer(service));
      customers.push(...(await Promise.all(some)));
    }
    const tokenOf = await tokensOf(join(directory, 'data'));
    const managed = await Promise.all(
      customers.slice(0, MANAGED_CUSTOMERS).map(async (customer) => ({
        ...customer,
        ...(await manage(service.apiUrl, await tokenOf(customer.organizationId))),
      })),
    );
    await writeFile(customersPath, JSON.stringify({ customers, managed, receiverUrl: RECEIVER_URL }), { mode: 0o600 });
  });
  const args = [
    'run',
    `${service.apiUrl}/openapi.json`,
    `--checks=${CHECKS.join(',')}`,
    '--phases=examples,coverage,fuzzing,stateful',
    `--max-time=${flags.seconds}`,
    `--max-examples=${EXAMPLES_PER_OPERATION}`,
    `--request-timeout=${REQUEST_TIMEOUT_SECONDS}`,
    // Python 3.11 fails now and then when two threads parse source code, as hypothesis does.
    '--workers=1',
    '--continue-on-failure',
    '--suppress-health-check=all',
    '--generation-database=none',
    '--no-color',
    ...(flags.seed === undefined ? [] : [`--seed=${flags.seed}`]),
    ...(flags.operation === undefined ? [] : [`--include-operation-id=${flags.operation}`]),
  ];
  const run = spawn(program, args, {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    signal,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: join(projectDirectory, 'scripts', 'fuzz-contract-hooks.py'),
      FUZZ_CUSTOMERS: customersPath,
      FUZZ_PICTURE: picturePath,
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  return new Promise<number>((resolve, reject) => {
    run.once('error', reject).once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<number> {
  const program = await findSchemathesis();
  const directory = await mkdtemp(join(tmpdir(), 'vehicle-inference-fuzz-'));
  const dataDirectory = join(directory, 'data');
  const record = processRecordOf(dataDirectory);
  const signal = listenForStop({
    onFirst: () => reporter.say('\nStopping; once more Ctrl-C stops at once.'),
    onSecond: () => {
      record.killAll();
      rmSync(directory, { recursive: true, force: true });
    },
  });
  const anyPort = { apiPort: 0, temporalPort: 0, temporalWebPort: 0, postgresPort: 0, identityPort: 0 };
  try {
    const service = await startService({
      settings: { ...readSettings([], process.env), ...anyPort, apiHost: '127.0.0.1', dataDirectory },
      dependencies: { migrate, seedDevelopment },
      reporter,
      record,
      signal,
      throwAway: true,
    });
    try {
      return await fuzz(program, service.description, directory, signal);
    } finally {
      await reporter.step('Stopped, and its data removed', () => service.stop());
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`\nThe contract could not be fuzzed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
