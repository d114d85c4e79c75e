/**
 * `npm run bench`: starts its own PostgreSQL and Temporal, measures the ratios of the project's goals side by
 * side, prints them as a table and keeps them in `bench/results/`. `-- --quick` shows sooner that everything runs, and
 * keeps nothing. `-- --only service,admission` runs some of the measures, and keeps nothing either. `-- --only growth` is kept
 * apart, as `growth.md`; `--jobs 10000000` says how many jobs it fills in.
 *
 * A figure never fails the run: it exits with 0 unless a side could not run or an invariant broke.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ProcessRecord } from '../src/embedded/process-record.ts';
import { listenForStop } from '../src/embedded/stop-signals.ts';
import { withCleanup } from './cleanup.ts';
import { readCommit } from './commit.ts';
import { type Effort, FULL, QUICK } from './effort.ts';
import { watchMachine } from './machine.ts';
import type { MeasureResult } from './measure-result.ts';
import { type Report, renderReport } from './report.ts';
import { startBenchPostgres } from './servers.ts';
import { MEASURES, type MeasureName, USUAL } from './suite.ts';

/** Fewer would not fill a page of each list. */
const FEWEST_GROWTH_JOBS = 10_000;
const RESULTS_DIRECTORY = fileURLToPath(new URL('results', import.meta.url));

const { quick, names, effort } = readArguments();
const directory = mkdtempSync(join(tmpdir(), 'vehicle-inference-bench-'));
const record = new ProcessRecord(join(directory, 'processes.json'));
const signal = listenForStop({ onFirst: () => console.error('Stopping …'), onSecond: leaveNothing });

try {
  // PostgreSQL may run under another account (postgres-user.ts), which must be able to enter here.
  chmodSync(directory, 0o755);
  const report = await measure();
  const text = renderReport(report);
  console.log(`\n${text}`);
  if (!quick && names.join() === USUAL.join()) keep(report, text, { suffix: '', latest: 'latest.md' });
  if (!quick && names.join() === 'growth') keep(report, text, { suffix: '-growth', latest: 'growth.md' });
  process.exitCode = report.broken.length === 0 ? 0 : 1;
} catch (error) {
  console.error(signal.aborted ? 'Stopped.' : error);
  process.exitCode = 1;
} finally {
  leaveNothing();
}

async function measure(): Promise<Report> {
  const startedAt = new Date();
  const startedAtMs = performance.now();
  // Before anybody changes the loaded sources.
  const commit = readCommit();
  const describe = watchMachine();
  const { results, postgres } = await runMeasures();
  return {
    startedAt: startedAt.toISOString(),
    seconds: (performance.now() - startedAtMs) / 1000,
    commit,
    quick,
    machine: describe(),
    postgres,
    comparisons: results.flatMap((result) => result.comparisons),
    broken: results.flatMap((result) => result.broken),
    notes: results.flatMap((result) => result.notes ?? []),
  };
}

function runMeasures(): Promise<{ results: MeasureResult[]; postgres: string }> {
  const context = { directory, record, signal, say: console.log };
  return withCleanup(async (cleanup) => {
    console.log('Starting PostgreSQL …');
    const postgres = await startBenchPostgres({ ...context, cleanup });
    const results: MeasureResult[] = [];
    for (const name of names) {
      signal.throwIfAborted();
      const measureIt = (own: typeof cleanup) => MEASURES[name]({ ...context, cleanup: own }, postgres, effort);
      results.push(await withCleanup(measureIt));
    }
    return { results, postgres: postgres.version };
  });
}

function keep(report: Report, text: string, { suffix, latest }: { suffix: string; latest: string }): void {
  const name = `${report.startedAt.slice(0, 19).replaceAll(':', '-')}${suffix}.json`;
  mkdirSync(RESULTS_DIRECTORY, { recursive: true });
  writeFileSync(join(RESULTS_DIRECTORY, name), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(RESULTS_DIRECTORY, latest), `# Benchmark\n\n${text}`);
  console.log(`Kept as bench/results/${name} and bench/results/${latest}.`);
}

/** Processes are normally stopped by now; this kills those of an interrupted stop. */
function leaveNothing(): void {
  record.killAll();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

function readArguments(): { quick: boolean; names: MeasureName[]; effort: Effort } {
  const all = Object.keys(MEASURES) as MeasureName[];
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' }, jobs: { type: 'string' } },
  });
  const wanted = values.only?.split(',') ?? USUAL;
  const unknown = wanted.filter((name) => !all.some((known) => known === name));
  if (unknown.length > 0) {
    console.error(`--only takes ${all.join(', ')}, separated by commas; not ${unknown.join(', ')}`);
    process.exit(1);
  }
  const usual = values.quick ? QUICK : FULL;
  const growthJobs = values.jobs === undefined ? usual.growthJobs : Number(values.jobs);
  if (!Number.isSafeInteger(growthJobs) || growthJobs < FEWEST_GROWTH_JOBS) {
    console.error(`--jobs takes a number from ${FEWEST_GROWTH_JOBS}`);
    process.exit(1);
  }
  return { quick: values.quick, names: all.filter((name) => wanted.includes(name)), effort: { ...usual, growthJobs } };
}
