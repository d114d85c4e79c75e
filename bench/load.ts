/** Load with a fixed number of jobs in flight, and the figures of one turn. */
import { setTimeout as delay } from 'node:timers/promises';
import { readCpuSeconds, subtractCpu } from './cpu.ts';
import type { Sample } from './measure.ts';
import { median } from './statistics.ts';

interface LoadOptions {
  /** Runs one job to its end. `lane` is below `inFlight`; a lane runs one job at a time. @throws when the job fails. */
  job: (lane: number) => Promise<void>;
  /** Processes whose CPU time is read. */
  pids: Readonly<Record<string, number>>;
  signal: AbortSignal;
}

interface ThroughputOptions extends LoadOptions {
  inFlight: number;
  /** Time until the flow is steady; jobs that end in it do not count. */
  rampMs: number;
  /** Extended if it sees too few jobs, as on a busy machine. */
  windowMs: number;
}

/** Minimum of jobs in a window, as a multiple of those in flight, and the maximal extension of the window. */
const LEAST_TURNOVER = 1;
const LONGEST_STRETCH = 4;

/** Jobs per second that end within the window. All jobs have ended when it returns. */
export async function measureThroughput(options: ThroughputOptions): Promise<Sample> {
  const { job, inFlight, rampMs, windowMs, pids, signal } = options;
  let completed = 0;
  const stopping = new AbortController();
  const lane = async (index: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      await job(index);
      completed += 1;
    }
  };
  const lanes = Promise.all(Array.from({ length: inFlight }, (_, index) => lane(index)));
  const either = AbortSignal.any([signal, stopping.signal]);
  // A job that fails ends the turn at once.
  lanes.catch(() => stopping.abort());

  let sample: Sample | undefined;
  try {
    await delay(rampMs, undefined, { signal: either });
    const before = { completed, atMs: performance.now(), cpu: readCpuSeconds(pids) };
    const elapsedMs = () => performance.now() - before.atMs;
    const enough = () => completed - before.completed >= LEAST_TURNOVER * inFlight;
    await delay(windowMs, undefined, { signal: either });
    while (!enough() && elapsedMs() < windowMs * LONGEST_STRETCH) await delay(50, undefined, { signal: either });
    const after = { completed, atMs: performance.now(), cpu: readCpuSeconds(pids) };
    const jobs = after.completed - before.completed;
    if (jobs === 0) throw new Error(`no job ended in ${Math.round(elapsedMs())} ms`);
    const seconds = (after.atMs - before.atMs) / 1000;
    sample = { value: jobs / seconds, jobs, cpuSeconds: subtractCpu(after.cpu, before.cpu) };
  } catch (error) {
    if (!either.aborted) throw error;
  } finally {
    stopping.abort();
    await lanes;
  }
  signal.throwIfAborted();
  if (!sample) throw new Error('the load was stopped');
  return sample;
}

interface LatencyOptions extends LoadOptions {
  jobs: number;
}

/** The p50 of a job in milliseconds, with one job in flight. */
export async function measureLatency({ job, jobs, pids, signal }: LatencyOptions): Promise<Sample> {
  const durationsMs: number[] = [];
  const cpuBefore = readCpuSeconds(pids);
  for (let done = 0; done < jobs; done += 1) {
    signal.throwIfAborted();
    const startedAtMs = performance.now();
    await job(0);
    durationsMs.push(performance.now() - startedAtMs);
  }
  return { value: median(durationsMs), jobs, cpuSeconds: subtractCpu(readCpuSeconds(pids), cpuBefore) };
}
