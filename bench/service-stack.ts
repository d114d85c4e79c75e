/** The whole service with a model that costs nothing, and beside it a bare worker on the same Temporal server. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { RunningProgram } from '../src/embedded/program.ts';
import { endpointBySlug } from '../src/endpoints/list.ts';
import { createJobClient, type JobClient } from './job-client.ts';
import { createOrganizations } from './organizations.ts';
import { startApiProcess, startProcess, startStoppableProcess } from './processes.ts';
import { type BenchContext, type BenchTemporal, type Postgres, startBenchTemporal } from './servers.ts';

export interface ServiceStack {
  databaseUrl: string;
  jobs: JobClient;
  temporal: Client;
  /** By the names in `SERVICE_PROCESSES` and `BARE_PROCESSES`. */
  pids: Record<string, number>;
}

export const SERVICE_PROCESSES = [
  'API',
  'orchestration worker',
  'inference worker',
  'Temporal',
  'PostgreSQL',
  'load generator',
] as const;
export const BARE_PROCESSES = ['bare worker', 'Temporal', 'load generator'] as const;

export const IN_FLIGHT = 32;
/** A minute's worth of rate limit for far more jobs than two cores can run. */
const ORGANIZATIONS = 50;

/** API and orchestration worker; inference workers come and go. */
export interface Service {
  databaseUrl: string;
  temporalAddress: string;
  jobs: JobClient;
  /** By name, those of Temporal among them. */
  pids: Record<string, number>;
  /** Starts one more, and returns once it polls. */
  startInferenceWorker: (name: string) => Promise<RunningProgram>;
}

interface ServiceOptions {
  database: string;
  /** Maximum of jobs in flight. */
  connections: number;
  /** The process of the inference workers; by default one with a model that costs nothing. */
  inferenceEntry?: string;
  /** By default the development server. */
  startTemporal?: (context: BenchContext) => Promise<BenchTemporal>;
}

export async function startService(
  context: BenchContext,
  postgres: Postgres,
  {
    database,
    connections,
    inferenceEntry = 'bench/processes/no-op-inference-worker.ts',
    startTemporal = startBenchTemporal,
  }: ServiceOptions,
): Promise<Service> {
  const { directory, cleanup } = context;
  const [temporalServer, databaseUrl] = await Promise.all([startTemporal(context), postgres.createDatabase(database)]);
  const organizations = await createOrganizations(databaseUrl, ORGANIZATIONS);
  const storage = join(directory, `storage-${database}`);
  mkdirSync(storage, { recursive: true });
  const environment = {
    SERVICE_ENVIRONMENT: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalServer.address,
    TEMPORAL_NAMESPACE: 'default',
    STORAGE_DIRECTORY: storage,
  };
  const readyMessage = 'worker ready';
  const [api, orchestration] = await allOrNothing([
    startApiProcess(context, { name: 'API', entry: 'src/api/main.ts', environment }),
    startProcess(context, {
      name: 'orchestration worker',
      entry: 'src/workers/orchestration.ts',
      readyMessage,
      environment,
    }),
  ]);

  const endpoint = endpointBySlug('dashboard.read');
  const jobs = createJobClient({ apiUrl: api.url, endpoint, organizations, connections });
  cleanup.add(() => jobs.close());
  return {
    databaseUrl,
    temporalAddress: temporalServer.address,
    jobs,
    pids: {
      API: api.pid,
      'orchestration worker': orchestration,
      ...temporalServer.pids,
      PostgreSQL: postgres.pid,
      'load generator': process.pid,
    },
    startInferenceWorker: (name) =>
      startStoppableProcess(context, {
        name,
        entry: inferenceEntry,
        readyMessage,
        environment,
      }),
  };
}

/** The service with one inference worker, and the bare worker. */
export async function startServiceStack(context: BenchContext, postgres: Postgres): Promise<ServiceStack> {
  const service = await startService(context, postgres, { database: 'service', connections: IN_FLIGHT });
  const { databaseUrl, temporalAddress, jobs, pids } = service;
  const [inference, bare] = await allOrNothing([
    service.startInferenceWorker('inference worker'),
    startProcess(context, {
      name: 'bare worker',
      entry: 'bench/processes/bare-worker.ts',
      readyMessage: 'worker ready',
      environment: { TEMPORAL_ADDRESS: temporalAddress },
    }),
  ]);
  const connection = await Connection.connect({ address: temporalAddress });
  context.cleanup.add(() => connection.close());
  return {
    databaseUrl,
    jobs,
    temporal: new Client({ connection }),
    pids: { ...pids, 'inference worker': inference.pid, 'bare worker': bare },
  };
}

/** Awaits all, even if one fails: otherwise a late start would be left behind. */
async function allOrNothing<Started extends readonly unknown[]>(
  starting: {
    [Index in keyof Started]: Promise<Started[Index]>;
  },
): Promise<Started> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}
