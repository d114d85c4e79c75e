/**
 * `npm run fuzz`: tests a running service against its OpenAPI document, with requests that schemathesis generates. Starts
 * the whole service in a throw-away folder, on loopback and free ports; runs for `--seconds` (180) over one `--operation`
 * (its id) or all. Each run has a new seed and prints it; `--seed` replays a run. Exits with 0 only if every response is as
 * documented.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { openAsBlob, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { importJWK, type JWK, SignJWT } from 'jose';
import type { IdentityProviderSettings } from '../src/embedded/identity-provider.ts';
import { createReporter } from '../src/embedded/reporter.ts';
import { seedDevelopment } from '../src/embedded/seed.ts';
import { processRecordOf, startService } from '../src/embedded/service.ts';
import type { ServiceDescription } from '../src/embedded/service-description.ts';
import { readSettings } from '../src/embedded/settings.ts';
import { listenForStop } from '../src/embedded/stop-signals.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { newId } from '../src/platform/ids.ts';
import { installSchemathesis, SCHEMATHESIS_PATH } from './install-schemathesis.ts';

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
  // Omitted: positive_data_acceptance, because no schema says that a file is a picture, that two fields exclude each other
  // or that an upload exists; ensure_resource_availability, because a settled job is no new resource;
  // object_level_authorization, because test/api proves it with customers who know each other's ids.
];

/** The largest seed plus one. */
const SEEDS = 2 ** 32;
/** The test mode of one organisation allows few requests a minute; the hooks rotate through organisations. */
const CUSTOMERS = 60;
/** Organisations with tokens for the management API, which allows many requests a minute. */
const MANAGED_CUSTOMERS = 10;
const CUSTOMERS_AT_ONCE = 6;
/** The longest lifetime of a token that the management API accepts. */
const TOKEN_LIFE = '1h';
/** Nobody listens there, so a delivery fails at once. */
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
  options: {
    seconds: { type: 'string', default: '180' },
    seed: { type: 'string', default: String(randomInt(SEEDS)) },
    operation: { type: 'string' },
  },
});

type Send = (path: string, body: FormData | object) => Promise<Record<string, unknown>>;

function sending(apiUrl: string, key: string): Send {
  return async (path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(apiUrl + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, ...(!isForm && { 'Content-Type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

/** An organisation with resources that requests with its keys can refer to. */
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
 * Resources that a token of the organisation can refer to. Requests with API keys use none of them, so the run survives
 * any revocation or deletion.
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
 * Signs tokens of any organisation with the key of the service's identity provider. The provider itself issues tokens of one
 * organisation only, whose rate limit would last for seconds.
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

async function fuzz(service: ServiceDescription, directory: string, signal: AbortSignal) {
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
    // Python 3.11 sometimes fails when two threads parse source code, as hypothesis does.
    '--workers=1',
    '--continue-on-failure',
    '--suppress-health-check=all',
    '--generation-database=none',
    '--no-color',
    `--seed=${flags.seed}`,
    ...(flags.operation === undefined ? [] : [`--include-operation-id=${flags.operation}`]),
  ];
  const run = spawn(SCHEMATHESIS_PATH, args, {
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
  reporter.say(`Seed ${flags.seed}: npm run fuzz -- --seed ${flags.seed} --seconds ${flags.seconds} replays this run`);
  installSchemathesis();
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
      return await fuzz(service.description, directory, signal);
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
