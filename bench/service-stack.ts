/** The whole service with a model that costs nothing, and beside it the bare worker, on the same Temporal server. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { endpointBySlug } from '../src/endpoints/list.ts';
import { createJobClient, type JobClient } from './job-client.ts';
import { createOrganizations } from './organizations.ts';
import { startApiProcess, startProcess } from './processes.ts';
import { type BenchContext, type Postgres, startBenchTemporal } from './servers.ts';

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

export async function startServiceStack(context: BenchContext, postgres: Postgres): Promise<ServiceStack> {
  const { directory, cleanup } = context;
  const [temporalServer, databaseUrl] = await Promise.all([
    startBenchTemporal(context),
    postgres.createDatabase('service'),
  ]);
  const organizations = await createOrganizations(databaseUrl, ORGANIZATIONS);
  const storage = join(directory, 'storage');
  mkdirSync(storage, { recursive: true });
  const environment = {
    SERVICE_ENVIRONMENT: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalServer.address,
    TEMPORAL_NAMESPACE: 'default',
    STORAGE_DIRECTORY: storage,
  };
  const worker = (name: string, entry: string) =>
    startProcess(context, { name, entry, readyMessage: 'worker ready', environment });
  const starting = [
    startApiProcess(context, { name: 'API', entry: 'src/api/main.ts', environment }),
    worker('orchestration worker', 'src/workers/orchestration.ts'),
    worker('inference worker', 'bench/processes/no-op-inference-worker.ts'),
    worker('bare worker', 'bench/processes/bare-worker.ts'),
  ] as const;
  // All to their end, also when one fails: what still comes up then would otherwise be left behind.
  await Promise.allSettled(starting);
  const [api, orchestration, inference, bare] = await Promise.all(starting);

  const endpoint = endpointBySlug('dashboard.read');
  const jobs = createJobClient({ apiUrl: api.url, endpoint, organizations, connections: IN_FLIGHT });
  cleanup.add(() => jobs.close());
  const connection = await Connection.connect({ address: temporalServer.address });
  cleanup.add(() => connection.close());
  return {
    databaseUrl,
    jobs,
    temporal: new Client({ connection }),
    pids: {
      API: api.pid,
      'orchestration worker': orchestration,
      'inference worker': inference,
      'bare worker': bare,
      Temporal: temporalServer.pid,
      PostgreSQL: postgres.pid,
      'load generator': process.pid,
    },
  };
}
