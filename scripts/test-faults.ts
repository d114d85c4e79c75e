/**
 * `npm run test:faults`: tries every fault of test/faults/table.ts several times over and says what was tried how often
 * and what held. `-- --short` tries each once and leaves out what takes minutes, as `npm test` does.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAULTS } from '../test/faults/table.ts';
import type { TestReport } from '../test/support/test-report.ts';
import { isTemporalServerInstalled } from './install-temporal-server.ts';
import { VERSITYGW_PATH } from './install-versitygw.ts';

const ROUNDS = 5;
const projectDirectory = fileURLToPath(new URL('..', import.meta.url));

const rounds = process.argv.includes('--short') ? 1 : ROUNDS;
const isInstalled = {
  'scripts/install-versitygw.ts': existsSync(VERSITYGW_PATH),
  'scripts/install-temporal-server.ts': isTemporalServerInstalled(),
};
const wanted = FAULTS.filter(({ isLong }) => rounds > 1 || !isLong);
const faults = wanted.filter(({ needs }) => needs === undefined || isInstalled[needs]);
const directory = mkdtempSync(join(tmpdir(), 'faults-report-'));
const reportPath = join(directory, 'report.json');
try {
  const files = [...new Set(faults.flatMap((fault) => fault.files))];
  const { status } = spawnSync(process.execPath, [join(projectDirectory, 'test/support/run-tests.ts'), ...files], {
    cwd: projectDirectory,
    stdio: 'inherit',
    env: { ...process.env, FAULT_ROUNDS: String(rounds), TEST_REPORT_PATH: reportPath },
  });
  const complete = printReport(JSON.parse(readFileSync(reportPath, 'utf8')) as TestReport);
  process.exitCode = status === 0 && complete ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Whether every fault was tried and held. */
function printReport({ files: reported }: TestReport): boolean {
  const tests = reported.flatMap(({ path, tests }) => tests.map((test) => ({ ...test, file: path })));
  console.log(`\nEach fault in ${rounds} ${rounds === 1 ? 'round' : 'rounds'} where rounds make a difference:\n`);
  console.log('| Fault | Must show | Cases tried | Held |');
  console.log('|---|---|---|---|');
  const held = faults.map(({ fault, mustShow, files, named }) => {
    const tried = tests.filter(({ file, name }) => files.includes(file) && (named?.test(name) ?? true));
    const passed = tried.filter(({ state }) => state === 'passed');
    console.log(`| ${fault} | ${mustShow} | ${tried.length} | ${passed.length} |`);
    return tried.length > 0 && passed.length === tried.length;
  });
  for (const { fault, needs } of wanted) {
    if (!faults.some((tried) => tried.fault === fault)) console.log(`\nNot tried, \`node ${needs}\` first: ${fault}`);
  }
  return held.every(Boolean);
}
