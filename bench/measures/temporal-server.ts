/** The whole service on Temporal's server as in production, against the same on the development server. */
import { isTemporalServerInstalled } from '../../scripts/install-temporal-server.ts';
import type { Effort } from '../effort.ts';
import { findBrokenInvariants } from '../invariants.ts';
import { measureThroughput } from '../load.ts';
import { alternate, compare, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import { type BenchContext, type Postgres, startProductionTemporal } from '../servers.ts';
import { IN_FLIGHT, SERVICE_PROCESSES, type Service, startService } from '../service-stack.ts';

const WARM_UP_JOBS = 8 * IN_FLIGHT;

export async function measureTemporalServer(
  context: BenchContext,
  postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const { signal, say } = context;
  if (!isTemporalServerInstalled()) {
    const note = "Temporal's production server was not measured: `node scripts/install-temporal-server.ts` builds it.";
    return { comparisons: [], broken: [], notes: [note] };
  }
  const options = { connections: IN_FLIGHT };
  const production = await withWorker(
    await startService(context, postgres, {
      ...options,
      database: 'on_production_temporal',
      startTemporal: startProductionTemporal,
    }),
  );
  const development = await withWorker(
    await startService(context, postgres, { ...options, database: 'on_development_temporal' }),
  );
  const stacks = [production, development];
  say('The service on both servers of Temporal: warming up …');
  for (const { job } of stacks) for (let done = 0; done < WARM_UP_JOBS; done += IN_FLIGHT) await inFlight(job);
  say(`Jobs a second with ${IN_FLIGHT} in flight …`);
  const side = ({ pids, job }: Stack, name: string, what: string, processes: readonly string[]): Side => ({
    name,
    what,
    processes,
    run: () => measureThroughput({ inFlight: IN_FLIGHT, ...effort.jobs, pids, signal, job }),
  });
  const a = side(
    production,
    'on the production server',
    "the whole service; Temporal's server with four history shards on a durable PostgreSQL of its own",
    [...SERVICE_PROCESSES, 'PostgreSQL of Temporal'],
  );
  const b = side(
    development,
    'on the development server',
    'the whole service; the development server on SQLite, as npm start runs it',
    SERVICE_PROCESSES,
  );
  const samples = await alternate([a, b], { ...effort, signal });
  const comparison = compare(samples, {
    name: `Jobs/s, ${IN_FLIGHT} in flight, by Temporal's server`,
    unit: 'jobs/s',
    a,
    b,
    goal: null,
  });
  const broken = await Promise.all(
    stacks.map(({ databaseUrl, posted }) => findBrokenInvariants(databaseUrl, posted())),
  );
  return { comparisons: [comparison], broken: broken.flat() };
}

interface Stack {
  databaseUrl: string;
  pids: Record<string, number>;
  job: () => Promise<void>;
  posted: () => number;
}

async function withWorker({ databaseUrl, jobs, pids, startInferenceWorker }: Service): Promise<Stack> {
  const worker = await startInferenceWorker('inference worker');
  let posted = 0;
  return {
    databaseUrl,
    pids: { ...pids, 'inference worker': worker.pid },
    async job() {
      posted += 1;
      const { id, status } = await jobs.post({ wait: true });
      if (status !== 'succeeded') throw new Error(`job ${id} ended ${status}`);
    },
    posted: () => posted,
  };
}

const inFlight = (job: () => Promise<void>) => Promise.all(Array.from({ length: IN_FLIGHT }, job));
