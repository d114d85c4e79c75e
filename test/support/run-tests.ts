/**
 * `npm test`: starts one real PostgreSQL and one real Temporal, runs jest against them, stops everything, and closes
 * with the line `N passed, N failed`. Arguments go to jest: `npm test -- test/credits -t 'ledger'`.
 */
import { spawn } from 'node:child_process';
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

interface Servers {
  environment: Record<string, string>;
  stop(): Promise<void>;
}

interface Totals {
  passed: number;
  failed: number;
}

const TEMPLATE_DATABASE = 'template_migrated';
/** Where jest's report is kept for readers. */
const REPORT_PATH = process.env.TEST_REPORT_PATH;
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

/** Returns null when jest ended before it wrote its report. */
async function runJest(environment: Record<string, string>, reportPath: string, signal: AbortSignal) {
  const child = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      join(projectDirectory, 'node_modules/jest/bin/jest.js'),
      '--json',
      `--outputFile=${reportPath}`,
      ...process.argv.slice(2),
    ],
    {
      cwd: projectDirectory,
      // Its report goes to the file; what a person reads is on its standard error.
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...environment, NODE_ENV: 'test' },
      // A group of its own: jest's workers end with it, and Ctrl-C reaches them through this process alone.
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
  return { exitCode, totals: readTotals(reportPath) };
}

function readTotals(reportPath: string): Totals {
  try {
    const report = JSON.parse(readFileSync(reportPath, 'utf8'));
    // A file that can't even be loaded has no tests to count, and is a failure all the same.
    return { passed: report.numPassedTests, failed: report.numFailedTests + report.numRuntimeErrorTestSuites };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** Stops processes that the tests left behind, and returns their names. Every started process is noted in such a file. */
async function stopLeftovers(directory: string): Promise<string[]> {
  const records = globSync('**/processes.json', { cwd: directory }).map((path) => join(directory, path));
  const leftovers = records.flatMap(findOrphans);
  await stopOrphans(leftovers);
  return leftovers.map(({ name, pid }) => `${name} (process ${pid})`);
}

async function main(signal: AbortSignal): Promise<{ totals: Totals; succeeded: boolean }> {
  const directory = mkdtempSync(join(tmpdir(), 'vehicle-inference-tests-'));
  // PostgreSQL may run under another account (postgres-user.ts), which has to pass through here.
  chmodSync(directory, 0o755);
  try {
    const servers = await startServers(directory, signal);
    try {
      const environment = {
        ...servers.environment,
        TMPDIR: directory,
        // The tests start the service's processes dozens of times: each compiles only what none before it has.
        NODE_COMPILE_CACHE: join(directory, 'compile-cache'),
      };
      const { exitCode, totals } = await runJest(environment, REPORT_PATH ?? join(directory, 'report.json'), signal);
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
let outcome: { totals: Totals; succeeded: boolean } = { totals: { passed: 0, failed: 1 }, succeeded: false };
try {
  outcome = await main(interruption.signal);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
}
const { totals, succeeded } = outcome;
if (totals.passed + totals.failed === 0) console.error('No test ran.');
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = succeeded && !interruption.signal.aborted ? 0 : 1;
