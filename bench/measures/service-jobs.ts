/** The whole service against Temporal alone: jobs a second with many in flight, and the p50 of one. */
import type { Effort } from '../effort.ts';
import { findBrokenInvariants } from '../invariants.ts';
import { measureLatency, measureThroughput } from '../load.ts';
import { alternate, type Comparison, compare, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import { BARE_TASK_QUEUE, BARE_WORKFLOW } from '../processes/bare.ts';
import { runSlowModel, SLOW_MODEL_MS, SLOW_PARAMETER } from '../processes/no-op-backend.ts';
import type { BenchContext, Postgres } from '../servers.ts';
import {
  BARE_PROCESSES,
  IN_FLIGHT,
  SERVICE_PROCESSES,
  type ServiceStack,
  startServiceStack,
} from '../service-stack.ts';

const SERVICE =
  'POST /v1/dashboard/read?wait=true, multipart with a picture of one pixel, Idempotency-Key, 50 live organisations; ' +
  '3 Node processes: src/api/main.ts, src/workers/orchestration.ts and the inference worker with a model that returns ' +
  'at once (no webhook worker: no endpoint listens); PostgreSQL; Temporal';
const BARE =
  'client.workflow.execute of a workflow with one activity that returns at once; 1 Node process with one worker for ' +
  'both, default settings, and the client in the load generator; the same Temporal';

/** Rounds of `IN_FLIGHT` jobs for each side, so that compilation is not part of the measurement. */
const WARM_UP_TURNS = 8;

export async function measureServiceJobs(
  context: BenchContext,
  postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const { signal, say } = context;
  const stack = await startServiceStack(context, postgres);
  const jobs = countedJobs(stack);

  say('Jobs through the whole service and through Temporal alone: warming up …');
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) {
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => jobs.service()));
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => jobs.bare()));
  }
  say(`Jobs a second with ${IN_FLIGHT} in flight …`);
  const throughput = await compareThroughput(stack, jobs, effort, signal);
  say('p50 with one job in flight …');
  const latency = await compareLatency(stack, jobs, effort, signal);
  say(`p50 with a model that takes ${SLOW_MODEL_MS} ms …`);
  const slow = await compareSlowModel(stack, jobs, effort, signal);
  return {
    comparisons: [throughput, latency, slow],
    broken: await findBrokenInvariants(stack.databaseUrl, jobs.servicePosted()),
  };
}

interface Jobs {
  service(parameters?: Readonly<Record<string, string>>): Promise<void>;
  bare(): Promise<void>;
  servicePosted(): number;
}

function countedJobs({ jobs, temporal }: ServiceStack): Jobs {
  let posted = 0;
  let started = 0;
  return {
    async service(parameters = {}) {
      posted += 1;
      const { id, status } = await jobs.post({ wait: true, parameters });
      if (status !== 'succeeded') throw new Error(`job ${id} ended ${status}`);
    },
    async bare() {
      started += 1;
      await temporal.workflow.execute(BARE_WORKFLOW, {
        workflowId: `bare-${started}`,
        taskQueue: BARE_TASK_QUEUE,
      });
    },
    servicePosted: () => posted,
  };
}

async function compareThroughput(
  { pids }: ServiceStack,
  jobs: Jobs,
  effort: Effort,
  signal: AbortSignal,
): Promise<Comparison> {
  const load = { inFlight: IN_FLIGHT, ...effort.jobs, pids, signal };
  const a: Side = {
    name: 'whole service',
    what: SERVICE,
    processes: SERVICE_PROCESSES,
    run: () => measureThroughput({ ...load, job: () => jobs.service() }),
  };
  const b: Side = {
    name: 'bare Temporal workflow',
    what: BARE,
    processes: BARE_PROCESSES,
    run: () => measureThroughput({ ...load, job: () => jobs.bare() }),
  };
  const samples = await alternate([a, b], { ...effort, signal });
  return compare(samples, {
    name: `Jobs/s, ${IN_FLIGHT} in flight`,
    unit: 'jobs/s',
    a,
    b,
    goal: { atLeast: 0.7 },
  });
}

async function compareLatency(
  { pids }: ServiceStack,
  jobs: Jobs,
  effort: Effort,
  signal: AbortSignal,
): Promise<Comparison> {
  const load = { jobs: effort.latencyJobs, pids, signal };
  const a: Side = {
    name: 'wait=true',
    what: SERVICE,
    processes: SERVICE_PROCESSES,
    run: () => measureLatency({ ...load, job: () => jobs.service() }),
  };
  const b: Side = {
    name: 'bare workflow.execute',
    what: BARE,
    processes: BARE_PROCESSES,
    run: () => measureLatency({ ...load, job: () => jobs.bare() }),
  };
  const samples = await alternate([a, b], { ...effort, signal });
  return compare(samples, {
    name: 'Time to the result, 1 in flight',
    unit: 'ms p50',
    a,
    b,
    goal: { atMost: 1.4 },
  });
}

async function compareSlowModel(
  { pids }: ServiceStack,
  jobs: Jobs,
  effort: Effort,
  signal: AbortSignal,
): Promise<Comparison> {
  const load = { jobs: effort.slowJobs, pids, signal };
  const a: Side = {
    name: 'wait=true',
    what: `as above, with a model that takes ${SLOW_MODEL_MS} ms without using the CPU`,
    processes: SERVICE_PROCESSES,
    run: () => measureLatency({ ...load, job: () => jobs.service({ [SLOW_PARAMETER]: 'false' }) }),
  };
  const b: Side = {
    name: 'the model in process',
    what: 'a call of the same function',
    processes: ['load generator'],
    run: () => measureLatency({ ...load, job: runSlowModel }),
  };
  const samples = await alternate([a, b], { ...effort, signal });
  return compare(samples, {
    name: `Time to the result, ${SLOW_MODEL_MS} ms model`,
    unit: 'ms p50',
    a,
    b,
    goal: { atMost: 1.25 },
  });
}
