/** Jobs that cost CPU time: the whole service against a job queue within PostgreSQL. */
import { pino } from 'pino';
import { openDatabase } from '../../src/database.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { isTerminal } from '../../src/jobs/job-states.ts';
import { readJob } from '../../src/jobs/jobs-store.ts';
import { listenForSettlements } from '../../src/jobs/settlement-listener.ts';
import { query } from '../../src/platform/database/orm.ts';
import { admit, newAdmission } from '../admission-statement.ts';
import type { Effort } from '../effort.ts';
import { findBrokenInvariants } from '../invariants.ts';
import { measureThroughput } from '../load.ts';
import { alternate, compare, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import { createOrganizations } from '../organizations.ts';
import { CPU_WORK_MODEL, CPU_WORK_MS } from '../processes/cpu-work.ts';
import { GRAPHILE_TASK } from '../processes/graphile.ts';
import { startProcess } from '../processes.ts';
import type { BenchContext, Postgres } from '../servers.ts';
import { SERVICE_PROCESSES, startService } from '../service-stack.ts';

/** Several times what one thread can compute during the rest of a job. */
const IN_FLIGHT = 16;
const ORGANIZATIONS = 50;
/** Rounds of `IN_FLIGHT` jobs for each side. */
const WARM_UP_TURNS = 4;
const POOL_SIZE = 10;
const QUEUE_PROCESSES = ['graphile worker', 'PostgreSQL', 'load generator'] as const;

interface Jobs {
  pids: Readonly<Record<string, number>>;
  /** One job, from its admission to the response. */
  run: () => Promise<void>;
  findBrokenInvariants: () => Promise<string[]>;
}

export async function measureJobQueue(
  context: BenchContext,
  postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const { signal, say } = context;
  const service = await startServiceJobs(context, postgres);
  const queue = await startQueueJobs(context, postgres);
  const work = `${CPU_WORK_MS} ms of CPU time in one thread: ${1000 / CPU_WORK_MS} jobs/s at most`;
  const sideOf = ({ pids, run }: Jobs, names: Pick<Side, 'name' | 'what' | 'processes'>): Side => ({
    ...names,
    run: () => measureThroughput({ job: run, inFlight: IN_FLIGHT, ...effort.jobs, pids, signal }),
  });
  const a = sideOf(service, {
    name: 'whole service',
    what:
      `POST /v1/dashboard/read?wait=true, ${IN_FLIGHT} in flight, through src/api/main.ts, src/workers/orchestration.ts ` +
      `and one inference worker whose model takes ${work}`,
    processes: SERVICE_PROCESSES,
  });
  const b = sideOf(queue, {
    name: 'graphile-worker',
    what:
      `${IN_FLIGHT} in flight: the admission from the load generator, a job of graphile-worker for it, and in a process of ` +
      `graphile-worker pick-up, ${work}, and settlement; the load generator hears of the settlement and reads the job. ` +
      'All with the functions of the service; no HTTP, no files, no Temporal',
    processes: QUEUE_PROCESSES,
  });

  say('Jobs that compute: warming up …');
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) {
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => service.run()));
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => queue.run()));
  }
  say(`Jobs a second of ${CPU_WORK_MS} ms of CPU, through the service and through graphile-worker …`);
  const samples = await alternate([a, b], { ...effort, signal });
  return {
    comparisons: [
      compare(samples, {
        name: `Jobs/s, ${CPU_WORK_MS} ms of CPU a job`,
        unit: 'jobs/s',
        a,
        b,
        goal: { atLeast: 0.8 },
      }),
    ],
    broken: [...(await service.findBrokenInvariants()), ...(await queue.findBrokenInvariants())],
  };
}

async function startServiceJobs(context: BenchContext, postgres: Postgres): Promise<Jobs> {
  const service = await startService(context, postgres, {
    database: 'jobs_of_service',
    connections: IN_FLIGHT,
    inferenceEntry: 'bench/processes/cpu-bound-inference-worker.ts',
  });
  const inference = await service.startInferenceWorker('inference worker');
  let posted = 0;
  return {
    pids: { ...service.pids, 'inference worker': inference.pid },
    async run() {
      posted += 1;
      const { id, status } = await service.jobs.post({ wait: true });
      if (status !== 'succeeded') throw new Error(`job ${id} ended ${status}`);
    },
    findBrokenInvariants: () => findBrokenInvariants(service.databaseUrl, posted),
  };
}

async function startQueueJobs(context: BenchContext, postgres: Postgres): Promise<Jobs> {
  const { cleanup, signal } = context;
  const databaseUrl = await postgres.createDatabase('jobs_of_queue');
  const organizations = await createOrganizations(databaseUrl, ORGANIZATIONS);
  const endpoint = endpointBySlug('dashboard.read');
  const worker = await startProcess(context, {
    name: 'graphile worker',
    entry: 'bench/processes/graphile-worker.ts',
    readyMessage: 'worker ready',
    environment: { DATABASE_URL: databaseUrl },
  });
  const orm = await openDatabase({ url: databaseUrl, poolSize: POOL_SIZE });
  cleanup.add(() => orm.close());
  // Like an inference worker: an admission in live mode requires it.
  await announceInstalledEndpoints(orm.em.fork(), [{ endpoint: endpoint.slug, modelVersion: CPU_WORK_MODEL }], []);
  const settlements = listenForSettlements(databaseUrl, pino({ enabled: false }));
  cleanup.add(() => settlements.close());
  let posted = 0;
  return {
    pids: { 'graphile worker': worker, PostgreSQL: postgres.pid, 'load generator': process.pid },
    async run() {
      const em = orm.em.fork();
      const organization = organizations[posted % organizations.length] as (typeof organizations)[number];
      posted += 1;
      const admission = newAdmission({ endpoint, organization });
      const { id } = admission.admission.job;
      const waiting = new AbortController();
      const either = AbortSignal.any([signal, waiting.signal]);
      try {
        let settled = settlements.settled(id, either);
        await admit(em, admission);
        await query(em, 'select from graphile_worker.add_job($1, $2::json)', [
          GRAPHILE_TASK,
          JSON.stringify({ jobId: id }),
        ]);
        while (await settled) {
          settled = settlements.settled(id, either);
          const { status } = await readJob(em, id);
          if (status === 'succeeded') return;
          if (isTerminal(status)) throw new Error(`job ${id} ended ${status}`);
        }
        signal.throwIfAborted();
      } finally {
        waiting.abort();
      }
    },
    findBrokenInvariants: () => findBrokenInvariants(databaseUrl, posted),
  };
}
