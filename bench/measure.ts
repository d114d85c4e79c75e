/** Compares sides in turn, A B A B; each ratio is that of one round. */
import type { CpuSeconds } from './cpu.ts';
import { median, pairwiseRatios, type Spread, spread } from './statistics.ts';

/** One turn of one side. */
export interface Sample {
  /** Jobs per second, or the p50 or p99 of a job in milliseconds. */
  value: number;
  jobs: number;
  /** CPU used during the turn, by process. */
  cpuSeconds: CpuSeconds | null;
}

export interface Side {
  name: string;
  /** What runs, and in how many processes. */
  what: string;
  /** The processes that do its work: whose CPU time counts. */
  processes: readonly string[];
  run(): Promise<Sample>;
}

export type Unit = 'jobs/s' | 'ms p50' | 'ms p99';

export type Goal = { atLeast: number } | { atMost: number };

export interface SideReport {
  name: string;
  what: string;
  value: Spread;
  values: number[];
  jobs: number;
  /** Milliseconds of CPU per job, median of the turns. */
  cpuMsPerJob: number | null;
  cpuMsPerJobByProcess: Record<string, number> | null;
}

export interface Comparison {
  name: string;
  unit: Unit;
  a: SideReport;
  b: SideReport;
  ratio: Spread;
  ratios: number[];
  /**
   * CPU time of a job of B ÷ of A: the ratio of jobs a second where both sides keep every core busy, and a
   * better guide than it where other programs run as well. Null for times, and where CPU time is not known.
   */
  cpuRatio: number | null;
  /** Null for a row that only informs. */
  goal: Goal | null;
  reached: boolean | null;
}

interface AlternateOptions {
  rounds: number;
  /** On a machine too busy for all rounds in this time, fewer run, but at least two. */
  budgetMs: number;
  signal: AbortSignal;
}

const FEWEST_ROUNDS = 2;

/** Runs every side once per round, in the same order. Returns the samples by the side's name. */
export async function alternate(
  sides: readonly Side[],
  { rounds, budgetMs, signal }: AlternateOptions,
): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(sides.map(({ name }) => [name, []]));
  const deadlineMs = performance.now() + budgetMs;
  for (let round = 0; round < rounds; round += 1) {
    if (round >= FEWEST_ROUNDS && performance.now() > deadlineMs) break;
    for (const side of sides) {
      signal.throwIfAborted();
      samples.get(side.name)?.push(await side.run());
    }
  }
  return samples;
}

interface CompareOptions {
  name: string;
  unit: Unit;
  a: Side;
  b: Side;
  goal: Goal | null;
}

/** The ratio of the sides is the median of the rounds' ratios, which is compared with the goal. */
export function compare(
  samples: ReadonlyMap<string, readonly Sample[]>,
  { name, unit, a, b, goal }: CompareOptions,
): Comparison {
  const [reportA, reportB] = [a, b].map((side) => reportSide(side, samples.get(side.name) ?? [])) as [
    SideReport,
    SideReport,
  ];
  const ratios = pairwiseRatios(reportA.values, reportB.values);
  const ratio = spread(ratios);
  return {
    name,
    unit,
    a: reportA,
    b: reportB,
    ratio,
    ratios,
    cpuRatio: unit === 'jobs/s' ? cpuRatioOf(reportA, reportB) : null,
    goal,
    reached: goal && isReached(ratio.median, goal),
  };
}

function cpuRatioOf(a: SideReport, b: SideReport): number | null {
  return a.cpuMsPerJob && b.cpuMsPerJob ? b.cpuMsPerJob / a.cpuMsPerJob : null;
}

export function isReached(ratio: number, goal: Goal): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
}

function reportSide({ name, what, processes }: Side, samples: readonly Sample[]): SideReport {
  const values = samples.map((sample) => sample.value);
  const byProcess = cpuByProcess(processes, samples);
  return {
    name,
    what,
    value: spread(values),
    values,
    jobs: samples.reduce((sum, sample) => sum + sample.jobs, 0),
    cpuMsPerJob: byProcess && Object.values(byProcess).reduce((sum, milliseconds) => sum + milliseconds, 0),
    cpuMsPerJobByProcess: byProcess,
  };
}

function cpuByProcess(processes: readonly string[], samples: readonly Sample[]): Record<string, number> | null {
  const measured = samples.filter(({ cpuSeconds, jobs }) => cpuSeconds && jobs > 0);
  if (measured.length === 0) return null;
  return Object.fromEntries(
    processes.map((name) => [
      name,
      median(measured.map(({ cpuSeconds, jobs }) => ((cpuSeconds?.[name] ?? 0) * 1000) / jobs)),
    ]),
  );
}
