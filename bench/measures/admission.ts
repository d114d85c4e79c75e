/** Admission: through HTTP, by the function alone, with one hot organisation, each against what PostgreSQL itself can do. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { compileValidator } from '../../src/api/requests/validator.ts';
import { openDatabase } from '../../src/database.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import type { EntityManager } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { admissionStatement, admit, newAdmission, OPEN_JOBS_LIMIT, preparedOn } from '../admission-statement.ts';
import { readCpuSeconds, subtractCpu } from '../cpu.ts';
import type { Effort } from '../effort.ts';
import { findBrokenInvariants } from '../invariants.ts';
import { createJobClient } from '../job-client.ts';
import { measureLatency, measureThroughput } from '../load.ts';
import { alternate, compare, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import {
  createKeysForPgbench,
  createOrganizations,
  createOrganizationWithCredits,
  ID_DIGITS,
  type Organization,
  PGBENCH_KEY_PREFIX,
  pgbenchSecretHash,
} from '../organizations.ts';
import { findPgbench, pgbenchScript, runPgbench } from '../pgbench.ts';
import { startApiProcess } from '../processes.ts';
import type { BenchContext, Postgres } from '../servers.ts';

/** As many as the API opens by default. */
const CONNECTIONS = 10;
const HTTP_IN_FLIGHT = 32;
const ORGANIZATIONS = 1_000;
const endpoint = endpointBySlug('dashboard.read');

interface Admissions {
  context: BenchContext;
  databaseUrl: string;
  organizations: Organization[];
  /** One lane each. */
  connections: EntityManager[];
  orm: EntityManager[];
  pids: Record<string, number>;
  effort: Effort;
}

export async function measureAdmission(
  context: BenchContext,
  postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const { say, signal } = context;
  const admissions = await prepare(context, postgres, effort);
  const apiUrl = await startStubbedApi(admissions);
  const http = throughHttp(admissions, apiUrl);
  const validation = validationAlone(admissions);
  const oneByOne = throughHttpOneByOne(admissions, apiUrl);
  const pgAlone = throughPg(admissions, 'function from pg', { hot: false });
  const mikroOrm = throughMikroOrm(admissions);
  const hot = throughPg(admissions, 'one hot organisation', { hot: true });
  const spreadOut = throughPg(admissions, `${ORGANIZATIONS} organisations`, { hot: false });
  const yardstick = await throughPgbench(admissions);
  const b = yardstick ?? pgAlone;

  say('Admissions: warming up …');
  await alternate([http, mikroOrm, pgAlone, ...(yardstick ? [yardstick] : [])], { ...effort, rounds: 1, signal });
  say(`Admissions a second through HTTP, from pg, and by ${yardstick ? 'pgbench' : 'the same SQL from pg'} …`);
  const sides = [http, b, ...(yardstick ? [pgAlone] : []), mikroOrm];
  const samples = await alternate(sides, { ...effort, signal });
  say(`Admissions a second of one organisation and of ${ORGANIZATIONS} …`);
  const hotSamples = await alternate([hot, spreadOut], { ...effort, signal });
  say('Time of a validation and of an admission …');
  const timeSamples = await alternate([validation, oneByOne], { ...effort, signal });

  const unit = 'jobs/s';
  return {
    comparisons: [
      compare(samples, { name: 'Admissions/s through HTTP', unit, a: http, b, goal: { atLeast: 0.3 } }),
      ...(yardstick
        ? [compare(samples, { name: 'Admissions/s, function alone', unit, a: pgAlone, b, goal: { atLeast: 0.7 } })]
        : []),
      compare(samples, { name: 'Admissions/s, function through MikroORM', unit, a: mikroOrm, b, goal: null }),
      compare(hotSamples, {
        name: 'Admissions/s, hot organisation',
        unit,
        a: hot,
        b: spreadOut,
        goal: { atLeast: 0.6 },
      }),
      compare(timeSamples, {
        name: 'Validation, share of an admission',
        unit: 'ms p50',
        a: validation,
        b: oneByOne,
        goal: { atMost: 0.05 },
      }),
    ],
    broken: [...(await overdraft(admissions)), ...(await findBrokenInvariants(admissions.databaseUrl, null))],
    notes: yardstick ? [] : ['pgbench was not found: the same SQL ran from pg connections with prepared statements.'],
  };
}

async function prepare(context: BenchContext, postgres: Postgres, effort: Effort): Promise<Admissions> {
  const databaseUrl = await postgres.createDatabase('admission');
  const organizations = await createOrganizations(databaseUrl, ORGANIZATIONS);
  const orm = await openDatabase({ url: databaseUrl, poolSize: CONNECTIONS });
  context.cleanup.add(() => orm.close());
  return {
    context,
    databaseUrl,
    organizations,
    connections: await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(context, databaseUrl))),
    orm: Array.from({ length: CONNECTIONS }, () => orm.em.fork()),
    pids: { PostgreSQL: postgres.pid, 'load generator': process.pid },
    effort,
  };
}

async function connect({ cleanup }: BenchContext, databaseUrl: string): Promise<EntityManager> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  cleanup.add(() => client.end());
  return preparedOn(client);
}

async function startStubbedApi({ context, databaseUrl, pids }: Admissions): Promise<string> {
  const storage = join(context.directory, 'admission-storage');
  mkdirSync(storage, { recursive: true });
  const announced = new pg.Client({ connectionString: databaseUrl });
  await announced.connect();
  await announced.query("insert into installed_endpoints (endpoint, model_version) values ($1, 'no-op@2026-01-01')", [
    endpoint.slug,
  ]);
  await announced.end();
  const { pid, url } = await startApiProcess(context, {
    name: 'API without Temporal',
    entry: 'bench/processes/api-without-temporal.ts',
    environment: {
      SERVICE_ENVIRONMENT: 'development',
      LOG_LEVEL: 'info',
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE: String(CONNECTIONS),
      TEMPORAL_ADDRESS: 'stubbed',
      STORAGE_DIRECTORY: storage,
      OPEN_JOBS_LIMIT: String(OPEN_JOBS_LIMIT),
    },
  });
  pids.API = pid;
  return url;
}

function throughHttp({ context, organizations, pids, effort }: Admissions, apiUrl: string): Side {
  const jobs = createJobClient({ apiUrl, endpoint, organizations, connections: HTTP_IN_FLIGHT });
  context.cleanup.add(() => jobs.close());
  return {
    name: 'HTTP',
    what:
      `POST /v1/dashboard/read, multipart with a picture of one pixel, Idempotency-Key, ${HTTP_IN_FLIGHT} in flight on ` +
      `as many keep-alive connections, ${organizations.length} live organisations in turn; one API process ` +
      `(src/api/main.ts but for its Temporal client, whose start returns at once; ${CONNECTIONS} + 1 database ` +
      `connections)`,
    processes: ['API', 'PostgreSQL', 'load generator'],
    run: () =>
      measureThroughput({
        inFlight: HTTP_IN_FLIGHT,
        ...effort.admissions,
        pids,
        signal: context.signal,
        job: async () => {
          await jobs.post({ wait: false });
        },
      }),
  };
}

/** The same with one in flight: the latency of one admission. */
function throughHttpOneByOne({ context, organizations, pids, effort }: Admissions, apiUrl: string): Side {
  const jobs = createJobClient({ apiUrl, endpoint, organizations, connections: 1 });
  context.cleanup.add(() => jobs.close());
  return {
    name: 'HTTP',
    what: 'POST /v1/dashboard/read as above, one in flight on one connection',
    processes: ['API', 'PostgreSQL', 'load generator'],
    run: () =>
      measureLatency({
        jobs: effort.timedAdmissions,
        pids,
        signal: context.signal,
        job: async () => {
          await jobs.post({ wait: false });
        },
      }),
  };
}

/** The cost of the contract for a request: look-up, compiled schema, rules, price. */
function validationAlone({ context, organizations, pids, effort }: Admissions): Side {
  const validate = compileValidator(endpoint.parameters, 'multipart');
  const [organization] = organizations as [Organization];
  const files = newAdmission({ endpoint, organization }).admission.job.inputs;
  return {
    name: 'validation',
    what: 'endpointBySlug, the compiled schema of the parameters, refine and price, in the load generator',
    processes: ['load generator'],
    run: () =>
      measureLatency({
        jobs: effort.timedAdmissions,
        pids,
        signal: context.signal,
        job: async () => {
          const contract = endpointBySlug(endpoint.slug);
          const parameters: Record<string, unknown> = { read_warning_lights: 'true' };
          validate(parameters);
          contract.refine?.({ parameters, files });
          contract.price?.({ parameters, files });
        },
      }),
  };
}

/** The service's own `admitJobOfKnownCaller`, through plain `pg` connections. */
function throughPg(admissions: Admissions, name: string, { hot }: { hot: boolean }): Side {
  const { connections } = admissions;
  return {
    name,
    what:
      `admitJobOfKnownCaller of src/jobs/admission-store.ts, its statement prepared on ${connections.length} pg connections of one Node ` +
      `process, ${hot ? 'one organisation' : `${ORGANIZATIONS} organisations at random`}`,
    processes: ['PostgreSQL', 'load generator'],
    run: () => measureFunction(admissions, connections, { hot }),
  };
}

function throughMikroOrm(admissions: Admissions): Side {
  return {
    name: 'function through MikroORM',
    what: `admitJobOfKnownCaller as the API calls it, through MikroORM's pool of ${CONNECTIONS} connections, in one Node process`,
    processes: ['PostgreSQL', 'load generator'],
    run: () => measureFunction(admissions, admissions.orm, { hot: false }),
  };
}

function measureFunction(
  { context, organizations, pids, effort }: Admissions,
  lanes: readonly EntityManager[],
  { hot }: { hot: boolean },
) {
  return measureThroughput({
    inFlight: lanes.length,
    ...effort.admissions,
    pids,
    signal: context.signal,
    job: async (lane) => {
      const index = hot ? 0 : Math.floor(Math.random() * organizations.length);
      const organization = organizations[index] as Organization;
      await admit(lanes[lane] as EntityManager, newAdmission({ endpoint, organization }));
    },
  });
}

/** The same statement with pgbench and random ids; null without pgbench. */
async function throughPgbench({ context, databaseUrl, organizations, pids, effort }: Admissions): Promise<Side | null> {
  const pgbench = findPgbench(process.env);
  if (!pgbench) return null;
  await createKeysForPgbench(databaseUrl, organizations.length);
  const scriptPath = join(context.directory, 'admission.sql');
  writeFileSync(scriptPath, await admissionScript());
  const seconds = Math.max(1, Math.round((effort.admissions.rampMs + effort.admissions.windowMs) / 1000));
  return {
    name: 'pgbench',
    what:
      `the statement that the API sends, by ${pgbench.version}: prepared, ${CONNECTIONS} clients, 1 thread, random ids, ` +
      `${ORGANIZATIONS} organisations at random`,
    processes: ['PostgreSQL', 'load generator'],
    async run() {
      const jobsBefore = await countJobs(databaseUrl);
      const before = readCpuSeconds(pids);
      const { transactions, perSecond } = await runPgbench({
        path: pgbench.path,
        databaseUrl,
        scriptPath,
        clients: CONNECTIONS,
        seconds,
        signal: context.signal,
      });
      const cpuSeconds = subtractCpu(readCpuSeconds(pids), before);
      const admitted = (await countJobs(databaseUrl)) - jobsBefore;
      if (admitted !== transactions)
        throw new Error(`pgbench ran ${transactions} statements that admitted ${admitted}`);
      return { value: perSecond, jobs: transactions, cpuSeconds };
    },
  };
}

async function countJobs(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>('select count(*)::integer as count from jobs');
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

async function admissionScript(): Promise<string> {
  const secretHash = Buffer.alloc(32, 1);
  const known = newAdmission({ endpoint, organization: { id: '@organization', apiKeyId: '@key', secretHash } });
  const { job } = known.admission;
  const idOf = (prefix: string, variable: string) => `'${prefix}' || lpad(:${variable}::text, ${ID_DIGITS}, '0')`;
  return pgbenchScript(
    await admissionStatement(known),
    ['id random(1, 9000000000000000000)', `organization random(1, ${ORGANIZATIONS})`],
    [
      { value: '@organization', expression: idOf('org_', 'organization') },
      { value: '@key', expression: idOf(PGBENCH_KEY_PREFIX, 'organization') },
      { value: secretHash, expression: pgbenchSecretHash(':organization') },
      { value: job.id, expression: idOf('job_', 'id') },
      { value: job.requestId, expression: idOf('req_', 'id') },
      { value: job.idempotencyKey as string, expression: idOf('', 'id') },
    ],
  );
}

/** Ten times as many admissions at once as an organisation has credits for. */
async function overdraft({ databaseUrl, connections }: Admissions): Promise<string[]> {
  const affordable = 50;
  const number = ORGANIZATIONS + 1;
  const organization = await createOrganizationWithCredits(databaseUrl, number, affordable * endpoint.priceCredits);
  const attempts = await Promise.all(
    connections.map(async (connection) => {
      let admitted = 0;
      for (let attempt = 0; attempt < affordable; attempt += 1) {
        try {
          await admit(connection, newAdmission({ endpoint, organization }));
          admitted += 1;
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== 'insufficient_credits') throw error;
        }
      }
      return admitted;
    }),
  );
  const admitted = attempts.reduce((sum, count) => sum + count, 0);
  return admitted === affordable ? [] : [`credits for ${affordable} jobs admitted ${admitted}`];
}
