/** Jobs a second with two and with four inference workers, against one. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningProgram } from '../../src/embedded/program.ts';
import type { Effort } from '../effort.ts';
import { findBrokenInvariants } from '../invariants.ts';
import { measureThroughput } from '../load.ts';
import { alternate, compare, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import { SLOW_MODEL_MS, SLOW_PARAMETER } from '../processes/no-op-backend.ts';
import type { BenchContext, Postgres } from '../servers.ts';
import { type Service, startService } from '../service-stack.ts';

const MOST_WORKERS = 4;
/** Enough to keep every worker busy: a job goes to any worker with a free slot, not to the least loaded. */
const IN_FLIGHT_PER_WORKER = 8;
/** Until the queue has forgotten its former pollers, and the new ones have polled. */
const SETTLING_MS = 500;
/** Near-linear: nine tenths of the number of workers. */
const GOALS = { 2: { atLeast: 1.8 }, 4: { atLeast: 3.6 } } as const;

export async function measureScale(context: BenchContext, postgres: Postgres, effort: Effort): Promise<MeasureResult> {
  const { signal, say } = context;
  const service = await startService(context, postgres, {
    database: 'scale',
    connections: MOST_WORKERS * IN_FLIGHT_PER_WORKER,
  });
  const workers: RunningProgram[] = [];
  let posted = 0;
  const job = async () => {
    posted += 1;
    const { id, status } = await service.jobs.post({ wait: true, parameters: { [SLOW_PARAMETER]: 'false' } });
    if (status !== 'succeeded') throw new Error(`job ${id} ended ${status}`);
  };

  const sideOf = (count: 1 | 2 | 4): Side => ({
    name: count === 1 ? '1 worker' : `${count} workers`,
    what:
      `POST /v1/dashboard/read?wait=true, ${count * IN_FLIGHT_PER_WORKER} in flight, through src/api/main.ts, ` +
      `src/workers/orchestration.ts and ${count} × the inference worker with a model that takes ${SLOW_MODEL_MS} ms, ` +
      `one job at a time, without using the CPU: ${(count * 1000) / SLOW_MODEL_MS} jobs/s at most`,
    processes: [...Object.keys(service.pids), ...Array.from({ length: count }, (_, index) => workerName(index + 1))],
    run: async () => {
      await scaleTo(service, workers, count);
      await delay(SETTLING_MS, undefined, { signal });
      const inference = Object.fromEntries(workers.map((worker) => [worker.name, worker.pid]));
      const inFlight = count * IN_FLIGHT_PER_WORKER;
      return measureThroughput({
        job,
        inFlight,
        ...effort.jobs,
        pids: { ...service.pids, ...inference },
        signal,
      });
    },
  });
  const [one, two, four] = [sideOf(1), sideOf(2), sideOf(4)];

  say('Scale: warming up …');
  await scaleTo(service, workers, 1);
  await Promise.all(Array.from({ length: IN_FLIGHT_PER_WORKER }, job));
  say(`Jobs a second with 1, 2 and 4 inference workers, of jobs of ${SLOW_MODEL_MS} ms …`);
  const samples = await alternate([one, two, four], { ...effort, signal });
  const row = { unit: 'jobs/s', b: one } as const;
  return {
    comparisons: [
      compare(samples, { ...row, name: `Jobs/s, 2 workers, ${SLOW_MODEL_MS} ms model`, a: two, goal: GOALS[2] }),
      compare(samples, { ...row, name: `Jobs/s, 4 workers, ${SLOW_MODEL_MS} ms model`, a: four, goal: GOALS[4] }),
    ],
    broken: await findBrokenInvariants(service.databaseUrl, posted),
  };
}

/** Stops surplus workers as a scale-in does, and starts missing ones. */
async function scaleTo(service: Service, workers: RunningProgram[], count: number): Promise<void> {
  const exits = await Promise.all(workers.splice(count).map((worker) => worker.stop()));
  if (exits.some(({ code }) => code !== 0)) throw new Error('an inference worker did not stop cleanly');
  while (workers.length < count) workers.push(await service.startInferenceWorker(workerName(workers.length + 1)));
}

function workerName(number: number): string {
  return `inference worker ${number}`;
}
