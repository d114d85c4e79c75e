/**
 * `npm test` and `npm run test:all`: start one real PostgreSQL and one real Temporal, run vitest against them, stop everything, and
 * close with what was skipped and why, and the line `N passed, N failed`.
 *
 *   npm test                                  the lane `core` (test/lanes.ts)
 *   npm test -- test/credits -t 'ledger'      some files, whatever their lane: arguments go to vitest
 *   npm test -- --shuffle-seed 7              the files in the order of that seed; each run has one, and prints it
 *   npm run test:all -- --lane browser        some lanes; without `--lane` all of them, less those of `--except`
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTemporal } from '../../src/embedded/find-temporal.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { preparePostgres } from '../../src/embedded/postgres.ts';
import { findOrphans, stopOrphans } from '../../src/embedded/process-record.ts';
import type { RunningProgram } from '../../src/embedded/program.ts';
import { startTemporal } from '../../src/embedded/temporal.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { CORE, LANES } from '../lanes.ts';
import type { TestReport } from './test-report.ts';

interface Servers {
  environment: Record<string, string>;
  stop(): Promise<void>;
}

interface Totals {
  passed: number;
  failed: number;
  /** How many tests were skipped, by reason. */
  skipped: ReadonlyMap<string, number>;
}

interface Selection {
  lanes: readonly string[];
  shuffleSeed: string;
  vitestArguments: readonly string[];
}

const ALL_LANES = [CORE, ...Object.keys(LANES)];
const TEMPLATE_DATABASE = 'template_migrated';
/** At the end of a suite's title: needs.ts. */
const SKIP_REASON = /\[skipped: ([^\]]+)\]/;
const projectDirectory = fileURLToPath(new URL('../..', import.meta.url));

async function startServers(directory: string, signal: AbortSignal): Promise<Servers> {
  const programs: RunningProgram[] = [];
  const stop = async () => {
    await Promise.all(programs.map((program) => program.stop()));
  };
  try {
    const starting = [startTestPostgres(directory, programs), startTestTemporal(directory, programs, signal)] as const;
    // Wait for both, also when one fails: otherwise the other could be left running.
    await Promise.allSettled(starting);
    const [postgres, temporalAddress] = await Promise.all(starting);
    signal.throwIfAborted();
    await migrate(postgres.databaseUrl);
    return {
      environment: {
        TEST_DATABASE_ADMIN_URL: postgres.adminUrl,
        TEST_TEMPLATE_DATABASE: TEMPLATE_DATABASE,
        TEST_TEMPORAL_ADDRESS: temporalAddress,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startTestPostgres(directory: string, programs: RunningProgram[]) {
  const postgres = await preparePostgres({
    dataDirectory: join(directory, 'postgres'),
    port: await findFreePort(),
    logPath: join(directory, 'postgres.log'),
    database: TEMPLATE_DATABASE,
    throwAway: true,
  });
  programs.push(await postgres.start());
  return postgres;
}

async function startTestTemporal(directory: string, programs: RunningProgram[], signal: AbortSignal): Promise<string> {
  const find = (environment: NodeJS.ProcessEnv) => findTemporal({ environment, report: console.log, signal });
  const temporal = await find(process.env);
  if (temporal.kind === 'external') {
    // Some tests start a server of their own all the same. Building the program takes longer than they wait.
    await find({ ...process.env, TEMPORAL_ADDRESS: '' });
    return temporal.address;
  }
  const port = await findFreePort();
  const program = await startTemporal({
    executable: temporal.executable,
    port,
    webPort: null,
    databasePath: null,
    logPath: join(directory, 'temporal.log'),
    // Without a database file the server would write an id into the settings of this machine's user.
    environment: { HOME: directory, XDG_CONFIG_HOME: directory },
  });
  programs.push(program);
  return `127.0.0.1:${port}`;
}

/** @throws an error that names the lanes, if one is unknown */
function parseArguments(given: readonly string[]): Selection {
  const vitestArguments: string[] = [];
  const named: string[] = [];
  const excepted: string[] = [];
  let all = false;
  let shuffleSeed = String(randomInt(1, 1_000_000));
  for (let index = 0; index < given.length; index += 1) {
    const argument = given[index] ?? '';
    const takeValue = () => given[++index] ?? '';
    if (argument === '--all') all = true;
    else if (argument === '--lane') named.push(takeValue());
    else if (argument === '--except') excepted.push(takeValue());
    else if (argument === '--shuffle-seed') shuffleSeed = takeValue();
    else vitestArguments.push(argument);
  }
  const unknown = [...named, ...excepted].filter((lane) => !ALL_LANES.includes(lane));
  if (unknown.length > 0)
    throw new Error(`There is no lane "${unknown.join('", "')}". The lanes: ${ALL_LANES.join(', ')}.`);
  const selectsFiles = /^[^-]/.test(vitestArguments[0] ?? '');
  const wanted = named.length > 0 ? named : all || selectsFiles ? ALL_LANES : [CORE];
  return { lanes: wanted.filter((lane) => !excepted.includes(lane)), shuffleSeed, vitestArguments };
}

/** Resolves with zero when vitest ended without a failure. */
async function runVitest(
  { lanes, vitestArguments }: Selection,
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<number | null> {
  const child = spawn(
    process.execPath,
    [
      join(projectDirectory, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...lanes.flatMap((lane) => ['--project', lane]),
      ...vitestArguments,
    ],
    {
      cwd: projectDirectory,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...environment, NODE_ENV: 'test' },
      // A group of its own: vitest's workers end with it, and Ctrl-C reaches them through this process alone.
      detached: true,
    },
  );
  const endGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGTERM');
    } catch {
      // It has ended.
    }
  };
  signal.addEventListener('abort', endGroup);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  endGroup();
  return exitCode;
}

/** A run that ended before it wrote its report has failed. */
function readTotals(reportPath: string): Totals {
  let report: TestReport;
  try {
    report = JSON.parse(readFileSync(reportPath, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: new Map() };
  }
  const tests = report.files.flatMap((file) => file.tests);
  const count = (state: string) => tests.filter((test) => test.state === state).length;
  const skipped = new Map<string, number>();
  for (const { name, state } of tests) {
    if (state !== 'skipped') continue;
    const reason = SKIP_REASON.exec(name)?.[1] ?? 'not selected';
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  return { passed: count('passed'), failed: count('failed') + count('pending') + report.errors.length, skipped };
}

/** `skipped: 212 (200 no Chromium: node scripts/install-chromium.ts; 12 not on Linux)` */
function describeSkipped(skipped: Totals['skipped']): string {
  const total = [...skipped.values()].reduce((sum, count) => sum + count, 0);
  const reasons = [...skipped].map(([reason, count]) => `${count} ${reason}`);
  return `skipped: ${total}${total === 0 ? '' : ` (${reasons.join('; ')})`}`;
}

/** Stops processes that the tests left behind, and returns their names. Every started process is noted in such a file. */
async function stopLeftovers(directory: string): Promise<string[]> {
  const records = globSync('**/processes.json', { cwd: directory }).map((path) => join(directory, path));
  const leftovers = records.flatMap(findOrphans);
  await stopOrphans(leftovers);
  return leftovers.map(({ name, pid }) => `${name} (process ${pid})`);
}

async function main(selection: Selection, signal: AbortSignal): Promise<{ totals: Totals; succeeded: boolean }> {
  const directory = mkdtempSync(join(tmpdir(), 'vehicle-inference-tests-'));
  // PostgreSQL may run under another account (postgres-user.ts), which has to pass through here.
  chmodSync(directory, 0o755);
  try {
    const servers = await startServers(directory, signal);
    try {
      const reportPath = process.env.TEST_REPORT_PATH ?? join(directory, 'report.json');
      const environment = {
        ...servers.environment,
        TMPDIR: directory,
        TEST_REPORT_PATH: reportPath,
        TEST_SHUFFLE_SEED: selection.shuffleSeed,
        TEST_STORAGE_BUCKET: process.env.STORAGE_BUCKET ?? '',
        ...(!process.stdout.isTTY && { NO_COLOR: '1' }),
        // Everything that the tests call is on this machine, whatever proxy its user has.
        NO_PROXY: '127.0.0.1,localhost',
        no_proxy: '127.0.0.1,localhost',
        // The tests start the service's processes dozens of times: each compiles only what none before it has.
        NODE_COMPILE_CACHE: join(directory, 'compile-cache'),
      };
      // What an earlier run left there is not the outcome of this one.
      rmSync(reportPath, { force: true });
      const exitCode = await runVitest(selection, environment, signal);
      const totals = readTotals(reportPath);
      const leftovers = await stopLeftovers(directory);
      if (leftovers.length > 0 && !signal.aborted) {
        console.error(`The tests left running: ${leftovers.join(', ')}`);
        totals.failed += 1;
      }
      return { totals, succeeded: exitCode === 0 && totals.failed === 0 && totals.passed > 0 };
    } finally {
      await servers.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => interruption.abort(new Error(`stopped by ${name}`)));
}
if (process.argv.includes('--help')) {
  console.log('npm test [-- <vitest arguments>], npm run test:all [-- --lane <name> | --except <name>]. The lanes:\n');
  console.log(`${CORE.padEnd(10)} everything else`);
  for (const [name, { purpose }] of Object.entries(LANES)) console.log(`${name.padEnd(10)} ${purpose}`);
  process.exit(0);
}
let totals: Totals = { passed: 0, failed: 1, skipped: new Map() };
let succeeded = false;
try {
  const selection = parseArguments(process.argv.slice(2));
  ({ totals, succeeded } = await main(selection, interruption.signal));
  const others = ALL_LANES.filter((lane) => !selection.lanes.includes(lane));
  console.log(`order: --shuffle-seed ${selection.shuffleSeed}`);
  if (others.length > 0) console.log(`not run: the lanes ${others.join(', ')} (npm run test:all)`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
if (totals.passed + totals.failed === 0) console.error('No test ran.');
console.log(describeSkipped(totals.skipped));
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = succeeded && !interruption.signal.aborted ? 0 : 1;
